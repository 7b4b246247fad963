# Read by ./gpu (". …/gpu_rows.sh"): ranks, plans, rows. Variables are those of ./gpu.
# shellcheck shell=sh disable=SC2154,SC2034
# A row of ./rows, with tabs between its fields: parts, batch, name, words, predicted step, measured
# step, planned and measured bytes of every rank (with / between them), devices, bound, largest difference of a loss
# to that of the first row (HEFT's placement), the plan in words or why it failed.

# ---- what is trained on: tokens, of the lower quarter of the vocabulary; a model to pretend with, and a map of it ----
make_case() {
    tokens=$((16 * (fast_steps + 2) * sequence))
    write_tokens "$tokens" "$([ -n "$pretend" ] && echo 512 || echo 31232)" >case/tokens.bin
    [ -n "$pretend" ] || return 0
    cat >case/config.json <<'END'
{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 512, "hidden_size": 64,
 "intermediate_size": 176, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
 "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "tie_word_embeddings": false}
END
    echo '{"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": 1, "model.layers.2": 1, "model.layers.3": 2,
 "model.norm": 2, "model.rotary_emb": 0, "lm_head": 2}' >case/device_map.json
}

# ---- ranks ----
enter() { # SHARES MEMORY
    lab_shares=$1 lab_memory=$2
    lab_name=$(echo "$1" | tr , -)
    cluster=cluster-$lab_name.json profile=profile-$lab_name.db
    [ -s "$cluster" ] || cluster=$(cluster_line "$1" "$2" 3GB/s)
    [ -s "$profile" ] || profile=none
}

# ---- times ----
measure_parts() {
    if [ -s "${PROFILES:-}/profile-$lab_name.db" ] && [ -s "$PROFILES/cluster-$lab_name.json" ]; then
        say "$lab_shares: as measured in an earlier run"
        cp "$PROFILES/profile-$lab_name.db" "$PROFILES/cluster-$lab_name.json" .
        enter "$lab_shares" "$lab_memory"
        earlier="${earlier:-} $lab_name"
        return
    fi
    say "$lab_shares: measuring"
    most_samples=8 # of more, times are told from these: a slow part would take long to measure 16
    [ -z "$pretend" ] || most_samples=4
    # shellcheck disable=SC2086 # one word for each option
    on_ranks 75 "$lab_shares" "$lab_memory" profile --model "$model" --seq "$sequence" $work --batch "$most_samples" \
        --precision "$precision" --seconds "$profile_s" ${pretend:+--cluster 3xcpu:1} --cluster-out "cluster-$lab_name.json" \
        --profile "profile-$lab_name.db" --quiet >"profile-$lab_name.txt" 2>&1 ||
        say "measuring ended early: $(last_words "profile-$lab_name.txt")"
    # What was measured by then serves; without any of it times are those of datasheets.
    enter "$lab_shares" "$lab_memory"
}

