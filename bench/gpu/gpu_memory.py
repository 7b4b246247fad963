"""How much of a GPU's memory a program takes, seen from outside by NVML: contexts, libraries and
caches count. A Watch notes the most that is in use while it lasts, beyond what was at its start.
"""
import ctypes
import os
import threading

NAMES = ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1")
PERIOD_S = 0.02


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


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


class Watch:
    """with Watch() as watch: …; watch.bytes is None where there is no NVML."""

    library = None
    device = None

    def __init__(self):
        if Watch.library is None:
            Watch.library = open_library() or False
            Watch.device = open_device(Watch.library) if Watch.library else None
        self.bytes = None
        self.ended = threading.Event()
        self.thread = None

    def used(self):
        memory = Memory()
        status = Watch.library.nvmlDeviceGetMemoryInfo(Watch.device, ctypes.byref(memory))
        return memory.used if status == 0 else 0

    def look(self, before):
        while not self.ended.wait(PERIOD_S):
            self.bytes = max(self.bytes, self.used() - before)

    def __enter__(self):
        if Watch.device is not None:
            self.bytes = 0
            self.thread = threading.Thread(target=self.look, args=(self.used(),), daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.thread:
            self.thread.join()
