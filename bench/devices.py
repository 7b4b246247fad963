"""What the sides of a comparison computed on. Every bench states it, and refuses unlike devices.

A device is {"kind": "cpu" or "cuda", "name": …, "threads": …}, where a GPU has no threads. It stands
as "device" in what a PyTorch script prints; yoke says it in the summary of a training.

    devices.py YOKE.json PEER.json [PEER]     what two runs printed: a line of both devices, or a
                                              sentence and exit code 1 where they are unlike
    devices.py --here THREADS                 this CPU as a device, for runs that say nothing
"""
import json
import os
import platform
import re
import sys


class Unlike(Exception):
    """The two sides computed on devices that cannot be compared."""


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else f"{platform.machine()} CPU"


def cores():
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


def here(threads):
    return {"kind": "cpu", "name": cpu_name(), "threads": threads}


def of_torch(torch, kind):
    """`kind` is a torch.device or how one is called; `torch` the module."""
    kind = str(kind).split(":", maxsplit=1)[0]
    if kind == "cuda":
        return {"kind": "cuda", "name": torch.cuda.get_device_name(), "threads": None}
    return here(torch.get_num_threads())


def of_yoke(summary):
    """From what yoke train --json prints, or from a device that somebody else wrote down."""
    if isinstance(summary.get("device"), dict):
        return summary["device"]
    if "backend" not in summary:
        raise Unlike("yoke's summary does not say what it computed on: build this version of yoke")
    name, *rest = summary["device"].split(", ")
    threads = [int(word.split()[0]) for word in rest if re.fullmatch(r"\d+ threads?", word)]
    return {"kind": summary["backend"], "name": name, "threads": threads[0] if threads else None}


def words(device):
    if device["threads"] is None:
        return f"{device['kind']} ({device['name']})"
    return (f"{device['kind']} ({device['name']}, {device['threads']} "
            f"thread{'' if device['threads'] == 1 else 's'})")


def both(yoke, peer, name="PyTorch"):
    return f"yoke on {words(yoke)}, {name} on {words(peer)}"


def check(yoke, peer, name="PyTorch"):
    """Both in words; raises Unlike where the two are not of one kind, GPUs of another type, or
    CPUs with another number of threads. Names of CPUs are spelt in several ways: both are here."""
    same = yoke["kind"] == peer["kind"] and (
        yoke["threads"] == peer["threads"] if yoke["kind"] == "cpu" else
        yoke["name"] == peer["name"])
    if not same:
        raise Unlike(f"{both(yoke, peer, name)}: unlike devices are not compared")
    return both(yoke, peer, name)


def read(path):
    """The last JSON object of what a program printed."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("{")]
    if not lines:
        raise Unlike(f"{path} has no result that says a device")
    return json.loads(lines[-1])


def main():
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps({"device": here(int(sys.argv[2]))}))
        return
    try:
        print(check(of_yoke(read(sys.argv[1])), read(sys.argv[2])["device"], *sys.argv[3:4]))
    except Unlike as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
