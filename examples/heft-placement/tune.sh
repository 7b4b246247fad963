# Read by ./run and ./gpu (". …/tune.sh"): a small Llama learns text, and then, by adapters beside weights that stay as they
# are, from instructions for whole epochs; the adapter is saved as PEFT keeps them, and its logits are
# held against PEFT's. Variables are those of the caller: $yoke, $here, $python.
# shellcheck shell=sh disable=SC2154

# What is learned: the project's own words, and the questions and answers of instructions.jsonl.
tune_case() {
    cat "$here/README.md" "$here"/../../docs/*.md >tune/text.txt
    cp "${INSTRUCTIONS:-$here/instructions.jsonl}" tune/instructions.jsonl
    "$yoke" tokenize --learn 600 --special llama3 -o tune/tokenizer.json --quiet tune/text.txt tune/instructions.jsonl >tune/tokenizer.txt
    cat >tune/model.json <<'END'
{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 600, "hidden_size": 64,
 "intermediate_size": 176, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
 "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "tie_word_embeddings": false}
END
}
of_json() { sed -n "s/.*\"$2\": *\([-+0-9.e]*\).*/\1/p" "$1" | head -n 1; }
# The base learns on the CPU, which is quick for so small a model; adapters are trained by TRAIN, which may be several ranks.
tune() { # BASE_STEPS EPOCHS TRAIN…
    base_steps=$1 epochs=$2
    shift 2
    rm -rf tune
    mkdir tune
    tune_case
    "$yoke" train --device cpu --model tune/model.json --tokenizer tune/tokenizer.json --data tune/text.txt --seq 128 --batch 8 \
        --steps "$base_steps" --rate 3e-3 --eval-samples 8 --quiet --out tune/base >tune/base.txt 2>&1 &&
        "$yoke" weights tune/base -o tune/model >tune/weights.txt 2>&1 &&
        "$yoke" eval tune/model --device cpu --data tune/instructions.jsonl --seq 128 --json --quiet >tune/before.json 2>>tune/weights.txt &&
        "$@" --weights tune/model --lora 8 --lora-alpha 16 --data tune/instructions.jsonl --seq 128 --batch 6 --epochs "$epochs" --rate 1e-2 \
            --precision fp32 --eval-part 0% --quiet --out tune/tuned >tune/tuned.txt 2>&1 &&
        "$yoke" weights tune/tuned -o tune/adapter >>tune/weights.txt 2>&1 &&
        "$yoke" eval tune/tuned --device cpu --data tune/instructions.jsonl --seq 128 --json --quiet >tune/after.json 2>>tune/weights.txt &&
        "$yoke" eval tune/adapter --device cpu --weights tune/model --data tune/text.txt --seq 64 --samples 4 \
            --outputs tune/outputs.safetensors --json --quiet >tune/logits.json 2>>tune/weights.txt
}
# What PEFT says of the adapter: the largest difference of logits, relative to the largest logit.
peft_words() {
    if [ "${python:-none}" = none ] || ! "$python" -c 'import torch, peft, transformers, safetensors' 2>/dev/null; then
        echo 'not compared: there is no Python with peft here'
    elif "$python" "$here/../../tests/oracle/check_adapter.py" tune/model tune/adapter tune/outputs.safetensors >tune/peft.txt 2>&1; then
        tail -n 1 tune/peft.txt
    else
        echo "not equal: $(tail -n 1 tune/peft.txt)"
    fi
}
tune_table() { # WHERE
    echo '| where | instructions | epochs | steps | loss before | loss after | adapter | logits in PEFT |'
    echo '|---|---|---|---|---|---|---|---|'
    if [ ! -s tune/after.json ]; then
        echo "| $1 | – | – | – | – | – | failed: $(cat tune/*.txt | grep '^yoke: ' | tail -n 1) | – |"
        return
    fi
    printf '| %s | %s | %s | %s | %.3f | %.3f | %s tensors of rank 8 | %s |\n' "$1" "$(grep -c . tune/instructions.jsonl)" "$epochs" \
        "$(of_json tune/tuned/summary.json steps)" "$(of_json tune/before.json loss)" "$(of_json tune/after.json loss)" \
        "$("$yoke" inspect tune/adapter/adapter_model.safetensors --json | grep -o 'lora_[AB]' | wc -l | tr -d ' ')" "$(peft_words)"
}
