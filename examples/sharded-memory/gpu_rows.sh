# Read by ./gpu (". …/gpu_rows.sh"): ranks, plans, rows. Variables are those of ./gpu.
# shellcheck shell=sh disable=SC2154,SC2034
# A row of ./rows, with tabs between its fields: laboratory, yoke or FSDP2, name, words, limit in bytes,
# predicted step, measured step, planned and measured bytes of every rank (with / between them), largest
# difference of a loss to one GPU's, the plan in words or why it failed.
by_layer=shares,parts,strategies,block,order,recomputation

# ---- what is trained: the model, and tokens of which low ones are likelier ----
make_case() {
    if [ -n "$pretend" ]; then
        sed 's/50304/512/; s/1600/256/; s/6400/1024/; s/"n_layer": 48/"n_layer": 4/; s/25,/4,/' "$model" >case/config.json
    else
        cp "$model" case/config.json
    fi
    write_tokens $((batch * (fast_steps + 8) * sequence)) "$vocabulary" >case/tokens.bin
}

# ---- ranks ----
enter() { # NAME SHARES MEMORY
    lab_name=$1 lab_shares=$2 lab_memory=$3
    cluster=cluster-$1.json profile=profile-$1.db
    [ -s "$cluster" ] || cluster=$(cluster_line "$2" "$3" 1.7GB/s)
    [ -s "$profile" ] || profile=none
}

# ---- times ----
measure_parts() {
    if [ -s "${PROFILES:-}/profile-$lab_name.db" ] && [ -s "$PROFILES/cluster-$lab_name.json" ]; then
        say "$lab_name parts: as measured in an earlier run"
        earlier="${earlier:-} $lab_name"
        cp "$PROFILES/profile-$lab_name.db" "$PROFILES/cluster-$lab_name.json" .
        [ ! -s "$PROFILES/profile-$lab_name.txt" ] || cp "$PROFILES/profile-$lab_name.txt" .
        enter "$lab_name" "$lab_shares" "$lab_memory"
        return
    fi
    say "$lab_name parts: measuring"
    # Three kinds of parts have more kinds of links than one.
    on_ranks "$([ "$lab_name" = equal ] && echo 75 || echo 100)" "$lab_shares" "$lab_memory" profile --model case/config.json --seq "$sequence" \
        --batch "$([ "$lab_name" = equal ] && echo 2 || echo 4)" --precision bf16 --seconds "$profile_s" ${pretend:+--cluster 4xcpu:1} \
        --profile "profile-$lab_name.db" --cluster-out "cluster-$lab_name.json" --quiet >"profile-$lab_name.txt" 2>&1 ||
        say "measuring ended early: $(last_words "profile-$lab_name.txt")"
    # What was measured by then serves; without any of it times are those of datasheets.
    [ -s "cluster-$lab_name.json" ] || rm -f "profile-$lab_name.db"
    enter "$lab_name" "$lab_shares" "$lab_memory"
}

