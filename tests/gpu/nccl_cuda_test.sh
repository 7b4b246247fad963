#!/bin/bash
# Exchanges over NCCL between three unequal parts of one GPU: nccl_cuda_test.sh PROGRAM LAB
# All that comm.h has is as it must be, and ranks whose neighbour is killed are told of it soon.
set -u
program=$1
lab=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
failed=0

timeout -k 5 90 "$lab" --shares 60,20,20 --memory 16G --launcher env -- "$program" table >"$scratch/said" 2>&1
status=$?
if [ $status = 77 ]; then
    tail -n 1 "$scratch/said" | sed 's/^/skipped: /'
    exit 77
fi
if [ $status != 0 ] || ! grep -q '^as the table says: NCCL .*, 3 ranks on 3 hosts$' "$scratch/said"; then
    echo "the table: status $status"
    failed=1
fi
cat "$scratch/said"

timeout -k 5 60 "$lab" --shares 60,20,20 --memory 16G --launcher env --keep-going -- "$program" lost >"$scratch/said" 2>&1
for rank in 0 2; do
    if ! grep -q "^rank $rank was told after .* s: nccl, " "$scratch/said"; then
        echo "rank $rank was not told that rank 1 is gone"
        failed=1
    fi
done
cat "$scratch/said"
exit $failed
