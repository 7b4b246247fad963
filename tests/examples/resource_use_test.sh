#!/bin/sh
# Parts of a device train and infer, give the same outputs, and all files of the example are written:
# resource_use_test.sh EXAMPLE YOKE
set -eu
# shellcheck disable=SC1091 # checked by itself
. "$(dirname "$0")/common.sh"
run_quick "$2" table.md results.csv index.html outputs/part-1.safetensors

parts=$(wc -l <parts.rows)
[ "$(awk -F , '$3 == "training"' results.csv | wc -l)" = "$parts" ] || complain 'not every part has trained'
awk -F , -v parts="$parts" '$3 == "inference" && $5 == 0 { same++ } END { exit same != parts }' results.csv ||
    complain 'outputs differ between parts'
awk -F , 'NR > 1 && !($4 > 0) { bad = 1 } END { exit bad }' results.csv || complain 'a speed was not measured'
grep -q '<svg' index.html || complain 'the page has no chart'
shown_in_readme '^| part'
end_test
