"""Tests of the comparing in bench/: bench_test.py BENCH. Programs and an NVML that only pretend stand
in for yoke, PyTorch and the driver."""
import ctypes
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.abspath(sys.argv.pop(1))
sys.path += [BENCH, os.path.join(BENCH, "gpu")]
import devices  # noqa: E402
import gpu_memory  # noqa: E402

GPU = {"kind": "cuda", "name": "NVIDIA H200", "threads": None}
CPU = {"kind": "cpu", "name": "Some CPU", "threads": 2}

# Says that it computed on a GPU, as yoke does on a machine that has one, unless it is told not to.
YOKE = """#!/bin/sh
backend=cuda device='NVIDIA H200, 139.8 GiB, compute capability 9.0' threads=
while [ $# -gt 0 ]; do
    case $1 in
    --device) [ "$2" = cpu ] && [ -z "${STUBBORN:-}" ] && backend=cpu ;;
    --threads) threads=$2 ;;
    esac
    shift
done
[ $backend = cuda ] || device="Some CPU, $threads threads"
echo "{\\"backend\\":\\"$backend\\",\\"device\\":\\"$device\\",\\"batch\\":4,\\"sequence\\":8,\\"median_step_s\\":0.5,\\"peak_bytes\\":1048576}"
"""

# A Python that has torch, as far as is looked at, and trains at once on the CPU.
PYTHON = """#!/bin/sh
case "$*" in
*torch_gpt.py*)
    echo '{"tokens_per_s": 32, "peak_bytes": 1048576, "device": {"kind": "cpu", "name": "Some CPU", "threads": '"$6"'}}'
    ;;
*'import torch; print'*) echo 0.0 ;;
*'import torch'*) ;;
*) exec python3 "$@" ;;
esac
"""


def write_program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, stat.S_IRWXU)
    return path


class Devices(unittest.TestCase):
    def test_a_summary_of_yoke_says_its_device(self):
        said = {"backend": "cpu", "device": "Intel(R) Xeon(R) CPU @ 2.20GHz, 16 threads"}
        self.assertEqual(devices.of_yoke(said), {
            "kind": "cpu", "name": "Intel(R) Xeon(R) CPU @ 2.20GHz", "threads": 16})
        said = {"backend": "cuda", "device": "NVIDIA H200, 139.8 GiB, compute capability 9.0"}
        self.assertEqual(devices.of_yoke(said), GPU)

    def test_a_summary_that_does_not_say_it_is_refused(self):
        with self.assertRaisesRegex(devices.Unlike, "does not say what it computed on"):
            devices.of_yoke({"tokens_per_s": 1})

    def test_like_devices_are_stated(self):
        self.assertEqual(devices.check(GPU, GPU),
                         "yoke on cuda (NVIDIA H200), PyTorch on cuda (NVIDIA H200)")
        self.assertEqual(devices.check(CPU, CPU | {"name": "Some CPU @ 2 GHz"}, "tokenizers"),
                         "yoke on cpu (Some CPU, 2 threads), tokenizers on cpu (Some CPU @ 2 GHz, "
                         "2 threads)")

    def test_unlike_devices_are_refused(self):
        for peer in (CPU, GPU | {"name": "NVIDIA A100"}):
            with self.assertRaisesRegex(devices.Unlike, "unlike devices are not compared"):
                devices.check(GPU, peer)
        with self.assertRaisesRegex(devices.Unlike, "1 thread.: unlike devices are not compared"):
            devices.check(CPU, CPU | {"threads": 1})


class Training(unittest.TestCase):
    """bench/training/run as a whole."""

    def run_bench(self, **more):
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {
                "YOKE": write_program(folder, "yoke", YOKE),
                "PYTHON": write_program(folder, "python", PYTHON)} | more
            return subprocess.run([os.path.join(BENCH, "training", "run"), "1"], env=environment,
                                  capture_output=True, text=True, check=False)

    def test_both_compute_on_the_cpu_where_there_is_a_gpu(self):
        done = self.run_bench()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("yoke on cpu (Some CPU, "), 1, done.stdout)
        self.assertEqual(done.stdout.count("PyTorch on cpu (Some CPU, "), 1, done.stdout)
        self.assertRegex(done.stdout, r"gpt2 +4x256 +64 +32 +2\.00")  # 4 x 8 tokens in 0.5 s

    def test_a_gpu_beside_a_cpu_is_refused(self):
        done = self.run_bench(STUBBORN="yes")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^yoke on cuda \(NVIDIA H200\), PyTorch on cpu \(Some CPU, \d+ "
                                      r"threads?\): unlike devices are not compared\n$")
        self.assertNotIn("gpt-mini", done.stdout)


