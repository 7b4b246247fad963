#!/bin/sh
# The plans of the example come out as its README shows them, and each is at least as fast as
# everything beside it: plans_test.sh EXAMPLE YOKE
set -eu
example=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PAGES=no YOKE=$2 "$example/run" "$scratch" >"$scratch/table.md"
failed=0
complain() {
    echo "$1"
    failed=1
}

while read -r line; do
    grep -qxF -- "$line" "$example/README.md" || echo "$line"
done <"$scratch/table.md" >"$scratch/missing"
[ ! -s "$scratch/missing" ] || complain "README.md does not show:
$(cat "$scratch/missing")"
[ "$(grep -c '^|' "$scratch/table.md")" = 9 ] || complain 'the table does not have seven rows'

for result in "$scratch"/*-result.json; do
    step=$(sed -n 's/.*"step_s":\([-+0-9.e]*\),"error":[^,]*,"origins".*/\1/p' "$result" | head -n 1)
    grep '"fits":true' "$result" | sed -n 's/.*"step_s":\([-+0-9.e]*\),"fits.*/\1/p' >"$scratch/others"
    [ -s "$scratch/others" ] || complain "$result: nothing to compare with"
    awk -v step="$step" '$1 < step { worse = 1 } END { exit worse }' "$scratch/others" ||
        complain "$(basename "$result"): something else is faster than $step s"
    "$2" simulate "${result%-result.json}.json" --json --quiet |
        grep -qF "\"step_s\":$step," || complain "$(basename "$result"): simulated again it differs"
done
exit $failed
