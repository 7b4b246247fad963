#!/bin/bash
# A run on a GPU that goes on from a checkpoint, in another process, ends with the very bits of one
# that never stopped, and so does a second run of the same seed: resume_cuda_test.sh YOKE INPUTS [DEVICE]
# What is known of products is kept in a cache: runs after the first find it there and add nothing.
set -eu
yoke=$1
inputs=$2
device=${3:-cuda}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache
products=$XDG_CACHE_HOME/yoke/cuda-products.txt
cd "$scratch"
failed=0
complain() {
    echo "$1"
    failed=1
}

seq 300 >text
if ! "$yoke" train --data text --device "$device" --dry-run --out none >/dev/null 2>said; then
    if grep -q 'no GPU\|was built without' said; then
        sed 's/^yoke: /skipped: /' said
        exit 77
    fi
    cat said
    exit 1
fi

train() { "$yoke" train --device "$device" --quiet "$@" >printed 2>&1 || { cat printed; exit 1; }; }

# same WHAT FOLDER FOLDER: all tensors of two checkpoints are the same, bit for bit.
same() {
    local file count=0
    for file in "$2"/*.safetensors; do
        count=$((count + 1))
        cmp "$file" "$3/${file##*/}" || complain "$1: ${file##*/} differs"
    done
    [ "$count" -ge 2 ] || complain "$1: there are $count files of tensors in $2"
}

# resumes WHAT OPTIONS: 6 steps in one, again, and from the third one on.
resumes() {
    local what=$1
    shift
    train "$@" --steps 6 --save-every 3 --out first
    mv first/checkpoints/step-00000006 straight
    [ "$device" = cpu ] || cp "$products" known
    train --resume --out first
    train "$@" --steps 6 --save-every 3 --out second
    same "$what, resumed" straight first/checkpoints/step-00000006
    same "$what, again" straight second/checkpoints/step-00000006
    if [ "$device" != cpu ]; then
        [ "$(wc -l <known)" -gt 1 ] || complain "$what: no product was kept in $products"
        cmp known "$products" || complain "$what: products that were known were tried again"
    fi
    rm -rf first second straight known
    echo "$what: the same bits, resumed and again"
}

"$yoke" tokenize --learn 290 -o pairs.json "$inputs/numbers.en" "$inputs/numbers.de" --quiet >/dev/null
"$yoke" tokenize --learn 290 --special bert -o bert.json "$inputs/numbers.en" --quiet >/dev/null

resumes 'gpt-nano in fp32' --model gpt-nano --data text --seq 32 --batch 4 --dropout 0.1
resumes 'gpt-nano in fp16, recomputed' --model gpt-nano --data text --seq 32 --batch 8 \
    --precision fp16 --micro-batches 2 --recompute
resumes 'transformer-small in bf16' --model transformer-small --tokenizer pairs.json \
    --data "$inputs/numbers.en" --target "$inputs/numbers.de" --batch-tokens 192 --seq 16 \
    --dropout 0.1 --label-smoothing 0.1 --precision bf16
resumes 'bert-mini in bf16' --model bert-mini --tokenizer bert.json --data "$inputs/numbers.en" \
    --seq 16 --batch 4 --precision bf16
train --model llama-mini --data text --seq 32 --batch 4 --steps 1 --precision bf16 --out base
resumes 'llama-mini in bf16' --model llama-mini --data text --seq 32 --batch 4 --precision bf16
resumes 'llama-mini with adapters beside NF4' --weights base/checkpoints/step-00000001 \
    --data text --seq 32 --batch 4 --precision bf16 --lora 8 --nf4
exit $failed
