# Read by ./gpu (". …/gpu_rows.sh"): ranks, plans, rows. Variables are those of ./gpu.
# shellcheck shell=sh disable=SC2154,SC2034
# A row of ./rows, with tabs between its fields: batch, yoke or PyTorch, name, words, shares, predicted
# step, measured step, planned and measured bytes of every rank (with / between them), largest
# difference of a loss to that of yoke's first row (device 0 alone), the plan in words or why it failed.
together=shares,parts,strategies,block,order,recomputation

# ---- what is trained: a model, and tokens of which low ones are likelier ----
# Both sides start from the weights that one step of a rate of almost nothing leaves behind.
make_case() {
    if [ -n "$pretend" ]; then
        sed 's/50304/512/; s/768/48/; s/3072/192/; s/"n_layer": 12/"n_layer": 3/; s/"n_head": 12/"n_head": 3/' \
            "$here/gpt2.json" >case/config.json
    else
        cp "$here/gpt2.json" case/config.json
    fi
    write_tokens $((large * (steps + 2) * sequence)) "$vocabulary" >case/tokens.bin
    on_ranks 60 "$(pick "$shares" 0)" "$(pick "$memory" 0)" train --model case/config.json --data case/tokens.bin \
        --eval-part 0% --seq 32 --batch 1 --steps 1 --rate 1e-30 --save-every 0 --keep 1 --seed 1 --profile none --quiet \
        --out runs/start >runs/start.txt 2>&1 || {
        say "no weights: $(last_words runs/start.txt)"
        exit 1
    }
    mv runs/start/checkpoints/*/model.safetensors case/
    rm -rf runs/start
}

# ---- times ----
measure_parts() {
    cluster=cluster.json profile=profile.db times='measured here before'
    if [ -s "${PROFILES:-}/profile.db" ] && [ -s "$PROFILES/cluster.json" ]; then
        say 'as measured in an earlier run'
        cp "$PROFILES/cluster.json" "$PROFILES/profile.db" .
        times='measured in an earlier run'
        return
    fi
    if ! on_ranks 75 "$shares" "$memory" profile --model case/config.json --seq "$sequence" --batch "$small" --precision bf16 \
        --seconds "$profile_s" ${pretend:+--cluster 3xcpu:1} --cluster-out cluster.json --profile profile.db --quiet \
        >profile.txt 2>&1 || [ ! -s cluster.json ]; then
        say "no measurements: $(last_words profile.txt); times are those of datasheets"
        cluster=$(cluster_line "$shares" "$memory" 3GB/s) profile=none times='of datasheets, since measuring failed'
    fi
}
device_names() { # NUMBER…: as the cluster calls them
    for number; do
        if [ -s "$cluster" ]; then
            sed -n 's/.*{"name": "\([^"]*\)".*/\1/p' "$cluster" | sed -n "$((number + 1))p"
        else
            echo "${pretend:+cpu}$number" | sed 's/^[0-9]/gpu&/'
        fi
    done | paste -s -d , -
}

