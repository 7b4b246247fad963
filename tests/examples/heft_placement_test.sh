#!/bin/sh
# The placement experiment runs, its README shows the figures that come out, and its files are what
# its script makes: heft_placement_test.sh EXAMPLE YOKE
set -eu
example=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
YOKE=$2 "$example/run" "$scratch" >"$scratch/printed"
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
exit $failed