# ---- plans ----
plan() { # NAME WORD…: plans/LAB-NAME.json, and what is said of it beside it
    planned=$lab_name-$1
    shift
    case " $* " in *' --only '*) set -- --micro-batches 1 "$@" ;; esac
    timeout -k 5 60 "$yoke" plan --model case/config.json --seq "$sequence" --batch "$batch" --precision bf16 \
        --cluster "$cluster" --profile "$profile" --json --quiet -o "plans/$planned.json" "$@" \
        >"plans/$planned-result.json" 2>"plans/$planned.txt" || true
}
splits() { # NAME LIMIT: the plans of some splits of memory in plans/LAB-NAME/, and the curves
    timeout -k 5 60 "$yoke" tradeoff --model case/config.json --seq "$sequence" --batch "$batch" --precision bf16 \
        --cluster "$cluster" --profile "$profile" --memory "$2" --points 6 --budget 2 --json --quiet \
        --plans "plans/$lab_name-$1" >"tradeoff-$lab_name.json" 2>"plans/$lab_name-$1.txt" || true
    timeout -k 5 60 "$yoke" tradeoff --model case/config.json --seq "$sequence" --batch "$batch" --precision bf16 \
        --cluster "$cluster" --profile "$profile" --points 25 --budget 1 --json --quiet \
        >"tradeoff-memory-$lab_name.json" 2>>"plans/$lab_name-$1.txt" || true
}
# The least part for scheduling that fits, and the last but one: percents, with zeros in front.
some_splits() {
    for file in "plans/$lab_name-tradeoff"/split-*.json; do
        [ ! -e "$file" ] || echo "$file"
    done | sed 's/.*split-//; s/\.json//' | awk '{ v[NR] = $1 } END { if (NR) print v[1]; if (NR > 2) print v[NR - 1] }'
}
percent_of() { echo "$1" | awk '{ print $1 + 0 }'; }
largest_of() { sed 's/.*"devices":\[//' "$1" | grep -o '"peak_bytes": *[0-9.e+]*' | sed 's/.*: *//' | sort -g | tail -n 1; }
# Three limits between what two plans need, the middle one first.
limits_between() { # LESS MORE
    less=$(largest_of "plans/$lab_name-$1-result.json") more=$(largest_of "plans/$lab_name-$2-result.json")
    for part in 0.4 0.05 1; do
        calculate '%.0fKiB ' "($less + ($more - $less) * $part) / 1024 + 64"
    done
}