# ---- plans ----
plan() { # NAME BATCH WORD…: plans/NAME-BATCH.json, and what is said of it beside it
    planned=$1-$2 plan_batch=$2
    shift 2
    timeout -k 5 60 "$yoke" plan --model case/config.json --seq "$sequence" --batch "$plan_batch" --precision bf16 --clip \
        --cluster "$cluster" --profile "$profile" --json --quiet -o "plans/$planned.json" "$@" \
        >"plans/$planned-result.json" 2>"plans/$planned.txt" || true
}
# The even plan with other shares: a plan is a file to edit.
by_percent() { # BATCH SHARES
    [ -s "plans/even-$1.json" ] || return 0
    set -- "$1" "$(echo "$2" | cut -d / -f 1)" "$(echo "$2" | cut -d / -f 2)" "$(echo "$2" | cut -d / -f 3)"
    sed "s/\"rank\": 0, \"share\": [0-9]*/\"rank\": 0, \"share\": $2/
         s/\"rank\": 1, \"share\": [0-9]*/\"rank\": 1, \"share\": $3/
         s/\"rank\": 2, \"share\": [0-9]*/\"rank\": 2, \"share\": $4/" "plans/even-$1.json" >"plans/by-percent-$1.json"
    "$yoke" simulate "plans/by-percent-$1.json" --model case/config.json --cluster "$cluster" --profile "$profile" \
        --json --quiet >"plans/by-percent-$1-result.json" 2>"plans/by-percent-$1.txt" || true
}
# ---- yoke's rows ----
add_row() { # BATCH WHO NAME WORDS SHARES PREDICTED STEP PLANNED MEASURED DIFFERENCE REMARK
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" >>rows
}
row() { # NAME BATCH WORDS
    wanted "$3, $2 samples" || return 0
    by=plans/$1-$2.json said=plans/$1-$2 run=$1-$2 reference=reference-$2.jsonl
    if [ ! -s "$by" ] || [ ! -s "$said-result.json" ]; then
        add_row "$2" yoke "$1" "$3" '' '' '' '' '' '' "no plan: $(last_words "$said.txt" 2>&1)"
        return
    fi
    expected=$(number "$said-result.json" step_s)
    # shellcheck disable=SC2046 # one word for each device
    set -- "$@" "$(pick "$shares" $(plan_devices "$by"))" "$(pick "$memory" $(plan_devices "$by"))"
    count=$(calculate %d "$expected < 0.3 ? $steps : $steps / 2 + 1")
    needed=$(calculate %.0f "6 + $count * $expected")
    worth "$needed" "$3, $2 samples" || return 0
    say "$2 samples: $3"
    # What was run before by the same plan on the same ranks is not run again.
    for earlier in 0 all 01; do
        if [ "$1" = planned ] && cmp -s "$by" "plans/$earlier-$2.json" && [ -s "runs/$earlier-$2/summary.json" ]; then
            run=$earlier-$2
        fi
    done
    if [ "$run" = "$1-$2" ]; then
        on_ranks $((30 + 3 * needed)) "$4" "$5" train --weights case --data case/tokens.bin --eval-part 0% --eval-every 0 \
            --seq "$sequence" --batch "$2" --precision bf16 --rate 3e-4 --rate-rule constant --warmup 0 --seed 1 \
            --save-every 0 --keep 0 --log-every 1 --steps "$count" --plan "$by" --cluster "$cluster" --profile "$profile" \
            --quiet --out "runs/$run" >"runs/$run.txt" 2>&1 || true
    fi
    if [ ! -s "runs/$run/summary.json" ]; then
        add_row "$2" yoke "$1" "$3" '' "$expected" '' '' '' '' "failed: $(last_words "runs/$run.txt")"
        return
    fi
    summary=runs/$run/summary.json
    wrong=$(wrong_numbers "runs/$run/metrics.jsonl")
    if [ -n "$wrong" ]; then
        add_row "$2" yoke "$1" "$3" "$(of_ranks "$summary" share)" "$expected" '' '' '' '' \
            "failed: $wrong (a step took $(calculate %.1f "1000 * $(settled "runs/$run/metrics.jsonl")") ms)"
        return
    fi
    [ -s "$reference" ] || cp "runs/$run/metrics.jsonl" "$reference"
    add_row "$2" yoke "$1" "$3" "$(of_ranks "$summary" share)" "$(number "$summary" predicted_step_s)" \
        "$(settled "runs/$run/metrics.jsonl")" "$(of_ranks "$summary" predicted_peak_bytes)" \
        "$(of_ranks "$summary" peak_bytes)" "$(loss_difference "$reference" "runs/$run/metrics.jsonl")" \
        "$(sed -n 's/.*"summary":"\([^"]*\)".*/\1/p' "$said-result.json" | head -n 1)"
}

# ---- PyTorch's ----
# Best of all that is tried. Compiling takes a minute, so that some of what needs none comes first; what needs the same code
# compiled stands together.
pieces=blocks whole=whole fewer=$((steps / 2 + 1)) even=$((small / 3)) large_even=$((large / 3))
[ -z "$pretend" ] || pieces=eager whole=eager
torch_settings() {
    echo "weighted-bf16-eager:ddp-bf16:$by_percent_small:1:eager"
    echo "large-weighted-bf16-eager:ddp-bf16:$by_percent_large:$accumulate:eager:$fewer"
    echo "alone-halves:alone:$small/0/0:2:$pieces"
    echo "large-alone:alone:$large/0/0:$((2 * accumulate)):$pieces:$fewer"
    echo "weighted-bf16:ddp-bf16:$by_percent_small:1:$pieces"
    echo "large-weighted-bf16:ddp-bf16:$by_percent_large:$accumulate:$pieces:$fewer"
    [ "$quick" = 0 ] || return 0
    echo "weighted-fsdp2:fsdp2-kept:$by_percent_small:1:$pieces"
    echo "large-weighted-fsdp2:fsdp2-kept:$by_percent_large:$accumulate:$pieces:$fewer"
    echo "even:ddp:$even/$even/$even:1:eager"
    echo "weighted:ddp:$by_percent_small:1:eager"
    echo "even-fsdp2:fsdp2:$even/$even/$even:1:eager"
    echo "weighted-fsdp2-eager:fsdp2:$by_percent_small:1:eager"
    echo "alone-whole:alone:$small/0/0:1:$whole"
    echo "pair-bf16:ddp-bf16:$pair_small:1:$pieces"
    echo "large-pair-bf16:ddp-bf16:$pair_large:$accumulate:$pieces:$fewer"
    echo "large-even-bf16:ddp-bf16:$large_even/$large_even/$large_even:$accumulate:eager:$fewer"
}
torch_words() { # WAY COMPILE LABEL
    case $1 in
    alone) words='device 0 alone' ;;
    ddp) words=DDP ;;
    ddp-bf16) words='DDP, gradients sent in bf16' ;;
    fsdp2) words='FSDP2, resharded after forward' ;;
    *) words='FSDP2, kept until backward' ;;
    esac
    [ "$2" = eager ] || words="$words, compiled"
    echo "$words"
}
torch_rows() { # LABEL SETTINGS
    label=$1 settings=$2 lines=torch-$1.jsonl
    torch_device=cuda torch_precision=bf16
    [ -z "$pretend" ] || torch_device=cpu torch_precision=fp32
    if [ "$python" = none ] || ! "$python" -c 'import torch, numpy' 2>torch.txt; then
        add_row "$small" PyTorch "$label" 'DDP and FSDP2' '' '' '' '' '' '' 'not measured: there is no Python with torch here'
        return
    fi
    limit=$(by_length 75 110)
    [ "$full" = 0 ] || limit=300
    worth 40 "PyTorch, $label" || return 0
    [ "$limit" -le $((time_limit - $(elapsed))) ] || limit=$((time_limit - $(elapsed)))
    say "PyTorch, $label: at most $limit s"
    # shellcheck disable=SC2086 # one word for each setting
    TORCHINDUCTOR_COMPILE_THREADS=5 on_torch_ranks "$limit" "$shares" "$memory" "$python" "$here/../../bench/lab/torch_dp.py" --model case --data case/tokens.bin --out "$lines" \
        --seq "$sequence" --steps "$steps" --device "$torch_device" --precision "$torch_precision" --label "$label" \
        $settings >"torch-$label.txt" 2>&1 || say "PyTorch ended early: $(last_words "torch-$label.txt")"
    for setting in $settings; do
        torch_row "$setting"
    done
}
torch_row() { # SETTING
    name=${1%%:*} way=$(echo "$1" | cut -d : -f 2) parts=$(echo "$1" | cut -d : -f 3)
    words=$(torch_words "$way" "$(echo "$1" | cut -d : -f 5)" "$label")
    many=$(echo "$1" | cut -d : -f 4)
    batch=$(calculate %d "$(echo "$parts" | tr / +)")
    grep "\"name\": \"$name\"" "$lines" 2>/dev/null | grep -v '"begun"' | tail -n 1 >torch-line || true
    step_s=$(number torch-line median_step_s || true)
    if [ -z "$step_s" ]; then
        why=$(sed -n 's/.*"error": *"\(.*\)"}.*/\1/p' torch-line | cut -c 1-300)
        [ -s torch-line ] || why='not reached in its time'
        add_row "$batch" PyTorch "$name" "$words" "$parts" '' '' '' '' '' "failed: $why"
        return
    fi
    held=$(sed 's/.*"reserved_bytes": *\[\([^]]*\)\].*/\1/; s/, */\//g' torch-line)
    # Its losses as lines like those of yoke.
    sed 's/.*"losses": *\[\([^]]*\)\].*/\1/; s/, */\n/g' torch-line |
        awk '{ printf "{\"step\": %d, \"loss\": %s}\n", NR, $1 }' >"runs/torch-$name.jsonl"
    difference=
    [ ! -s "reference-$batch.jsonl" ] || difference=$(loss_difference "reference-$batch.jsonl" "runs/torch-$name.jsonl")
    remark=
    [ "$many" = 1 ] || remark="$many micro-batches"
    add_row "$batch" PyTorch "$name" "$words" "$parts" '' "$step_s" '' "$held" "$difference" "$remark"
}

