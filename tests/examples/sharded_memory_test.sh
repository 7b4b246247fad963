#!/bin/sh
# Every strategy and every plan for a memory limit trains to what one rank does, plans stay within
# their limit, and all files of the example are written: sharded_memory_test.sh EXAMPLE YOKE
set -eu
# shellcheck disable=SC1091 # checked by itself
. "$(dirname "$0")/common.sh"
run_quick "$2" table.md results.json curve.csv index.html cluster-2.json profile-2.db

awk -F , 'NR > 1 { print $2 }' curve.csv | paste -s -d ' ' - |
    grep -qx 'replicated sharded-state kept fully-sharded plan plan' || complain 'curve.csv has other rows'
awk -F , 'NR > 1 && !($8 <= 1e-4) { bad = 1 } END { exit bad || NR != 7 }' curve.csv ||
    complain 'losses differ from those of one rank'
awk -F , 'NR > 1 && $3 != "" && $6 > $3 { bad = 1 } END { exit bad }' curve.csv ||
    complain 'a plan needs more than its limit'
# State in parts needs less than state that each rank has whole.
awk -F , '{ peak[$2] = $6 }
    END { exit !(peak["fully-sharded"] < peak["replicated"] && peak["sharded-state"] < peak["replicated"]) }' curve.csv ||
    complain 'sharded layers do not need less memory than replicated ones'
awk -F , 'NR > 1 && !($4 > 0 && $5 > 0 && $7 > 0) { bad = 1 } END { exit bad }' curve.csv ||
    complain 'something was not measured'
for strategy in replicated sharded-state kept fully-sharded; do
    grep -q "\"strategy\": \"$strategy\"" "plans/$strategy-2.json" || complain "no layer of $strategy-2.json is $strategy"
done
grep -c '<svg' index.html | grep -qx 2 || complain 'the page does not have two charts'

# The README shows the table in the form that it has now.
shown_in_readme '^| layers'
end_test
