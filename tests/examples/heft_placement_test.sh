#!/bin/sh
# The placement experiment runs, its README shows the figures that come out, its files are what its
# script makes, and the small Llama's adapter is there: heft_placement_test.sh EXAMPLE YOKE
set -eu
example=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DEVICE=cpu TUNE_STEPS=2 EPOCHS=1 RANKS=1 PYTHON=none YOKE=$2 "$example/run" "$scratch" >"$scratch/printed" 2>"$scratch/said"
failed=0
complain() {
    echo "$1"
    failed=1
}

grep '^|' "$scratch/table.md" | while read -r line; do
    grep -qxF -- "$line" "$example/README.md" || echo "$line"
done >"$scratch/missing"
[ ! -s "$scratch/missing" ] || complain "README.md does not show:
$(cat "$scratch/missing")"
[ "$(grep -c '^|' "$scratch/table.md")" -gt 10 ] || complain 'the tables are too short'
cmp -s "$scratch/published.json" "$example/published.json" || complain 'published.json is not what graph prints'
[ "$(grep -c '<svg' "$scratch/index.html")" -ge 12 ] || complain 'the page lacks charts'

# HEFT on the published chain is the published map: everything on the first device.
grep -o '"device":"[^"]*"' "$scratch/published-heft-result.json" | sort -u >"$scratch/devices"
[ "$(cat "$scratch/devices")" = '"device":"RTX 6000 Ada"' ] || complain "HEFT uses $(cat "$scratch/devices")"

# The instructions were seen for a whole epoch: 48 of them, 6 a step.
grep -q '^| CPU ranks: 1 | 48 | 1 | 8 | [0-9.]* | [0-9.]* | 56 tensors of rank 8 | not compared' "$scratch/tuned.md" ||
    complain "the small Llama was not tuned: $(cat "$scratch/tuned.md")"
before=$(sed -n 's/.*"loss":\([0-9.]*\).*/\1/p' "$scratch/tune/before.json")
after=$(sed -n 's/.*"loss":\([0-9.]*\).*/\1/p' "$scratch/tune/after.json")
awk -v before="$before" -v after="$after" 'BEGIN { exit !(after < before) }' || complain "the loss went from $before to $after"
[ -s "$scratch/tune/adapter/adapter_model.safetensors" ] || complain 'there is no adapter'
[ "$(wc -l <"$scratch/said")" = 1 ] || complain "more was said than that there is no GPU: $(cat "$scratch/said")"
exit $failed
