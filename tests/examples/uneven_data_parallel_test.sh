#!/bin/sh
# Unequal ranks train to what one rank does, with the shares that were planned, and all files of the
# example are written: uneven_data_parallel_test.sh EXAMPLE YOKE
# shellcheck disable=SC2034,SC2154 # read by what is sourced, and set by it
set -eu
# shellcheck disable=SC1091 # checked by itself
. "$(dirname "$0")/common.sh"
yoke=$2
DEVICE=cpu
export DEVICE
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

# The page of its form for GPUs, from rows that were not measured: 0.13 s over 0.1 s are 1.30 times as long, 0.105 s predicted
# for 0.1 s are within 10 % and 0.3 s for 0.2 s are not; a loss that is 0.5 off is found.
page_of() { # ROWS: makes it in the folder of the test
    mkdir -p "$scratch/page"
    cd "$scratch/page" || exit 1
    printf '%b' "$1" >rows
    printf 'strong\t100\t28\t2\t2.1\t3.3\t3.07\nweak\t100\t28\t4\t3.9\t3.3\t3.07\n' >groups
    : >left-out
    (
        here=$example pretend=1 small=48 large=192 sequence=1024 steps=10 shares=70,14,14 memory=48G,24G,24G
        group_model=gpt-mini group_batch=64 group_sequence=128 strong=25,25 weak=12,12,12,12 group_parts=100
        # shellcheck disable=SC1091 # checked by itself
        . "$example/../common/page.sh"
        # shellcheck disable=SC1091 # checked by itself
        . "$example/../common/lab.sh"
        # shellcheck disable=SC1091 # checked by itself
        . "$example/gpu_page.sh"
        write_results
        check_losses 2>said
    )
}
good='48\tyoke\tplanned\tas planned\t34/7/7\t0.105\t0.1\t20/10/10\t21/9/9\t0.001\tdata-parallel\n'
good=$good'48\tyoke\teven\teven shares\t16/16/16\t0.3\t0.2\t20/10/10\t21/9/9\t0.001\tdata-parallel\n'
good=$good'48\tPyTorch\talone\tdevice 0 alone\t48/0/0\t\t0.13\t\t30/0/0\t0.002\t\n'
good=$good'48\tPyTorch\teven\tDDP\t16/16/16\t\t\t\t\t\tfailed: out of memory\n'
page_of "$good" || complain "the losses are right, but it says: $(cat said)"
grep -qF '(device 0 alone 48/0/0) takes 130.0 ms: 1.30 times as long' table.md || complain 'the page compares with another row'
grep -qF 'Predicted within 10 %: 1 of 2 steps' table.md || complain 'the page counts other predictions'
grep -qF '| yoke | as planned | 34/7/7 | 100.0 | 105.0 | +5.0 % |' table.md || complain 'the page has no row of the plan'
grep -qF '| 100 % | 28 | 2.00 | 2.10 | 3.3000 | 3.0700 | 4.00 | 3.90 | 3.3000 | 3.0700 | 2.00 |' table.md || complain 'the groups are shown otherwise'
[ "$(grep -c '^' results.csv)" = 5 ] || complain 'results.csv does not have a line for each row'
page_of "$(echo "$good" | sed 's/0\.001/0.5/')" && complain 'a loss that is off is not found'
page_of "$(echo "$good" | sed 's/0\.001/loss is not a number here/')" && complain 'a loss that is no number is not found'
page_of "$(echo "$good" | sed 's/0\.002/loss is not a number here/')" || complain "a loss of PyTorch's decides"
grep -qF '(device 0 alone 48/0/0, whose loss is not a number here) takes 130.0 ms' table.md || complain "PyTorch's loss that is no number is not told of"
more='48\tPyTorch\tweighted\tDDP\t34/7/7\t\t0.16\t\t30/9/9\t0.003\t\n'
page_of "$(echo "$good$more" | sed 's/0\.002/loss is not a number here/')" || complain "a loss of PyTorch's decides"
grep -qF 'Of those whose losses are numbers, the best (DDP 34/7/7) takes 160.0 ms: 1.60 times as long' table.md || complain 'the best of PyTorch that trains is not told of'