# ---- each group alone on a part of the data ----
make_text() { # its last tenth is for evaluation; a first line with all of its characters gives every part the same vocabulary
    if [ -n "$text" ]; then
        cp "$text" all.txt
    else
        find "$here/../../src/" -name '*.[ch]' | LC_ALL=C sort | while read -r file; do cat "$file"; done |
            head -c "$text_bytes" | sed '$d' >all.txt
    fi
    lines=$(wc -l <all.txt)
    tail -n +$((lines * 9 / 10 + 1)) all.txt >held-out.txt
    {
        LC_ALL=C.UTF-8 grep -o . all.txt | LC_ALL=C.UTF-8 sort -u | tr -d '\n'
        echo
        head -n $((lines * 9 / 10)) all.txt
    } >text.txt
    rm all.txt
}
train_group() { # RUN SECONDS SHARES WORD…
    run=$1 group_s=$2 group_shares=$3
    shift 3
    on_ranks "$group_s" "$group_shares" "$(echo "$group_shares" | sed 's/[0-9.]*/16G/g')" train --model "$group_model" \
        --seq "$group_sequence" --batch "$group_batch" --precision bf16 --data text.txt --eval-data held-out.txt --eval-every 0 \
        --eval-samples 256 --save-every 0 --keep 0 --log-every 1 --warmup 10 --rate 2e-3 --rate-rule constant --seed 1 --quiet \
        --out "runs/$run" "$@" >"runs/$run.txt" 2>&1
}
measure_group() { # NAME SHARES
    on_ranks 45 "$2" "$(echo "$2" | sed 's/[0-9.]*/16G/g')" profile --model runs/one-step/config.json \
        --seq "$group_sequence" --batch "$group_batch" --precision bf16 --seconds "$(by_length 2 3)" --profile "profile-$1.db" \
        --cluster-out "cluster-$1.json" --quiet >"profile-$1.txt" 2>&1 && [ -s "cluster-$1.json" ]
}
# Seconds of all steps but the first, which finds the fastest algorithms.
after_first() { # METRICS
    sed -n '/"loss"/s/.*"seconds": *\([-+0-9.e]*\).*/\1/p' "$1" | awk 'NR > 1 { sum += $1 } END { printf "%.6g", sum }'
}
# A row of ./groups: group, part in percent, steps, seconds and predicted ones without the first step, training loss (mean of
# the last ten steps), evaluation loss.
group_rows() {
    wanted 'the strong group on part of the data' 'the weak group on part of the data' 'each group alone' || return 0
    has_time 20 'each group alone on a part of the data' || return 0
    make_text
    train_group one-step 60 "$(pick "$strong" 0)" --steps 1 --profile none || {
        echo "each group alone: $(last_words runs/one-step.txt)" >>left-out
        return 0
    }
    for group in strong weak; do
        if [ $group = strong ]; then group_shares=$strong; else group_shares=$weak; fi
        say "the $group group: $group_shares"
        set -- --profile none
        if measure_group $group "$group_shares"; then
            set -- --profile "profile-$group.db" --cluster "cluster-$group.json"
        fi
        for part in $group_parts; do
            has_time 9 "the $group group on $part % of the data" || continue
            run=$group-$part summary=runs/$group-$part/summary.json
            train_group "$run" 90 "$group_shares" --data-part "$part%" --epochs 1 "$@" || true
            if [ ! -s "$summary" ]; then
                echo "the $group group on $part % of the data: $(last_words "runs/$run.txt")" >>left-out
                continue
            fi
            printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$group" "$part" "$(number "$summary" steps_done)" \
                "$(after_first "runs/$run/metrics.jsonl")" \
                "$(calculate %.6g "($(number "$summary" steps_done) - 1) * $(number "$summary" predicted_step_s)")" \
                "$(losses x "runs/$run/metrics.jsonl" | tail -n 10 | awk '{ sum += $3 } END { printf "%.4f", sum / NR }')" \
                "$(number "$summary" evaluation_loss)" >>groups
        done
    done
}
