"""Trains GPT-2 with yoke in every precision and prints time, memory and loss.

    precisions.py [--steps N] [--device cuda|cpu]
"""
import argparse
import dataclasses
import sys
import tempfile

from cases import CASES
from keep import keep
import yoke_side
from yoke_side import devices

PRECISIONS = ("fp32", "tf32", "fp16", "bf16")
BATCH = 8


def read_settings():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=26, help="that count")
    parser.add_argument("--warmup", type=int, default=4, help="steps before those")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--limit", type=int, default=240, help="seconds of a run")
    return parser.parse_args()


def gibibytes(value):
    return f"{value / 2 ** 30:.2f}" if value is not None else "-"


def main():
    settings = read_settings()
    usual = CASES["gpt2-16" if settings.device == "cuda" else "tiny-gpt"]
    case = dataclasses.replace(usual, name=f"gpt2-{BATCH}", batch=BATCH)
    steps = settings.warmup + settings.steps
    print(f"precisions of yoke: GPT-2, {case.batch} x {case.sequence} tokens a step, loss after "
          f"{steps} steps from the same weights on the same batches")
    print("  precision    tokens/s   step ms  planned GiB  on GPU GiB     loss")
    failed, said = False, False
    with tempfile.TemporaryDirectory(dir=yoke_side.scratch_place()) as folder:
        options = yoke_side.prepare(case, folder, steps)
        for precision in PRECISIONS:
            try:
                row = yoke_side.measure(case, options, f"{folder}/run", settings, precision)
            except yoke_side.YokeError as error:
                print(f"{precision}: {error}", file=sys.stderr)
                failed = True
                continue
            if not said:
                said = True
                print(f"  yoke on {devices.words(row['device'])}; on GPU: {row['gpu_bytes_way']}")
            print("  %-9s  %10.0f  %8.2f  %11s  %10s  %7.4f" % (
                precision, row["tokens_per_s"], 1e3 * row["median_step_s"],
                gibibytes(row["planned_bytes"]), gibibytes(row["gpu_bytes"]), row["last_loss"]),
                flush=True)
            keep(row | {"precision": precision})
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
