# Read by ./gpu (". …/gpu_page.sh"): what came out, as tables, files and a page. Rows are as
# gpu_rows.sh says. Variables are those of ./gpu.
# shellcheck shell=sh disable=SC2154
tolerance=0.02 # of a loss in bf16: gradients are summed in another order, and rounded to 8 bits
what_ran() { # LAB
    if [ -n "$pretend" ]; then
        echo 'four CPU ranks, to try the script: these figures mean nothing'
    else
        case $1 in equal) pretty="$equal_shares % of its SMs, $equal_memory" ;; *) pretty="$unequal_shares % of its SMs, $unequal_memory" ;; esac
        echo "four parts of one GPU ($pretty) under MPS: emulated. MPS divides SMs and memory, not DRAM bandwidth, L2 or the link, which is NCCL over loopback sockets"
    fi
}

# What the two kinds of tables have in common.
row_functions="$row_functions"'
    function told(who, name, words) { if (who != "yoke" || name !~ /^(free|layers|random)/) return ""; sub(/^data-parallel on [0-9]+ devices, /, "", words); return " (" words ")" }'
lab_table() { # LAB
    echo '| layers | limit, GiB | step, ms | predicted, ms | off by | memory of each rank, GiB | planned, GiB | off by | loss differs by |'
    echo '|---|---|---|---|---|---|---|---|---|'
    awk -F '\t' -v lab="$1" "$row_functions"'
        $1 == lab && $7 == "" { printf "| %s | %s | %s | %s | – | – | – | – | – |\n", $4, gib($5), $11, ms($6); next }
        $1 == lab { printf "| %s%s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $4, told($2, $3, $11), gib($5), ms($7), ms($6), off($6, $7), each($9), each($8),
            ($8 == "" ? "–" : off(most($8), most($9))), ($10 == "" ? "–" : $10) }' rows
}
# What a process holds besides what it trains (the context, NCCL), as it was measured; FSDP2's tensors are without it.
context_bytes() { # LAB: of the part that holds most
    for holds in $(sed -n 's/.*a process holds \([0-9.]*[KMG]iB\) besides.*/\1/p' "profile-$1.txt" 2>/dev/null) 0GiB; do
        bytes_of "$holds"
        echo
    done | sort -g | tail -n 1
}
# For every row of FSDP2, the fastest of yoke that held no more: with data parallelism alone, and at all. On unequal
# parts, where FSDP2 leaves the memory of the large ones empty, no more than there is.
beside_table() { # LAB
    awk -F '\t' -v lab="$1" '$1 == lab && $2 == "FSDP2" && $7 != "" { found = 1 } END { exit !found }' rows || {
        echo 'FSDP2 was not measured here.'
        return
    }
    context=$(context_bytes "$1")
    if [ "$context" -gt 0 ]; then
        echo "FSDP2's memory is here with the $(calculate %.2f "$context / 1073741824") GiB that a process holds besides its tensors, as measured of yoke's."
    else
        echo "FSDP2's memory is that of its tensors alone: what a process holds besides them was not measured."
    fi
    echo
    echo '| FSDP2 | memory, GiB | step, ms | sharded by yoke in no more | step, ms | times as fast | planned freely in no more | step, ms | times as fast |'
    echo '|---|---|---|---|---|---|---|---|---|'
    awk -F '\t' -v lab="$1" -v context="$context" "$row_functions"'
        function best(held, free, i, found) {
            for (i = 1; i <= n; i++) if (who[i] == "yoke" && (free || name[i] !~ /^free/) && most(memory[i]) <= held && (!found || step[i] < step[found])) found = i
            return found
        }
        function tell(i) { return i ? sprintf("%s, %s GiB | %s | %.2f", words[i], gib(most(memory[i])), ms(step[i]), step[f] / step[i]) : "none | – | –" }
        $1 == lab && $7 != "" { n++; who[n] = $2; name[n] = $3; words[n] = $4; step[n] = $7; memory[n] = $9; wrong[n] = $10 }
        END { for (f = 1; f <= n; f++) if (who[f] == "FSDP2") {
            held = most(memory[f]) + context
            room = lab == "equal" ? held : 1e30
            printf "| %s%s | %s | %s | %s | %s |\n", words[f], (wrong[f] == "" ? "" : ", " wrong[f]), gib(held), ms(step[f]), tell(best(room, 0)), tell(best(room, 1)) } }' rows
}
predicted_well() {
    awk -F '\t' "$row_functions"'
        $2 == "yoke" && $7 != "" && $6 != "" { n++; e = $6 / $7 - 1; if (e < 0) e = -e; near += e <= 0.1
            m = most($8) / most($9) - 1; if (m < 0) m = -m; tight += m <= 0.03 }
        $2 == "yoke" && $11 ~ /^failed/ { bad++ }
        END { if (n) printf "Of %d rows that ran, %d steps were predicted within 10 %% and %d memories within 3 %%; %d failed.\n", n, near, tight, bad }' rows
}
write_table() {
    labs=$(cut -f 1 rows | awk '!seen[$1]++')
    for lab_told in $labs; do
        echo "## Four $lab_told parts"
        echo
        echo "$(basename "$model" .json) ($(parameters) parameters) in bf16, $batch samples of $sequence tokens a step, on $(what_ran "$lab_told"). Steps are medians of the second half of $steps (of $fast_steps where a step takes less than half a second); predictions are from times $(origin_of_times "$lab_told"). Of yoke, memory is all that a process has on the GPU, its context included; of FSDP2, what tensors took at most. Losses are compared with those of one GPU."
        echo
        lab_table "$lab_told"
        echo
        echo "## Four $lab_told parts beside FSDP2 in $([ "$lab_told" = equal ] && echo 'the same memory' || echo 'the memory there is')"
        echo
        beside_table "$lab_told"
        echo
    done
    echo '## How well it was predicted'
    echo
    predicted_well
    shuffle_words
    left_out_words
}
parameters() { find runs -name summary.json | head -n 1 | while read -r file; do number "$file" parameters; done; }
shuffle_words() {
    for run in runs/equal-shuffled-*/; do
        plan_run=runs/equal-layers-$split_limit
        [ ! -s "$run/metrics.jsonl" ] || [ ! -s "$plan_run/metrics.jsonl" ] ||
            echo "The shuffled program's losses differ from those of the plan's own by $(loss_difference "$plan_run/metrics.jsonl" "$run/metrics.jsonl")."
    done
}

