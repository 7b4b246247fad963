#!/bin/sh
# Unequal ranks train to what one rank does, with the shares that were planned, and all files of the
# example are written: uneven_data_parallel_test.sh EXAMPLE YOKE
set -eu
# shellcheck disable=SC1091 # checked by itself
. "$(dirname "$0")/common.sh"
run_quick "$2" table.md results.json index.html cluster.json profile.db

# Both groups learn the same from the same data, and more from more of it.
field() { sed -n "s/.*\"$1\":\([-+0-9.e]*\).*/\1/p"; }
for part in 0.5 1; do
    grep "\"data_part\":$part," results.json | field evaluation_loss | sort -g |
        awk '{ v[NR] = $1 } END { exit NR != 2 || v[2] - v[1] > 1e-4 }' ||
        complain "the groups end with different losses on a part of $part"
done
grep '"group":"strong"' results.json | field evaluation_loss |
    awk '{ v[NR] = $1 } END { exit NR != 2 || v[2] >= v[1] }' || complain 'more data does not teach more'

# All ways to divide the samples train to what one rank does.
[ "$(grep -c '"way":' results.json)" = 4 ] || complain 'there are not four ways'
grep '"way":' results.json | field loss_differs_by |
    awk '$1 > 1e-4 { bad = 1 } END { exit bad || NR != 4 }' || complain 'losses differ from those of one rank'

# Ranks took what their plan says; the hand has changed the shares and nothing else.
for way in even by-hand shares planned; do
    [ -s "runs/$way-1/report.html" ] || complain "$way: the run has no page"
    planned=$(grep -o '"rank": [0-9]*, "share": [0-9]*' "plans/$way.json" | sed 's/"rank": \([0-9]*\), "share": /\1 /' | sort -n)
    taken=$(grep -o '"rank":[0-9]*,[^}]*"share":[0-9]*' "runs/$way-1/summary.json" | sed 's/"rank":\([0-9]*\),.*"share":/\1 /' | sort -n)
    [ "$planned" = "$taken" ] || complain "$way: planned were
$planned
but taken were
$taken"
done
grep '"way":"even"' results.json | grep -qF '"shares":[4,4,4]' || complain 'even shares are not even'
grep '"way":"by-hand"' results.json | grep -qF '"shares":[2,2,8]' || complain 'shares by hand are not 2, 2 and 8'
[ "$(sed 's/"share": [0-9]*//' plans/even.json)" = "$(sed 's/"share": [0-9]*//' plans/by-hand.json)" ] ||
    complain 'the plan by hand differs in more than its shares'
grep -c '<svg' index.html | grep -qx 4 || complain 'the page does not have four charts'

# The README shows the tables in the form that they have now.
shown_in_readme '^| part' '^| way'
end_test
