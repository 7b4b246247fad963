"""Which kernels a step of yoke spends its time in, by ncu.

    kernels.py [--grids] [--rows N] CASE
    kernels.py --read FILE [FILE]

Runs the case twice under ncu, for a few steps and for some more, and takes the difference of what
it counted: neither the start nor the end of a run is in it. ncu runs one kernel at a time, so the
sum is of the work alone, without gaps and without anything side by side. --grids tells kernels of
one name and different grids apart, as products of different shapes have. --read makes the table of
what `ncu --csv --log-file FILE` wrote before, of one run as a whole or of two.
"""
import argparse
import csv
import json
import os
import re
import sys
import tempfile
from collections import defaultdict

from cases import CASES
import yoke_side
from yoke_side import devices

METRIC = "gpu__time_duration.sum"
FEW, MORE = 1, 4  # steps
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3,
                "msecond": 1e3, "s": 1e6, "second": 1e6}


def read_settings():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="?", choices=CASES)
    parser.add_argument("--read", nargs="+", metavar="FILE")
    parser.add_argument("--grids", action="store_true")
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--limit", type=int, default=280, help="seconds of one run under ncu")
    parser.add_argument("--yoke", default="", metavar="WORDS", help="more options of yoke train")
    parser.add_argument("--keep", metavar="FOLDER", help="leave what ncu wrote there")
    settings = parser.parse_args()
    if not settings.case and not settings.read:
        parser.error("name a case, or files with --read")
    return settings


def short_name(name):
    """Without arguments, anonymous namespaces and return types; templates as far as they fit."""
    name = name.replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    name = re.sub(r"\((int|bool|unsigned int|long)\)", "", name)
    depth = 0
    for place, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            name = name[:place]
            break
    return re.sub(r"^void ", "", name).strip()


def read_counts(path, grids):
    """{name: (launches, microseconds)} of ncu's CSV; lines in front of its header are its own."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith('"')]
    counts = defaultdict(lambda: [0, 0.0])
    for row in csv.DictReader(lines):
        if row.get("Metric Name") != METRIC:
            continue
        name = short_name(row["Kernel Name"])
        if grids:
            name += " " + row["Grid Size"].replace(" ", "")
        counts[name][0] += 1
        counts[name][1] += (float(row["Metric Value"].replace(",", ""))
                            * MICROSECONDS[row["Metric Unit"]])
    if not counts:
        sys.exit(f"{path}: no kernels were counted; ncu says:\n{open(path).read()[-2000:]}")
    return counts


def profile(case, options, steps, folder, settings):
    path = f"{settings.keep or folder}/ncu-{steps}.csv"
    words = ["ncu", "--clock-control", "none", "--target-processes", "all", "--graph-profiling",
             "node", "--metrics", METRIC, "--csv", "--log-file", path,
             *yoke_side.command(options, f"{folder}/run", steps, "cuda")]
    try:
        printed, _, _ = yoke_side.launch(words, f"{folder}/run", settings.limit)
    except yoke_side.YokeError as error:
        said = open(path).read()[-1000:] if os.path.exists(path) else ""
        sys.exit(f"{case.name}: {error}\n{said}")
    summary = next(line for line in printed.splitlines() if line.startswith("{"))
    return path, devices.words(devices.of_yoke(json.loads(summary)))


def difference(few, more, steps):
    """Of one step. A kernel of the start that the longer run saw as often is not in it."""
    counts = {}
    for name, (launches, microseconds) in more.items():
        other = few.get(name, (0, 0.0))
        if launches > other[0]:
            counts[name] = ((launches - other[0]) / steps, (microseconds - other[1]) / steps)
    return counts


def print_counts(counts, rows):
    launches = sum(count for count, _ in counts.values())
    total = sum(microseconds for _, microseconds in counts.values())
    print(f"  {launches:.0f} launches of {len(counts)} kernels, {total:.0f} us in all")
    print("  launches        us   share  us each  kernel")
    order = sorted(counts.items(), key=lambda item: -item[1][1])
    for name, (count, microseconds) in order[:rows]:
        print(f"  {count:8.1f}  {microseconds:8.1f}  {100 * microseconds / total:4.1f} %"
              f"  {microseconds / count:7.2f}  {name[:110]}")
    rest = sum(microseconds for _, (_, microseconds) in order[rows:])
    if rest > 0:
        print(f"            {rest:8.1f}  {100 * rest / total:4.1f} %           others")


def main():
    settings = read_settings()
    if settings.read:
        found = [read_counts(path, settings.grids) for path in settings.read]
        print_counts(found[0] if len(found) == 1 else
                     difference(found[0], found[1], MORE - FEW), settings.rows)
        return
    case = CASES[settings.case]
    if settings.keep:
        os.makedirs(settings.keep, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=yoke_side.scratch_place()) as folder:
        options = yoke_side.prepare(case, folder, MORE) + settings.yoke.split()
        found = []
        for steps in (FEW, MORE):
            path, device = profile(case, options, steps, folder, settings)
            found.append(read_counts(path, settings.grids))
    print(f"{case.name}: one step, the mean of {MORE - FEW}, yoke on {device}")
    print_counts(difference(found[0], found[1], MORE - FEW), settings.rows)


if __name__ == "__main__":
    main()
