#!/usr/bin/env python3
"""Models of every family through yoke and back: transformers and PEFT read what it wrote.

    tools/build release oracle-round_trip
    /tmp/oracle/bin/python tests/oracle/round_trip.py [CASE ...]

Writes each training case as a folder in Hugging Face format, lets oracle-round_trip (round_trip.c) read it, train it
for a few steps and write it again, as one file and sharded, or as an adapter and merged into its base, and loads that
with transformers and PEFT. Fails if a tensor is missing, left over or misshapen, or if logits differ by more than
1e-5. Without names it takes all cases in fp32.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

from check_family import FIXTURES, check, make

PROGRAM = FIXTURES.parent.parent.parent / "build" / "release" / "tests" / "oracle-round_trip"


def plain_cases():
    """Those in fp32. Where a family has adapters with NF4 alone, that case, which is read as plain weights."""
    names = {path.stem for path in FIXTURES.glob("*.json")}
    for name in sorted(names):
        if not name.endswith(("-bf16", "-nf4")) or (
                name.endswith("-nf4") and name.replace("-nf4", "-lora") not in names):
            yield name


def try_case(name, folder, arguments):
    given, written = folder / name, folder / f"{name}-written"
    make(given, name)
    done = subprocess.run([arguments.program, given, written], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr.strip() or done.stdout.strip())
    results = sorted(written.iterdir())
    if len(results) != 2:
        raise SystemExit(f"{len(results)} folders were written, not 2")
    for result in results:
        if result.name == "sharded" and len(list(result.glob("model-*.safetensors"))) < 2:
            raise SystemExit("there is but one shard")
        yield f"{result.name}: {check(result, arguments)}"


def main():
    parser = argparse.ArgumentParser(description="Reads with transformers and PEFT what yoke made of small models.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="a training case (all in fp32)")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="oracle-round_trip (%(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="the largest relative difference that passes")
    arguments = parser.parse_args()
    arguments.dtype = "float32"
    failed, names = 0, arguments.cases or list(plain_cases())
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                print(f"{name}: {'; '.join(try_case(name, pathlib.Path(folder), arguments))}", flush=True)
            except (Exception, SystemExit) as error:
                failed += 1
                print(f"{name}: FAILED: {error}", flush=True)
    sys.exit(f"{failed} of {len(names)} failed" if failed else 0)


main()
