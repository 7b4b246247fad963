"""Runs cases with yoke and PyTorch, by turns on one GPU, and prints what each makes of them.

    compare.py [--only yoke|torch] [--rounds N] [--mode MODE] … [CASE …]

Besides the cases of cases.py: losses (losses.py) and precisions (precisions.py). OUT=FILE in the
environment adds a JSON line for each row of the table.
"""
import argparse
import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile

from cases import CASES, GROUPS, USUAL
from counts import PEAK_FLOPS, flops_per_token, flops_per_token_of_pairs
from keep import keep
from torch_side import TorchError, TorchSide, progress
import yoke_side
from yoke_side import devices

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ("losses", "precisions")  # of scripts of their own
HEADER = ("  case              who       tokens/s  ratio   step ms    MFU  exact"
          "  allocated GiB  on GPU GiB    loss")


def read_settings():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE",
                        help=f"{', '.join((*CASES, *GROUPS, *TABLES))}; else {', '.join(USUAL)}")
    parser.add_argument("--only", choices=("yoke", "torch"))
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=4, help="steps before those that count")
    parser.add_argument("--steps", type=int, default=12, help="that count, of a round")
    parser.add_argument("--limit", type=int, default=240, help="seconds of one round")
    parser.add_argument("--mode", default="default", help="of torch.compile, or eager")
    parser.add_argument("--compile", default="usual", choices=("usual", "whole", "blocks"))
    parser.add_argument("--attention", default="usual", choices=("usual", "cudnn", "flash"))
    parser.add_argument("--masked-only", action="store_true",
                        help="PyTorch's BERT makes logits of masked tokens alone")
    parser.add_argument("--batch", type=int, help="samples of models of transformers")
    parser.add_argument("--tries-s", type=float, default=80,
                        help="seconds after which PyTorch tries no further way of such a model")
    parser.add_argument("--yoke", default="", metavar="WORDS",
                        help='more options of yoke train: --yoke="--attention own"')
    parser.add_argument("--scratch", help="a folder for data and weights, kept")
    settings = parser.parse_args()
    settings.cases = [case for name in settings.cases or USUAL for case in GROUPS.get(name, [name])]
    for name in settings.cases:
        if name not in CASES and name not in TABLES:
            parser.error(f"there is no case {name}")
    return settings


def flops_of(case, settings):
    if case.sequence:
        return flops_per_token(case)
    return flops_per_token_of_pairs(
        case, yoke_side.lengths_of(case, settings.warmup + settings.steps))


def combine(who, case, rounds, settings):
    """One row: medians of rounds, the most of their memory."""
    row = {"case": case.name, "who": who, "rounds": rounds}
    for key in ("tokens_per_s", "median_step_s", "mean_tokens_per_s"):
        row[key] = statistics.median(result[key] for result in rounds)
    for key in ("gpu_bytes", "allocated_bytes", "planned_bytes", "device_bytes"):
        found = [result[key] for result in rounds if result.get(key)]
        row[key] = max(found) if found else None
    formula, exact = flops_of(case, settings)
    row["mfu"] = formula * row["tokens_per_s"] / PEAK_FLOPS
    row["exact_mfu"] = exact * row["tokens_per_s"] / PEAK_FLOPS
    for key in ("device", "gpu_bytes_way"):
        row[key] = rounds[-1][key]
    # Of the first round: in later ones PyTorch goes on with the model it has, yoke begins anew.
    row["first_loss"] = rounds[0].get("first_loss")
    row["last_loss"] = rounds[0]["last_loss"]
    return row


def text(value, form, scale=1.0):
    return form % (value * scale) if value is not None else "-"


def print_row(row, other):
    ratio = other and row["tokens_per_s"] / other["tokens_per_s"]
    memory = row["allocated_bytes"] or row["planned_bytes"]
    print("  %-16s  %-6s  %10.0f  %5s  %8.2f  %5s  %5s  %13s  %10s  %6.3f" % (
        row["case"], row["who"], row["tokens_per_s"], text(ratio, "%.2f"),
        1e3 * row["median_step_s"], text(row["mfu"], "%.1f", 100),
        text(row["exact_mfu"], "%.1f", 100), text(memory, "%.2f", 2 ** -30),
        text(row["gpu_bytes"], "%.2f", 2 ** -30), row["last_loss"]), flush=True)
    keep(row | {"ratio": ratio})


