"""Says on standard error how far a program came: seconds since this was imported, which is to be
the first thing that it does, and what begins. One rank speaks for all."""
import os
import sys
import time

BEGAN = time.monotonic()


def say(words):
    if os.environ.get("RANK", "0") == "0":
        print(f"{time.monotonic() - BEGAN:.1f} s: {words}", file=sys.stderr, flush=True)
