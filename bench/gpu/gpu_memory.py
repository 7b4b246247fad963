"""How much of a GPU's memory a program takes, seen from outside by NVML: contexts, libraries and
caches count. A Watch notes the most that a process and its children hold while it lasts.

NVML counts by process. Where it does not know the process, as in a container whose numbers of
processes are others than the driver's, the memory of the whole GPU is counted beyond what was in
use before; then a Watch first waits until what others give back is back. Its `way` says which.
"""
import ctypes
import os
import threading
import time

NAMES = ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1")
PERIOD_S = 0.02
STEADY = 50  # readings without a change
MOST_READINGS = 1000  # to wait for that
MOST_PROCESSES = 256
UNKNOWN = 2 ** 64 - 1  # NVML_VALUE_NOT_AVAILABLE
BY_PROCESS = "by process"
BY_DIFFERENCE = "by difference to what was in use before"


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    """nvmlProcessInfo_t of the third version."""

    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong),
                ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


def open_library():
    for name in NAMES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        if library.nvmlInit_v2() == 0:
            return library
    return None


def open_device(library):
    """The GPU that programs see as their first."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    handle = ctypes.c_void_p()
    index = int(visible) if visible.isdigit() else 0
    status = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle))
    return handle if status == 0 else None


def parent_of(pid):
    """0 where there is none, or it is not known."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def descends(pid, ancestor):
    while pid > 1 and pid != ancestor:
        pid = parent_of(pid)
    return pid == ancestor


class Watch:
    """with Watch() as watch: watch.pid = the process; …; then watch.bytes and watch.way, which are
    None where there is no NVML."""

    library = None
    device = None
    knows_processes = False  # one that was watched has been seen

    def __init__(self):
        if Watch.library is None:
            Watch.library = open_library() or False
            Watch.device = open_device(Watch.library) if Watch.library else None
        self.pid = None
        self.own_bytes = 0
        self.beyond_bytes = 0
        self.ended = threading.Event()
        self.thread = None

    @property
    def way(self):
        if Watch.device is None:
            return None
        return BY_PROCESS if self.own_bytes else BY_DIFFERENCE

    @property
    def bytes(self):
        return None if Watch.device is None else self.own_bytes or self.beyond_bytes

    @staticmethod
    def used():
        memory = Memory()
        status = Watch.library.nvmlDeviceGetMemoryInfo(Watch.device, ctypes.byref(memory))
        return memory.used if status == 0 else 0

    @staticmethod
    def processes():
        """[(pid, bytes)], as far as NVML knows."""
        count = ctypes.c_uint(MOST_PROCESSES)
        found = (Process * MOST_PROCESSES)()
        status = Watch.library.nvmlDeviceGetComputeRunningProcesses_v3(
            Watch.device, ctypes.byref(count), found)
        listed = found[:count.value] if status == 0 else []
        return [(entry.pid, entry.used) for entry in listed if entry.used != UNKNOWN]

    @staticmethod
    def settle():
        """Waits until as much is in use as for a while, and says how much that is."""
        before, same = Watch.used(), 0
        for _ in range(MOST_READINGS):
            if same == STEADY:
                break
            time.sleep(PERIOD_S)
            now = Watch.used()
            same = same + 1 if now == before else 0
            before = now
        return before

    def look(self, before):
        self.beyond_bytes = max(self.beyond_bytes, self.used() - before)
        if self.pid is not None:
            own = sum(used for pid, used in self.processes() if descends(pid, self.pid))
            self.own_bytes = max(self.own_bytes, own)
            Watch.knows_processes = Watch.knows_processes or own > 0

    def forget(self):
        """What was seen until now does not count."""
        self.own_bytes = self.beyond_bytes = 0

    def keep_looking(self, before):
        while not self.ended.wait(PERIOD_S):
            self.look(before)

    def __enter__(self):
        if Watch.device is not None:
            before = self.used() if Watch.knows_processes else self.settle()
            self.thread = threading.Thread(target=self.keep_looking, args=(before,), daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.thread:
            self.thread.join()