# ---- plans ----
plan() { # NAME WORD…: plans/LAB-BATCH-NAME.json, and what is said of it beside it
    planned=$lab_name-$batch-$1
    shift
    # shellcheck disable=SC2086 # one word for each option
    timeout -k 5 60 "$yoke" plan --model "$model" --seq "$sequence" $work --batch "$batch" --precision "$precision" \
        --cluster "$cluster" --profile "$profile" --json --quiet -o "plans/$planned.json" "$@" \
        >"plans/$planned-result.json" 2>"plans/$planned.txt"
}
# A placement takes the batch whole, as Accelerate does; where it does not fit so, with recomputation.
plan_placement() { # NAME WORD…
    name=$1
    shift
    plan "$name" --micro-batches 1 "$@" || plan "$name" --micro-batches 1 --recompute "$@" || true
}
# All plans of a laboratory and batch, side by side.
plan_all() {
    if [ -s case/accelerate.json ]; then
        plan_placement accelerate --map case/accelerate.json &
        plan_placement auto --placement auto &
    else
        plan_placement accelerate --placement auto &
    fi
    plan_placement published --map "$published_map" &
    plan heft --micro-batches 1 --placement heft &
    plan heft-2 --micro-batches 2 --placement heft &
    plan alone-0 --devices "$(device_name 0)" --trials 100 &
    plan alone-1 --devices "$(device_name 1)" --trials 100 &
    # shellcheck disable=SC2086 # one word for each option
    plan yoke $search &
}
device_name() { if [ -n "$pretend" ]; then echo "cpu$1"; else echo "gpu$1"; fi; }
# Accelerate's own map, where it is here; yoke follows the same rule, and it is said whether they agree.
accelerate_map() {
    [ -z "$pretend" ] && [ "$python" != none ] || return 0
    # shellcheck disable=SC2046 # one word for each device
    if timeout 60 "$python" "$here/accelerate_map.py" $(echo "$memory_of_lab" | tr -d G | tr , ' ') >case/map.part 2>case/accelerate.txt; then
        mv case/map.part case/accelerate.json
    fi
}
# The layers of a plan, a device for each.
layers_of() { sed -n '/"layers": \[/,/\]/p' "$1" | grep -o '"from": "[^"]*"\(, "to": "[^"]*"\)\{0,1\}, "group": [0-9]*'; }
accelerate_words() {
    for file in plans/*-auto.json; do
        [ -s "$file" ] || continue
        if [ "$(layers_of "$file")" = "$(layers_of "${file%auto.json}accelerate.json")" ]; then
            echo "Accelerate's own map for ${file#plans/} is the one that yoke's rule gives." | sed 's/-auto.json//'
        else
            echo "Accelerate's own map for ${file#plans/} is another than yoke's rule gives." | sed 's/-auto.json//'
        fi
    done
    [ -n "$(find plans -name '*-auto.json')" ] || echo "Accelerate's map is by yoke's own copy of the rule: there is no Python with accelerate here."
}

# ---- rows ----
add_row() { # NAME WORDS PREDICTED STEP PLANNED MEASURED DEVICES BOUND DIFFERENCE REMARK
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$lab_name" "$batch" "$@" >>rows
}
# Plans that do the same with the same devices are run once. What a plan does, without its origins:
deeds() { sed -n '/"micro_batches"/,$p' "$1" 2>/dev/null | grep -v '"block"'; }
row() { # NAME WORDS PLAN, where that has another name
    wanted "$2 at $lab_shares with a batch of $batch" || return 0
    row_name=$1 words=$2 said=plans/$lab_name-$batch-${3:-$1}
    by=$said.json
    run=$lab_name-$batch-$row_name
    if [ ! -s "$by" ] && [ "$row_name:${3:-}" = heft: ]; then
        row heft "HEFT's placement, in 2 micro-batches" heft-2
        return
    fi
    if [ ! -s "$by" ]; then
        add_row "$row_name" "$words" '' '' '' '' '' '' '' "no plan: $(last_words "$said.txt" 2>&1)"
        return
    fi
    ! grep -q '"recompute": true' "$by" || words="$words, with recomputation"
    expected=$(number "$said-result.json" step_s)
    bound=$(number "$said-result.json" bound_s)
    again=
    [ "$row_name:${3:-}" != heft: ] || again=heft-2
    # shellcheck disable=SC2046 # one word for each device
    set -- $(plan_devices "$by")
    devices=$(echo "$*" | tr ' ' '/')
    if [ "$row_name" != heft ] && [ "$(deeds "$by")" = "$(deeds "plans/$lab_name-$batch-heft.json")" ]; then
        same_row "HEFT's placement"
        return
    fi
    count=$(calculate %.0f "$expected < 0.7 ? $fast_steps : $expected < 1.5 ? $steps + 1 : $steps")
    needed=$(calculate %.0f "7 + 1.1 * $count * $expected")
    worth "$needed" "$words at $lab_shares with a batch of $batch" || return 0
    say "$lab_shares, batch $batch: $words"
    # shellcheck disable=SC2086 # one word for each option
    if on_ranks $((25 + 3 * needed)) "$(pick "$lab_shares" "$@")" "$(pick "$lab_memory" "$@")" train --model "$model" --weights "$weights" $work $alpha \
        --data case/tokens.bin --eval-part 0% --eval-every 0 --seq "$sequence" --batch "$batch" --precision "$precision" --clip 0 --rate 1e-4 \
        --rate-rule constant --warmup 0 --seed 1 --save-every 0 --keep 0 --steps "$count" --plan "$by" --cluster "$cluster" --profile "$profile" \
        --quiet --out "runs/$run" >"runs/$run.txt" 2>&1 && [ -s "runs/$run/summary.json" ]; then
        wrong=$(wrong_numbers "runs/$run/metrics.jsonl")
        if [ -n "$wrong" ]; then
            add_row "$row_name" "$words" "$expected" '' '' '' "$devices" "$bound" '' \
                "failed: $wrong (a step took $(calculate %.0f "1000 * $(settled "runs/$run/metrics.jsonl")") ms)"
            return
        fi
        difference=
        first=reference-$lab_name-$batch.jsonl
        if [ -s "$first" ]; then
            difference=$(loss_difference "$first" "runs/$run/metrics.jsonl")
        else
            cp "runs/$run/metrics.jsonl" "$first"
        fi
        add_row "$row_name" "$words" "$(number "runs/$run/summary.json" predicted_step_s)" "$(settled "runs/$run/metrics.jsonl")" \
            "$(of_ranks "runs/$run/summary.json" predicted_peak_bytes)" "$(of_ranks "runs/$run/summary.json" peak_bytes)" "$devices" "$bound" \
            "$difference" "$(sed -n 's/.*"summary":"\([^"]*\)".*/\1/p' "$said-result.json" | head -n 1)"
    elif [ -n "$again" ] && [ "$batch" = 16 ]; then
        # Nearly all of the device's memory is planned for: should it not be there, less will do.
        say "failed: $(last_words "runs/$run.txt")"
        rm -rf "runs/$run"
        row heft "HEFT's placement, in 2 micro-batches (whole it failed)" "$again"
    else
        add_row "$row_name" "$words" "$expected" '' '' '' "$devices" "$bound" '' "failed: $(last_words "runs/$run.txt")"
    fi
}
# The row of HEFT's placement once more.
same_row() { # WORDS
    awk -F '\t' -v OFS='\t' -v lab="$lab_name" -v batch="$batch" -v name="$row_name" -v words="$words" -v same="$1" '
        $1 == lab && $2 == batch && $3 == "heft" { $3 = name; $4 = words; $11 = ""; $12 = "the same plan as " same; print }' rows >same
    [ -s same ] || echo "$words at $lab_shares with a batch of $batch" >>left-out
    cat same >>rows
    rm -f same
}

# ---- a small Llama on instructions: the base on one device, the adapters on all ranks of the laboratory ----
tune_small() {
    worth 24 'the small Llama on instructions' || return 0
    say 'a small Llama on instructions'
    if [ -n "$pretend" ]; then
        tune 20 2 on_ranks 60 "$lab_shares" "$lab_memory" train --cluster 3xcpu:1 --threads 1 ||
            say "tuning failed: $(cat tune/*.txt | last_words /dev/stdin)"
    else
        tune 200 6 on_ranks 60 "$lab_shares" "$lab_memory" train --profile none ||
            say "tuning failed: $(cat tune/*.txt | last_words /dev/stdin)"
    fi
}
