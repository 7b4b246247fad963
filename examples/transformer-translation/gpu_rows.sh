# Read by ./gpu (". …/gpu_rows.sh"): ranks, plans, rows, tables. Variables are those of ./gpu.
# shellcheck shell=sh disable=SC2154
what_ran='four CPU ranks, to try the script: these figures mean nothing'
[ -n "$pretend" ] || what_ran="four parts of one GPU ($shares % of its SMs, $memory each) under MPS: emulated. MPS divides SMs and memory, not DRAM bandwidth, L2 or the link, which is NCCL over loopback sockets"

# ---- ranks ----
team=$ranks # how many of the parts take part
on_team() { # SECONDS VERB WORD…
    limit=$1 verb=$2
    shift 2
    on_ranks "$limit" "$(echo "$shares" | cut -d , -f "-$team")" "$(echo "$memory" | cut -d , -f "-$team")" "$verb" "$@"
}

# ---- times, plans ----
profile() { # SECONDS SAMPLES-OF-A-RANK PRECISIONS
    on_team "$1" profile --model "$model" --seq "$seq" --batch "$2" --precision "$3" --seconds "${PROFILE_SECONDS:-5}" \
        --profile profile.db --cluster-out cluster.json --quiet >>profile.txt 2>&1
}
# Without measurements, times are those of datasheets, and the table says so.
measure_parts() {
    : >profile.txt
    cluster=cluster.json profile=profile.db times='measured here'
    if [ -s "${PROFILES:-}/profile.db" ] && [ -s "$PROFILES/cluster.json" ]; then
        say 'as measured in an earlier run'
        cp "$PROFILES/profile.db" "$PROFILES/cluster.json" .
        times='measured here in an earlier run'
        return
    fi
    if ! profile "$(by_length 40 60)" $((large / ranks)) bf16 ||
        { [ "$quick" = 0 ] && ! profile 60 $((samples / ranks)) fp16,fp32; }; then
        say "measuring ended early: $(last_words profile.txt)"
        times='measured here, not all of them: there was no time for the rest'
    fi
    if [ ! -s cluster.json ] || [ ! -s profile.db ]; then
        profile=none times='of datasheets, since measuring failed'
        cluster='4x(1xh200:25%:24GiB) @ 25GbE'
        [ -z "$pretend" ] || cluster=4xcpu:1
    fi
}
plan() { # NAME PRECISION MICRO-BATCHES SAMPLES-OF-ONE WORD…
    plan_name=$1 plan_precision=$2 micro=$3 batch=$(($3 * $4))
    shift 4
    "$yoke" plan --model "$model" --seq "$seq" --batch "$batch" --micro-batches "$micro" --precision "$plan_precision" \
        --cluster "$cluster" --profile "$profile" --clip --quiet --json -o "plans/$plan_name.json" "$@" \
        >"plans/$plan_name.txt" 2>&1 || say "plan $plan_name: $(last_words "plans/$plan_name.txt")"
}
edit() { # FROM TO SED
    if sed "$3" "plans/$1.json" >plans/edited; then mv plans/edited "plans/$2.json"; fi
}
# Data parallelism as DDP has it.
plan_usual() { # NAME PRECISION MICRO-BATCHES SAMPLES-OF-ONE
    plan "$@" --only block --strategy replicated
    edit "$1" "$1" 's/"bucket": "[^"]*"/"bucket": "25MiB"/'
}
train() { # SECONDS NAME PLAN PRECISION TOKENS STEPS WORD…
    train_limit=$1 run=$2 by=$3 in=$4 all_tokens=$5 count=$6
    shift 6
    on_team "$train_limit" train --model "$model" --tokenizer tokenizer.json --data "$source" --target "$target" \
        --faulty skip --longest "$longest" --eval-part 0% --eval-every 0 --batch-tokens "$all_tokens" --seq "$seq" \
        --precision "$in" --plan "plans/$by.json" --cluster "$cluster" --profile "$profile" --steps "$count" \
        --beta2 0.98 --epsilon 1e-9 --decay 0.01 --label-smoothing 0.1 --save-every 0 --quiet \
        --out "runs/$run" "$@" >"runs/$run.txt" 2>&1
}