# ---- charts ----
lines() { awk -F '\t' -f "$here/../common/lines.awk" "$@"; }
list_of() { sed -n "s/.*\"$2\":\[\([^]]*\)\].*/\1/p" "$1" | tr ',' '\n'; } # FILE KEY
curve() { # SERIES FILE X-KEY Y-KEY X-SCALE: rows of a chart
    [ -s "$2" ] || return 0
    list_of "$2" "$3" >x.list
    list_of "$2" "$4" >y.list
    paste x.list y.list | awk -v OFS='\t' -v series="$1" -v scale="$5" '$2 != "null" { print series, $1 * scale, 1000 * $2 }'
    rm -f x.list y.list
}
memory_chart() { # LAB
    {
        awk -F '\t' -v OFS='\t' -v lab="$1" "$row_functions"'
            $1 != lab || $7 == "" { next }
            $2 == "FSDP2" { print "1 PyTorch FSDP2 alone", most($9) / 1073741824, 1000 * $7; next }
            $3 ~ /^layers/ { at = ($5 == "" ? most($9) : $5) / 1073741824; print "2 a strategy for each layer", at, 1000 * $7; print "3 a strategy for each layer predicted", at, 1000 * $6; next }
            $3 ~ /^free/ { at = ($5 == "" ? most($9) : $5) / 1073741824; print "4 pipelines too", at, 1000 * $7; print "5 pipelines too predicted", at, 1000 * $6; next }
            $3 !~ /^(split|shuffled|integer)/ { print "6 one strategy for all alone", most($9) / 1073741824, 1000 * $7, $3 }' rows
        curve '7 kept or fully-sharded predicted' "tradeoff-memory-$1.json" memory_bytes joint_of_memory_s 9.313225746154785e-10
    } | sort -s -t "$tab" -k 1,1.1 -k 2,2g | sed 's/^[0-9] //' |
        lines -v title="Four $1 parts: a step" -v across='memory of a rank, GiB (of plans: the limit)' -v up='ms' -v zero=yes
}
split_chart() {
    {
        curve '2 one, then the other predicted' tradeoff-equal.json part split_s 100
        awk -F '\t' -v OFS='\t' '$1 == "equal" && $3 ~ /^split-/ && $7 != "" { percent = $3; sub(/split-/, "", percent); print "1 one, then the other", percent + 0, 1000 * $7 }' rows
    } | sort -s -t "$tab" -k 1,1.1 -k 2,2g | sed 's/^[0-9] //' |
        lines -v title="The split of ${split_limit:-memory}: a step" -v across='% of free memory for scheduling' -v up='ms'
}
write_page() {
    begin_page 'Step time against memory, on GPUs' "$(basename "$model" .json) on $(what_ran equal)."
    echo '<section class="charts">'
    for lab_told in $labs; do memory_chart "$lab_told"; done
    split_chart
    echo '</section>'
    tables <table.md
    echo '<section><h2>Pages of the runs</h2><p>'
    for page in runs/*/report.html; do
        [ ! -e "$page" ] || printf '<a href="%s">%s</a> ' "$page" "$(basename "$(dirname "$page")")"
    done
    echo '</p></section>'
    end_page
}

write_results() {
    write_table >table.md
    {
        echo 'parts,who,name,words,limit_bytes,predicted_step_s,step_s,planned_bytes,bytes,loss_differs_by,remark'
        awk -F '\t' '{ for (i = 1; i <= 11; i++) { gsub(/"/, "", $i); printf "%s%s", (i > 1 ? "," : ""), ($i ~ /[, ]/ ? "\"" $i "\"" : $i) } print "" }' rows
    } >results.csv
    {
        printf '{"yoke":1,"kind":"sharded-memory","form":"gpu","emulated":true,"batch":%s,"sequence":%s,\n "rows":[' "$batch" "$sequence"
        awk -F '\t' '
            function value(x) { return x ~ /^[-+0-9.e]+$/ ? x : "null" }
            function list(x) { gsub("/", ",", x); return "[" x "]" }
            function words(x) { gsub(/[\\"]/, "", x); return "\"" x "\"" }
            { printf "%s\n  {\"parts\":\"%s\",\"who\":\"%s\",\"name\":\"%s\",\"words\":%s,\"limit_bytes\":%s,\"predicted_step_s\":%s,\"step_s\":%s,\"planned_bytes\":%s,\"bytes\":%s,\"loss_differs_by\":%s,\"remark\":%s}",
                (NR > 1 ? "," : ""), $1, $2, $3, words($4), value($5), value($6), value($7), list($8), list($9), value($10), words($11) }' rows
        printf ']}\n'
    } >results.json
    labs=$(cut -f 1 rows | awk '!seen[$1]++')
    write_page >index.html
}
check_losses() {
    awk -F '\t' -v most="$tolerance" '
        $2 == "yoke" && $10 != "" && ($10 !~ /^[-+0-9.e]+$/ || $10 + 0 > most) { print "gpu: the losses of " $3 " on " $1 " parts differ from one GPU by " $10; bad = 1 }
        $11 ~ /^failed/ && $2 == "yoke" { print "gpu: " $3 " on " $1 " parts " $11; bad = 1 }
        END { exit bad }' rows >&2
}
