#!/bin/sh
# The example trains, scores and translates from two files, goes on where it stopped, and does nothing
# twice; the pieces of its form for GPUs do what they are for:
# transformer_translation_test.sh EXAMPLE YOKE PAIRS
set -eu
example=$(cd "$1" && pwd)
pairs=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
YOKE=$(realpath "$2")
export YOKE DEVICE=cpu TOKENS=512 TEST_SOURCE="$scratch/some.en" TEST_TARGET="$scratch/some.de"
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
grep -q '^run: the small form, on the CPU' "$scratch/progress" || complain 'it does not say that this is the small form'
[ "$(wc -l <"$scratch/out/translated")" = 5 ] || complain 'there are not as many translations as sentences'
[ "$(ls "$scratch/out/run/checkpoints")" = 'step-00000001
step-00000002' ] || complain 'the checkpoints are others than those of steps 1 and 2'
cd "$scratch"

# Numbers in words: every pair once, and said as people say them.
awk -v count=200 -v english=made.en -v german=made.de -f "$example/numbers.awk"
[ "$(sort -u made.en | wc -l)" = 200 ] || complain 'numbers come twice'
[ "$(paste -d '|' made.en made.de | head -n 1)" = 'sixteen thousand eight hundred and seven|sechzehntausendachthundertsieben' ] ||
    complain "16807 is not said right: $(paste -d '|' made.en made.de | head -n 1)"
awk -v count=0 -v english=made.en -v german=made.de "$(cat "$example/numbers.awk")
END { }
BEGIN { print in_german(1) \" \" in_german(101) \" \" in_german(21021) \" \" in_english(200015) }" >made
[ "$(cat made)" = 'eins einhunderteins einundzwanzigtausendeinundzwanzig two hundred thousand and fifteen' ] ||
    complain "numbers are not said right: $(cat made)"

# The loss on one rank: a plan that yoke takes, whose first rank holds more than the others, who hold
# less than they did.
"$YOKE" plan --model "$example/base.json" --cluster 4xcpu:1:8GiB --profile none --seq 16 --batch 64 --micro-batches 1 \
    --precision bf16 --clip --only block --strategy replicated --trials 1 --quiet -o every.json >every.txt
awk -v batch=64 -v last=5 -f "$example/one_rank.awk" every.json >one.json
"$YOKE" simulate every.json --json >every.txt || complain 'a plan for the loss on every rank is refused'
"$YOKE" simulate one.json --json >one.txt || complain "the plan for the loss on one rank is refused: $(cat one.txt)"
peaks() { grep -o '"peak_bytes":[0-9.e+]*' "$1" | sed 's/.*://' | awk 'NR == 1 || NR == 2' | paste -s -d ' ' -; }
echo "$(peaks every.txt) $(peaks one.txt)" | awk '{ exit NF != 4 || !($3 > $1 && $4 < $2) }' ||
    complain "memory of ranks 0 and 1, loss on every rank and on one: $(peaks every.txt) and $(peaks one.txt)"

# A row of yoke beside those of PyTorch for the same work: 200 tokens/s against 100 of the same setting
# and 160 of its best; what failed is no row of figures.
cat >torch.jsonl <<'END_OF_ROWS'
{"name": "bf16", "precision": "bf16", "tokens": 64, "micro": 1, "median_step_s": 0.6, "tokens_per_s": 100.0, "without_reduction_s": 0.2, "allocated_bytes": [1073741824, 2147483648], "last_loss": 1}
{"name": "bf16-compressed", "precision": "bf16", "tokens": 64, "micro": 1, "median_step_s": 0.4, "tokens_per_s": 160.0, "without_reduction_s": 0.2, "allocated_bytes": [1, 2], "last_loss": 1}
{"name": "sync-last", "precision": "bf16", "tokens": 64, "micro": 4, "median_step_s": 0.6, "tokens_per_s": 400.0, "allocated_bytes": [1, 2], "last_loss": 1}
{"name": "sync-each", "precision": "bf16", "tokens": 64, "micro": 4, "median_step_s": 0.6, "tokens_per_s": 125.0, "allocated_bytes": [1, 2], "last_loss": 1}
{"name": "sync-each-compressed", "precision": "bf16", "tokens": 64, "micro": 4, "median_step_s": 0.6, "tokens_per_s": 160.0, "allocated_bytes": [1, 2], "last_loss": 1}
{"name": "other", "precision": "bf16", "tokens": 64, "micro": 4, "error": "RuntimeError: out of memory"}
END_OF_ROWS
{
    printf '%s\t' precision bf16 bf16 bf16 1 64 0.32 0.336 200 1073741824 1073741824 1084479242 1084479242 0.05 0.06
    echo 'The link binds.'
    printf '%s\t' sync sync-each each bf16 4 64 0.32 0.336 200 1073741824 1073741824 1084479242 1084479242 0.05 0.06
    echo 'The link binds.'
    printf '%s\t' sync sync-last last bf16 4 64 '' '' '' '' '' '' '' '' ''
    echo 'failed: no GPU'
} >rows
awk -f "$example/torch_rows.awk" torch.jsonl >torch.rows
awk -F '\t' -f "$example/gpu_table.awk" torch.rows rows >table
grep -qxF '| bf16 | 320.0 | 336.0 | +5.0 % | 0k | 1.00 | 1.00 | 1.01 | +1.0 % | 50.0 | 60.0 | 600.0 | 0k | 1.00 | 400.0 | 2.00 | 1.25 |' table ||
    complain "the table is wrong: $(grep '^| bf16' table)"
# Reducing in every micro-batch is held against PyTorch doing so, 125 and 160, not against its no_sync.
grep -qE '^\| each \|.*\| 1\.60 \| 1\.25 \|$' table || complain "reducing in each is held against: $(grep '^| each' table)"
grep -qF '2 rows of yoke measured, 1 failed; 2 of them within 10 % of the predicted step, 2 within 3 % of the planned memory.' table ||
    complain 'rows are not counted right'
grep -qF 'least ratio is 1.25; slower: none.' table || complain 'the ratio to the best is wrong'
awk -F '\t' -f "$example/gpu_json.awk" rows >rows.json
grep -qF '"step_s":null' rows.json || complain 'what failed has figures'

# Where yoke finds a GPU the form for GPUs takes over, which wants the laboratory.
mkdir bin
printf '#!/bin/sh\necho "{\\"name\\":\\"cuda\\",\\"device\\":\\"some GPU\\"}"\n' >bin/yoke
printf '#!/bin/sh\nexit 9\n' >bin/nvidia-smi
chmod +x bin/yoke bin/nvidia-smi
DEVICE=auto YOKE=$PWD/bin/yoke PATH=$PWD/bin:$PATH "$example/run" "$scratch/gpu" >said 2>&1 && complain 'it runs without a GPU'
grep -q '^lab: ' said || complain "the form for GPUs does not take over: $(cat said)"
exit $failed