# ---- yoke's rows ----
second_half() { # RUN KEY: the middle of its second half
    sed -n "/\"loss\"/s/.*\"$2\": *\([-+0-9.e]*\).*/\1/p" "runs/$1/metrics.jsonl" |
        awk '{ v[NR] = $1 } END { for (i = int(NR / 2) + 1; i <= NR; i++) print v[i] }' | median
}
of_ranks() { # RUN KEY: of every rank, one a line; of a run of one rank, its own
    if ! grep -q '"ranks":' "runs/$1/summary.json"; then
        case $2 in
        peak_bytes) grep -o '"\(device\|peak\)_bytes": *[0-9.e+]*' "runs/$1/summary.json" | sort | sed -n '1s/.*://p' ;;
        predicted_peak_bytes) number "runs/$1/summary.json" planned_bytes ;;
        *) echo 0 ;;
        esac
        return
    fi
    sed 's/.*"ranks": *\[//' "runs/$1/summary.json" | grep -o "\"$2\": *[-+0-9.e]*" | sed 's/.*://; s/ //g'
}
largest() { sort -g | tail -n 1; }
what_binds() { sed -n '/class="binds"/,/<\/div>/s/^<p>\(.*\)<\/p>.*/\1/p' "runs/$1/report.html" | head -n 1; }
# gpu_table.awk says which fields a row has.
row() { # PART NAME PLAN PRECISION MICRO-BATCHES SAMPLES-OF-ONE WORDS OPTION…
    part=$1 row=$2 row_plan=$3 row_precision=$4 row_micro=$5 row_tokens=$(($6 * seq)) words=$7
    shift 7
    worth 9 "$words" || return 0
    say "$words"
    if train "$(by_length 30 45)" "$row" "$row_plan" "$row_precision" $((row_micro * row_tokens)) "$row_steps" --rate 5e-4 \
        --rate-rule constant --warmup 0 --keep 0 "$@" && [ -s "runs/$row/summary.json" ]; then
        printf '%s\t' "$part" "$row" "$words" "$row_precision" "$row_micro" "$row_tokens" "$(second_half "$row" seconds)" \
            "$(number "runs/$row/summary.json" predicted_step_s)" "$(second_half "$row" tokens_per_s)" \
            "$(of_ranks "$row" peak_bytes | head -n 1)" "$(of_ranks "$row" peak_bytes | largest)" \
            "$(of_ranks "$row" predicted_peak_bytes | head -n 1)" "$(of_ranks "$row" predicted_peak_bytes | largest)" \
            "$(of_ranks "$row" exposed_s | largest)" "$(of_ranks "$row" predicted_exposed_s | largest)"
        what_binds "$row"
    else
        printf '%s\t' "$part" "$row" "$words" "$row_precision" "$row_micro" "$row_tokens" '' '' '' '' '' '' '' '' ''
        echo "failed: $(last_words "runs/$row.txt")"
    fi >>rows
}

# What a plan that may leave parts out comes to, where it does; the parts are equal.
row_free() { # NAME SAMPLES WORDS
    wanted "$3, on some of $ranks parts" || return 0
    has_time 12 "$3, free to leave parts out" || return 0
    plan "$1" bf16 1 "$2" --trials 300
    team=$(grep -c '{"device": ' "plans/$1.json" || :)
    if [ "$team" -lt "$ranks" ] && [ "$team" -gt 0 ]; then
        row free "$1" "$1" bf16 1 "$2" "$3, on $team of $ranks parts"
    fi
    team=$ranks
}

# ---- PyTorch's ----
setting() { # WORDS-OF-YOKE'S-ROW NAME PRECISION MICRO-BATCHES TOKENS-OF-ONE MORE
    wanted "$1" 'all rows of PyTorch' || return 0
    shift
    printf '{"name": "%s", "precision": "%s", "micro": %s, "tokens": %s, %s}\n' "$1" "$2" "$3" "$4" "$5" >>settings.jsonl
}
measure_torch() {
    : >torch.jsonl
    torch_said='' device=cuda
    [ -z "$pretend" ] || device=cpu
    if [ "$python" = none ] || ! "$python" -c 'import torch, tokenizers' 2>torch.txt; then
        torch_said='not measured: there is no Python with torch and tokenizers here'
        return
    fi
    if [ ! -s settings.jsonl ] || ! has_time 35 'rows of PyTorch'; then
        torch_said="not measured: ${ONLY:+it was not asked for, or }there was no time for it"
        return
    fi
    torch_limit=$(by_length 60 160)
    [ "$torch_limit" -le $((time_limit - $(elapsed))) ] || torch_limit=$((time_limit - $(elapsed)))
    say "rows of PyTorch: at most $torch_limit s"
    on_torch_ranks "$torch_limit" "$shares" "$memory" "$python" "$here/../../bench/lab/torch_translation_dp.py" settings.jsonl --model "$model" \
        --tokenizer tokenizer.json --source "$source" --target "$target" --longest "$longest" --device "$device" \
        --steps "$row_steps" --warmup 1 --out torch.jsonl >torch.txt 2>&1 ||
        torch_said="ended early, after $(grep -c . torch.jsonl || :) of $(grep -c . settings.jsonl) settings: $(last_words torch.txt)"
}