def print_notes(case, torch, yoke):
    """Below the rows of decoders of transformers: which way of PyTorch was the fastest, whether
    both compute the same, and what others report."""
    if torch and "way" in torch["rounds"][0]:
        first = torch["rounds"][0]
        print(f"    PyTorch's way: {first['way']}; tried:")
        for tried in first["tried"]:
            print(f"      {tried}")
    if case.of_transformers:
        print(f"    {case.batch} x {case.sequence} tokens a step"
              f"{', counted by images' if case.unit == 'image' else ''}")
        for row in (torch, yoke):
            if row:
                numbers = row["rounds"][0]["trained_numbers"]
                parts = row["rounds"][0].get("micro_batches", 1)
                print(f"    {row['who']}: {numbers:,} trained numbers, first loss "
                      f"{row['first_loss']:.4f}, {parts} micro-batch{'' if parts == 1 else 'es'}"
                      f"{', blocks recomputed' if row['rounds'][0].get('recompute') else ''}")
    if case.published:
        print(f"    {case.published}", flush=True)


def measure_both(case, settings, scratch):
    """The rounds of (torch, yoke), as far as they were asked for and worked."""
    options = None
    if settings.only != "torch" or case.of_transformers:
        options = yoke_side.prepare(case, scratch, settings.warmup + settings.steps)
        options += settings.yoke.split()
    count = min(settings.rounds, case.most_rounds)
    yoke_rounds, torch_rounds = [], []

    def run_yoke():
        yoke_rounds.append(yoke_side.measure(case, options, f"{scratch}/run", settings))
        progress(case, f"yoke, round {len(yoke_rounds)}: "
                       f"{yoke_rounds[-1]['tokens_per_s']:.0f} {case.unit}s/s")

    if settings.only == "yoke" or not case.torch_runs:
        for _ in range(count):
            run_yoke()
        return torch_rounds, yoke_rounds
    with TorchSide(case, settings, yoke_side.weights_folder(case, scratch)) as torch:
        for _ in range(count):
            torch_rounds.append(torch.round())
            progress(case, f"PyTorch, round {len(torch_rounds)}: "
                           f"{torch_rounds[-1]['tokens_per_s']:.0f} {case.unit}s/s")
            if settings.only != "torch":
                try:
                    run_yoke()
                except yoke_side.YokeError as error:
                    print(f"{case.name}: {error}", file=sys.stderr)
    return torch_rounds, yoke_rounds


def check_devices(torch_rounds, yoke_rounds):
    """What they computed on, in words; raises Unlike."""
    if torch_rounds and yoke_rounds:
        return devices.check(yoke_rounds[0]["device"], torch_rounds[0]["device"])
    who, rounds = ("yoke", yoke_rounds) if yoke_rounds else ("PyTorch", torch_rounds)
    return f"{who} on {devices.words(rounds[0]['device'])}"


def say_ways(torch_rounds, yoke_rounds, said):
    """How memory was counted and on what, whenever that is new."""
    ways = {f"{who} {rounds[0]['gpu_bytes_way']}" for who, rounds in
            (("PyTorch", torch_rounds), ("yoke", yoke_rounds))
            if rounds and rounds[0]["gpu_bytes_way"]}
    line = "  " + check_devices(torch_rounds, yoke_rounds)
    line += f"; on GPU: {', '.join(sorted(ways))}" if ways else ""
    if line not in said:
        said.append(line)
        print(line, flush=True)


def compare(case, settings, scratch, said):
    try:
        torch_rounds, yoke_rounds = measure_both(case, settings, scratch)
        if torch_rounds or yoke_rounds:
            say_ways(torch_rounds, yoke_rounds, said)
    except (TorchError, yoke_side.YokeError, devices.Unlike) as error:
        print(f"{case.name}: {error}", file=sys.stderr)
        return False
    torch = combine("torch", case, torch_rounds, settings) if torch_rounds else None
    yoke = combine("yoke", case, yoke_rounds, settings) if yoke_rounds else None
    if torch:
        print_row(torch, None)
    if yoke:
        print_row(yoke, torch)
    print_notes(case, torch, yoke)
    return bool(yoke) or settings.only == "torch"


def run_cases(settings, scratch):
    fine, said = True, []
    cases = [CASES[name] for name in settings.cases if name in CASES]
    if settings.batch:
        cases = [dataclasses.replace(case, batch=settings.batch)
                 if case.of_transformers else case for case in cases]
    if cases:
        print(f"medians of up to {settings.rounds} rounds by turns, of {settings.steps} steps after "
              f"{settings.warmup}; PyTorch: torch.compile {settings.mode}; MFU in % of "
              f"{PEAK_FLOPS / 1e12:.0f} TFLOP/s; allocated: by PyTorch, planned by yoke")
        print(HEADER)
    for case in cases:
        fine = compare(case, settings, scratch, said) and fine
    for name in TABLES:
        if name in settings.cases:
            words = [sys.executable, f"{HERE}/{name}.py", "--device", settings.device]
            fine = subprocess.run(words, check=False).returncode == 0 and fine
    return fine


def main():
    settings = read_settings()
    if settings.scratch:
        os.makedirs(settings.scratch, exist_ok=True)
        fine = run_cases(settings, settings.scratch)
    else:
        with tempfile.TemporaryDirectory(dir=yoke_side.scratch_place()) as scratch:
            fine = run_cases(settings, scratch)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