# ---- rows ----
add_row() { # WHO NAME WORDS LIMIT PREDICTED STEP PLANNED MEASURED DIFFERENCE REMARK
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$lab_name" "$@" >>rows
}
# With a limit every rank gets that and a little; else what its part of the laboratory has.
memory_of() { # LIMIT NUMBER…
    limit=$1
    shift
    if [ -n "$limit" ]; then
        calculate %.0fM "$(bytes_of "$limit") * $room / 1048576"
    else
        case $lab_memory in *,*) pick "$lab_memory" "$@" ;; *) echo "$lab_memory" ;; esac
    fi
}
train() { # SECONDS NAME COUNT WORD…: where it is run, and how, comes first
    run=$1 count=$2
    shift 2
    "$@" --model case/config.json --weights random --data case/tokens.bin --eval-part 0% --eval-every 0 --seq "$sequence" \
        --batch "$batch" --precision bf16 --clip 0 --rate 1e-4 --rate-rule constant --warmup 0 --seed 1 \
        --save-every 0 --keep 0 --steps "$count" --quiet --out "runs/$run" >"runs/$run.txt" 2>&1
}
# One GPU, undivided, and all samples on it: what losses are compared with.
reference() {
    say 'one GPU'
    if [ -n "$pretend" ]; then
        set -- "$yoke" train --cluster cpu:1
    else
        set -- timeout -k 5 60 "$yoke" train --device cuda
    fi
    train single "$fast_steps" "$@" --profile none || say "one GPU: $(last_words runs/single.txt)"
}
row() { # NAME WORDS PLAN LIMIT OPTION…
    row_name=$1 words=$2 by=plans/$lab_name-$3.json said=plans/$lab_name-$3 row_limit=$4
    shift 4
    wanted "$lab_name: $words${row_limit:+ within $row_limit}" || return 0
    run=$lab_name-$row_name
    limit_bytes=
    [ -z "$row_limit" ] || limit_bytes=$(bytes_of "$row_limit")
    if [ ! -s "$by" ]; then
        add_row yoke "$row_name" "$words" "$limit_bytes" '' '' '' '' '' "no plan: $(last_words "$said.txt" 2>&1)"
        return
    fi
    if [ -s "$said-result.json" ]; then
        cp "$said-result.json" plans/at-hand.json
    else
        "$yoke" simulate "$by" --model case/config.json --cluster "$cluster" --profile "$profile" --json --quiet >plans/at-hand.json
    fi
    expected=$(number plans/at-hand.json step_s)
    count=$(calculate %.0f "$expected < 0.5 ? $fast_steps : $steps")
    needed=$(calculate %.0f "6 + 1.1 * $count * $expected")
    worth "$needed" "$lab_name: $words${row_limit:+ within $row_limit}" || return 0
    say "$lab_name: $words${row_limit:+ within $row_limit}"
    # shellcheck disable=SC2046 # one word for each device
    if train "$run" "$count" on_ranks $((20 + 3 * needed)) "$(pick "$lab_shares" $(plan_devices "$by"))" \
        "$(memory_of "$row_limit" $(plan_devices "$by"))" train --plan "$by" --cluster "$cluster" --profile "$profile" "$@" &&
        [ -s "runs/$run/summary.json" ]; then
        difference=
        wrong=$(wrong_numbers "runs/$run/metrics.jsonl")
        [ -z "$wrong" ] || say "$wrong"
        [ ! -s runs/single/metrics.jsonl ] || difference=$(loss_difference runs/single/metrics.jsonl "runs/$run/metrics.jsonl")
        add_row yoke "$row_name" "$words" "$limit_bytes" "$(number "runs/$run/summary.json" predicted_step_s)" \
            "$(settled "runs/$run/metrics.jsonl")" "$(of_ranks "runs/$run/summary.json" predicted_peak_bytes)" \
            "$(of_ranks "runs/$run/summary.json" peak_bytes)" "$difference" \
            "$(sed -n 's/.*"summary":"\([^"]*\)".*/\1/p' plans/at-hand.json | head -n 1)"
    else
        add_row yoke "$row_name" "$words" "$limit_bytes" "$expected" '' '' '' '' "failed: $(last_words "runs/$run.txt")"
    fi
    rm -rf "runs/$run/checkpoints"
}

# ---- PyTorch's ----
torch_rows() { # LABEL STEPS SETTINGS
    label=$1 torch_steps=$2 settings=$3 lines=torch-$lab_name-$1.jsonl
    torch_device=cuda torch_precision=bf16
    [ -z "$pretend" ] || torch_device=cpu torch_precision=fp32
    if [ "$python" = none ] || ! "$python" -c 'import torch, numpy' 2>torch.txt; then
        add_row FSDP2 "$label" "FSDP2" '' '' '' '' '' '' 'not measured: there is no Python with torch here'
        return
    fi
    worth "$(calculate %.0f "12 + 2.3 * $torch_steps * $(echo "$settings" | wc -w)")" "$lab_name: FSDP2, $label" || return 0
    say "$lab_name: FSDP2, $label"
    # shellcheck disable=SC2086 # one word for each setting
    on_torch_ranks 90 "$lab_shares" "$lab_memory" "$python" "$here/../../bench/lab/torch_dp.py" --model case --data case/tokens.bin --out "$lines" \
        --seq "$sequence" --steps "$torch_steps" --clip 0 --device "$torch_device" --precision "$torch_precision" \
        $settings >torch.txt 2>&1 || say "FSDP2 ended early: $(last_words torch.txt)"
    for setting in $settings; do
        torch_row "${setting%%:*}" "$label" "$lines"
    done
}
torch_row() { # NAME LABEL LINES
    words='FSDP2, resharded after forward'
    [ "$1" = fsdp2 ] || words='FSDP2, kept until backward'
    [ "$1" != fsdp2-kept-recomputed ] || words="$words, blocks recomputed"
    grep "\"name\": \"$1\"" "$3" 2>/dev/null | grep -v '"begun"' | tail -n 1 >torch-line || true
    step_s=$(number torch-line median_step_s || true)
    if [ -n "$step_s" ]; then
        held=$(sed 's/.*"allocated_bytes": *\[\([^]]*\)\].*/\1/; s/, */\//g' torch-line)
        reserved=$(sed 's/.*"reserved_bytes": *\[\([^],]*\).*/\1/' torch-line)
        wrong=
        ! grep -q NaN torch-line || wrong='its losses are not numbers'
        add_row FSDP2 "$1-$2" "$words" '' '' "$step_s" '' "$held" "$wrong" \
            "allocated; $(calculate %.2f "$reserved / 1073741824") GiB reserved by its allocator"
    else
        add_row FSDP2 "$1-$2" "$words" '' '' '' '' '' '' \
            "failed: $(sed -n 's/.*"error": *"\([^"]*\)".*/\1/p' torch-line | grep . || last_words torch.txt)"
    fi
}
