#!/bin/sh
# The maker of runs still makes the one in tests/cli/inputs/run-ranks: run_folder_test.sh MAKER
set -eu
maker=$1
stored=$(dirname "$0")/../cli/inputs/run-ranks

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
"$maker" "$stored/trace-predicted.json" "$scratch" 8 4 24
for name in metrics.jsonl summary.json trace.json trace-predicted.json; do
    diff -u "$stored/$name" "$scratch/$name"
done
