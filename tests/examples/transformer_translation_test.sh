#!/bin/sh
# The example trains, scores and translates from two files, goes on where it stopped, and does nothing
# twice: transformer_translation_test.sh EXAMPLE YOKE PAIRS
set -eu
example=$1
pairs=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export YOKE="$2" TOKENS=512 TEST_SOURCE="$scratch/some.en" TEST_TARGET="$scratch/some.de"
head -n 5 "$pairs/numbers.en" >"$TEST_SOURCE"
head -n 5 "$pairs/numbers.de" >"$TEST_TARGET"
failed=0
complain() {
    echo "$1"
    failed=1
}

for steps in 1 2 2; do
    STEPS=$steps "$example/run" "$scratch/out" "$pairs/numbers.en" "$pairs/numbers.de" \
        >"$scratch/said" 2>"$scratch/progress" || complain "with $steps steps it fails:
$(cat "$scratch/progress")"
    grep -q '^BLEU = ' "$scratch/said" || complain "with $steps steps there is no score"
done
[ "$(wc -l <"$scratch/out/translated")" = 5 ] || complain 'there are not as many translations as sentences'
[ "$(ls "$scratch/out/run/checkpoints")" = 'step-00000001
step-00000002' ] || complain 'the checkpoints are others than those of steps 1 and 2'
exit $failed