class Driver:
    """An NVML: what is in use, by reading, and by process."""

    def __init__(self, used, processes):
        self.readings = list(used)
        self.listed = processes

    def nvmlDeviceGetMemoryInfo(self, _, memory):
        memory._obj.used = self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]
        return 0

    def nvmlDeviceGetComputeRunningProcesses_v3(self, _, count, found):
        for entry, (pid, used) in zip(found, self.listed):
            entry.pid, entry.used = pid, used
        count._obj.value = len(self.listed)
        return 0


GIB = 2 ** 30


class Memory(unittest.TestCase):
    def watch(self, used, processes):
        gpu_memory.PERIOD_S = 0
        gpu_memory.Watch.library = Driver(used, processes)
        gpu_memory.Watch.device = ctypes.c_void_p(1)
        gpu_memory.Watch.knows_processes = False
        watch = gpu_memory.Watch()
        watch.pid = os.getpid()
        return watch

    def test_a_process_is_counted_by_itself(self):
        """Another gives 4 GiB back meanwhile, which is no concern of this one's."""
        watch = self.watch([9 * GIB, 13 * GIB], [(os.getpid(), 8 * GIB), (1, 5 * GIB)])
        watch.look(before=9 * GIB)
        self.assertEqual((watch.bytes, watch.way), (8 * GIB, "by process"))

    def test_children_count(self):
        with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as child:
            watch = self.watch([GIB], [(child.pid, 3 * GIB), (os.getpid(), GIB)])
            watch.look(before=0)
        self.assertEqual(watch.bytes, 4 * GIB)

    def test_a_process_that_the_driver_calls_otherwise_is_counted_by_difference(self):
        watch = self.watch([2 * GIB, 10 * GIB], [(2 ** 22 + 1, 8 * GIB)])
        watch.look(before=GIB)
        watch.look(before=GIB)
        self.assertEqual((watch.bytes, watch.way),
                         (9 * GIB, "by difference to what was in use before"))

    def test_what_the_driver_does_not_tell_is_counted_by_difference(self):
        watch = self.watch([3 * GIB], [(os.getpid(), gpu_memory.UNKNOWN)])
        watch.look(before=GIB)
        self.assertEqual(watch.bytes, 2 * GIB)

    def test_memory_that_is_given_back_is_waited_for(self):
        watch = self.watch([5 * GIB, 4 * GIB, 3 * GIB, GIB], [])
        self.assertEqual(watch.settle(), GIB)

    def test_without_a_driver_nothing_is_known(self):
        watch = self.watch([GIB], [])
        gpu_memory.Watch.device = None
        with watch:
            pass
        self.assertEqual((watch.bytes, watch.way), (None, None))


class Words(unittest.TestCase):
    """What bench/devices.py says to scripts."""

    def run_devices(self, *results):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, result in enumerate(results):
                paths.append(os.path.join(folder, str(number)))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write("a note\n" + json.dumps(result) + "\n")
            return subprocess.run([sys.executable, os.path.join(BENCH, "devices.py"), *paths],
                                  capture_output=True, text=True, check=False)

    def test_one_line_of_both(self):
        done = self.run_devices({"backend": "cpu", "device": "Some CPU, 2 threads"}, {"device": CPU})
        self.assertEqual((done.returncode, done.stdout), (
            0, "yoke on cpu (Some CPU, 2 threads), PyTorch on cpu (Some CPU, 2 threads)\n"))

    def test_a_sentence_where_they_are_unlike(self):
        done = self.run_devices({"device": GPU}, {"device": CPU})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            1, "", "yoke on cuda (NVIDIA H200), PyTorch on cpu (Some CPU, 2 threads): unlike devices "
                   "are not compared\n"))


if __name__ == "__main__":
    unittest.main()
