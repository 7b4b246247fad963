#!/bin/sh
# Tests of what benchmarks compare, with neither torch nor a GPU: bench_test.sh BENCH, the folder of
# benchmarks. Without Python it is skipped (exit code 77).
command -v python3 >/dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/bench_test.py" "$1"