# ---- BLEU ----
train_for_bleu() { # PRECISION
    train "$(by_length 40 90)" "bleu-$1" "bleu-$1" "$1" $((small * seq)) "$steps" --rate "$rate" --rate-rule inverse-root \
        --warmup "$warmup" --dropout 0.1 --keep 1 || say "$1 did not come to its end: $(last_words "runs/bleu-$1.txt")"
}
translate_all() {
    for run in runs/bleu-*/; do
        run=${run%/}
        [ -s "$run/summary.json" ] || continue
        timeout 60 "$yoke" translate "$run" "$test_source" --bleu "$test_target" -o "$run/translated" --quiet >"$run/bleu.txt" 2>&1 &
    done
    wait
    for run in runs/bleu-*/; do
        run=${run%/}
        [ -s "$run/summary.json" ] || continue
        printf '%s\t' "${run#runs/bleu-}" "$(number "$run/summary.json" steps_done)" "$(number "$run/summary.json" tokens)" \
            "$(number "$run/summary.json" seconds)" "$(number "$run/summary.json" last_loss)"
        sed -n 's/^BLEU = \([0-9.]*\).*/\1/p' "$run/bleu.txt" | grep . || echo '–'
        rm -rf "$run/checkpoints"
    done >>bleu.rows
}

# ---- tables, files, page ----
parameters_of() {
    for summary in runs/*/summary.json; do
        [ ! -s "$summary" ] || { number "$summary" parameters && return; }
    done
    echo 'unknown'
}
write_results() {
    awk -f "$here/torch_rows.awk" torch.jsonl >torch.rows
    awk -F '\t' -f "$here/gpu_table.awk" torch.rows rows >rows.md
    {
        echo '## What was run'
        echo
        echo "Transformer base ($(parameters_of) parameters), $sentences, on $what_ran. A micro-batch has at most $tokens tokens on either side, filling included; medians of the second half of $row_steps steps; predictions from times $times."
        echo
        cat rows.md
        if [ -s bleu.rows ]; then
            echo '## BLEU'
            echo
            echo "$steps steps of $((small * seq)) tokens a side from nothing, dropout and label smoothing of 0.1; $(wc -l <"$test_source") sentences that were not trained on, four beams."
            echo
            echo '| precision | steps | tokens | seconds | last loss | BLEU |'
            echo '|---|---|---|---|---|---|'
            awk -F '\t' '{ printf "| %s | %d | %d | %.1f | %.4f | %s |\n", $1, $2, $3, $4, $5, $6 }' bleu.rows
            echo
        fi
        [ -z "$torch_said" ] || printf 'PyTorch: %s.\n\n' "$torch_said"
        left_out_words
    } >table.md
    {
        echo 'part,name,words,precision,micro_batches,tokens,step_s,predicted_step_s,tokens_per_s,bytes_rank0,bytes,planned_bytes_rank0,planned_bytes,exposed_s,predicted_exposed_s,binds'
        awk -F '\t' '{ for (i = 1; i <= 16; i++) { gsub(/"/, "", $i); printf "%s%s", (i > 1 ? "," : ""), ($i ~ /[, ]/ ? "\"" $i "\"" : $i) } print "" }' rows
    } >results.csv
    {
        printf '{"yoke":1,"kind":"transformer-translation","emulated":true,"ran_on":"%s","sentences":"%s","tokens":%s,"sequence":%s,"times":"%s",\n "rows":[' \
            "$what_ran" "$sentences" "$tokens" "$seq" "$times"
        awk -F '\t' -f "$here/gpu_json.awk" rows
        printf '],\n "torch":['
        awk '{ printf "%s\n  %s", (NR > 1 ? "," : ""), $0 }' torch.jsonl
        printf '],\n "bleu":['
        awk -F '\t' '{ printf "%s\n  {\"precision\":\"%s\",\"steps\":%d,\"tokens\":%d,\"seconds\":%s,\"last_loss\":%s,\"bleu\":%s}", (NR > 1 ? "," : ""), $1, $2, $3, $4, $5, ($6 == "–" ? "null" : $6) }' bleu.rows
        printf ']}\n'
    } >results.json
    write_page >index.html
}
bars() { awk -F '\t' -f "$here/../common/bars.awk" "$@"; }
write_page() {
    begin_page 'A Transformer that translates, on four equal parts of a GPU' "$what_ran."
    echo '<section class="charts">'
    awk -F '\t' -v OFS='\t' '$7 != "" { print $3, 1000 * $7, 1000 * $8 }' rows | bars -v title='A step' -v unit=ms
    awk -F '\t' -v OFS='\t' 'FILENAME == "torch.rows" { other[$1] = $6; next }
        $9 != "" { print $3, $9 / 1000 }
        other[$2] != "" { print "PyTorch", other[$2] / 1000 }' torch.rows rows |
        bars -v title='Thousand tokens a second' -v unit=k
    echo '</section>'
    tables <table.md
    end_page
}