# What is said in the environment is looked at before anything is emptied.
mkdir "$scratch/refused"
echo kept >"$scratch/refused/profile.db"
refused_with "$yoke" 'ONLY=[ is no extended regular expression' 'ONLY=['
refused_with "$yoke" 'TIME=soon: seconds, a whole number' TIME=soon
refused_with "$yoke" "PROFILES=$scratch/none/such: there is no such folder" "PROFILES=$scratch/none/such"
refused_with "$yoke" 'is the folder that this run writes into' "PROFILES=$scratch/refused"
[ -s "$scratch/refused/profile.db" ] || complain 'what was measured is gone'
(
    began=$(date +%s) time_limit=60 ONLY='two|three'
    # shellcheck disable=SC1091 # checked by itself
    . "$example/../common/page.sh"
    # shellcheck disable=SC1091 # checked by itself
    . "$example/../common/lab.sh"
    cd "$scratch/refused" || exit 1
    ! worth 1 'row one' || echo 'a row that was not asked for is run'
    [ -z "$any_wanted" ] || echo 'a row that was not asked for counts'
    worth 1 'row two' || echo 'a row that was asked for is not run'
    ! worth 100 'row three' || echo 'a row without time is run'
    [ "$(left_out_words)" = 'Only what goes by ONLY=two|three was asked for. Left out: row three.' ] || left_out_words
) >"$scratch/words" 2>&1
[ ! -s "$scratch/words" ] || complain "$(cat "$scratch/words")"

# What the forms for GPUs have in common. Losses are compared in the steps that both have; gradients that grow a hundred times over, or
# are not finite, make a row wrong; yoke's own sentence comes before those of its launcher.
mkdir "$scratch/rows"
cd "$scratch/rows" || exit 1
lines_of() { # LOSS:NORM…
    number_of_line=0
    for pair; do
        number_of_line=$((number_of_line + 1))
        echo "{\"step\": $number_of_line, \"loss\": ${pair%:*}, \"norm\": ${pair#*:}, \"lr\": 1}"
    done
}
lines_of 3:2 2:1.5 1:1 >one
lines_of 3:2 2.25:150 >two
lines_of NaN:2 >no-number
lines_of 3:2 2:null >not-finite
lines_of 3:2 2:201 >grown
printf 'yoke: rank 0: warning: slow\nyoke: rank 0: rank 1 has ended\nyoke: step 1: no memory\n-----\nmpirun detected that\n-----\n' >launched
printf -- '-----\n  Exit code:    5\n-----\n' >launcher
(
    here=$example pretend='' steps=8 small=48 large=192 began=0 quick=0 full=0 shares=70,14,14 memory=48G,24G,24G
    # shellcheck disable=SC1091 # checked by itself
    . "$example/../common/page.sh"
    # shellcheck disable=SC1091 # checked by itself
    . "$example/../common/lab.sh"
    # shellcheck disable=SC1091 # checked by itself
    . "$example/gpu_rows.sh"
    loss_difference one two
    loss_difference one no-number
    printf '1e-5\nnothing compared\n2e-5\n' | worst_difference
    printf '1e-5\n3e-5\n2e-5\n' | worst_difference
    wrong_numbers one
    wrong_numbers two
    wrong_numbers not-finite
    wrong_numbers grown
    last_words launched
    last_words launcher
) >said 2>&1 || complain "what the rows of GPUs are made with fails: $(cat said)"
printf '%s\n' 0.25 'loss is not a number here' 'nothing compared' 3e-5 \
    'wrong numbers: the norm of its gradients is not finite' 'wrong numbers: the norm of its gradients went from 2 to 201' \
    'yoke: step 1: no memory' '  Exit code:    5' >expected
diff expected said >differ || complain "rows of GPUs are made otherwise: $(cat differ)"
end_test
