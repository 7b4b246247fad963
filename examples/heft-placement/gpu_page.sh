# Read by ./gpu (". …/gpu_page.sh"): what came out, as tables, files and a page. Rows are as
# gpu_rows.sh says. Variables are those of ./gpu.
# shellcheck shell=sh disable=SC2154
tolerance=0.02 # of a loss in bf16: sums come in another order, and are rounded to 8 bits
published=1.945
what_ran() {
    if [ -n "$pretend" ]; then
        echo 'three CPU ranks, to try the script: these figures mean nothing'
    else
        echo "three parts of one GPU under MPS, with 48, 24 and 24 GiB: emulated. MPS divides SMs and memory, not DRAM bandwidth, L2 or the link, which is NCCL over loopback sockets"
    fi
}
lab_table() { # LAB BATCH
    echo '| placement | devices | step, ms | predicted, ms | off by | times as long as HEFT | memory of each rank, GiB | planned, GiB | off by | loss differs by |'
    echo '|---|---|---|---|---|---|---|---|---|---|'
    awk -F '\t' -v lab="$1" -v batch="$2" "$row_functions"'
        $1 != lab || $2 != batch { next }
        { n++; line[n] = $0; if ($3 == "heft") heft = $6 }
        END { for (i = 1; i <= n; i++) { $0 = line[i]
            if ($6 == "") { printf "| %s | %s | %s | %s | – | – | – | – | – | – |\n", $4, ($9 == "" ? "–" : $9), $12, ms($5); continue }
            printf "| %s%s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $4, ($3 == "yoke" || $12 ~ /^the same/ ? " (" $12 ")" : ""), $9, ms($6), ms($5), off($5, $6),
                times($6, heft), each($8), each($7), off(most($7), most($8)), ($11 == "" ? "–" : $11) } }' rows
}
# The figures that the experiment is about.
summary_table() {
    echo '| parts, % | batch | published map : HEFT | published factor | Accelerate : HEFT | HEFT : yoke | goal | bound, ms | yoke reaches of it | goal |'
    echo '|---|---|---|---|---|---|---|---|---|---|'
    awk -F '\t' -v published="$published" "$row_functions"'
        { key = $1 SUBSEP $2; if (!(key in seen)) { order[++n] = key; seen[key] = 1 } step[key, $3] = $6; if ($3 == "yoke") bound[key] = $10 }
        END { for (i = 1; i <= n; i++) { key = order[i]; split(key, part, SUBSEP); lab = part[1]; gsub("-", "/", lab)
            goal = lab ~ /^70/ && part[2] == 5 ? "1.1" : lab ~ /^50/ && part[2] == 16 ? "1.3" : "–"
            heft = step[key, "heft"]; yoke = step[key, "yoke"]
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", lab, part[2], times(step[key, "published"], heft), published,
                times(step[key, "accelerate"], heft), times(heft, yoke), goal, ms(bound[key]),
                (yoke == "" ? "–" : sprintf("%.0f %%", 100 * bound[key] / yoke)), "85 %" } }' rows
}
predicted_well() {
    awk -F '\t' "$row_functions"'
        $12 ~ /^the same/ { next }
        $6 != "" && $5 != "" { n++; e = $5 / $6 - 1; if (e < 0) e = -e; near += e <= 0.1
            m = most($8) > 0 ? most($7) / most($8) - 1 : 1; if (m < 0) m = -m; tight += m <= 0.03 }
        $12 ~ /^failed/ { bad++ }
        END { if (n) printf "Of %d rows that ran, %d steps were predicted within 10 %% and %d memories within 3 %%; %d failed.\n", n, near, tight, bad }' rows
}
pretty() { echo "$1" | tr - /; }
write_table() {
    echo '## In short'
    echo
    echo "Llama-3-8B with QLoRA (rank and alpha 32, NF4, bf16, flash attention), samples of $sequence tokens, $([ "$weights" = random ] && echo 'random weights' || echo 'its own weights'), on $(what_ran). The bound is what all devices together would take if they were always busy."
    echo
    summary_table
    echo
    for case_told in $(awk -F '\t' '!seen[$1 SUBSEP $2]++ { print $1 ":" $2 }' rows); do
        echo "## $(pretty "${case_told%:*}") % of the SMs, batch of ${case_told#*:}"
        echo
        echo "Steps are medians of the second half of $fast_steps (of $((steps + 1)) where a step takes more than 0.7 s, of $steps where it takes more than 1.5 s); predictions are from times $(origin_of_times "${case_told%:*}"). A placement takes the batch whole. Losses are compared with those of the first row that is right, in the steps that both took; what says that its numbers are wrong does not count."
        echo
        lab_table "${case_told%:*}" "${case_told#*:}"
        echo
    done
    echo '## A small Llama on instructions'
    echo
    if [ -d tune ]; then
        tune_table "$([ -n "$pretend" ] && echo 'three CPU ranks' || echo 'three parts of the GPU')"
    else
        echo 'Left out.'
    fi
    echo
    echo '## How well it was predicted'
    echo
    predicted_well
    accelerate_words
    left_out_words
}

# ---- files ----
steps_chart() { # LAB BATCH
    awk -F '\t' -v OFS='\t' -v lab="$1" -v batch="$2" '$1 == lab && $2 == batch && $6 != "" { print $4, 1000 * $6; }' rows |
        awk -F '\t' -f "$here/../common/bars.awk" -v title="$(pretty "$1") %, batch of $2: a step" -v unit=ms
}
write_page() {
    begin_page 'The placement experiment, on GPUs' "Llama-3-8B with QLoRA on $(what_ran)."
    echo '<section class="charts">'
    for case_told in $(awk -F '\t' '!seen[$1 SUBSEP $2]++ { print $1 ":" $2 }' rows); do
        steps_chart "${case_told%:*}" "${case_told#*:}"
    done
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
        echo 'parts,batch,name,words,predicted_step_s,step_s,planned_bytes,bytes,devices,bound_s,loss_differs_by,remark'
        awk -F '\t' '{ for (i = 1; i <= 12; i++) { gsub(/"/, "", $i); printf "%s%s", (i > 1 ? "," : ""), ($i ~ /[, ]/ ? "\"" $i "\"" : $i) } print "" }' rows
    } >results.csv
    {
        printf '{"yoke":1,"kind":"heft-placement","form":"gpu","emulated":true,"sequence":%s,"published_factor":%s,\n "rows":[' "$sequence" "$published"
        awk -F '\t' '
            function value(x) { return x ~ /^[-+0-9.e]+$/ ? x : "null" }
            function list(x) { gsub("/", ",", x); return "[" x "]" }
            function words(x) { gsub(/[\\"]/, "", x); return "\"" x "\"" }
            { printf "%s\n  {\"parts\":\"%s\",\"batch\":%s,\"name\":\"%s\",\"words\":%s,\"predicted_step_s\":%s,\"step_s\":%s,\"planned_bytes\":%s,\"bytes\":%s,\"devices\":%s,\"bound_s\":%s,\"loss_differs_by\":%s,\"remark\":%s}",
                (NR > 1 ? "," : ""), $1, $2, $3, words($4), value($5), value($6), list($7), list($8), list($9), value($10), value($11), words($12) }' rows
        printf ']}\n'
    } >results.json
    write_page >index.html
}
check_rows() {
    awk -F '\t' -v most="$tolerance" '
        $11 != "" && ($11 !~ /^[-+0-9.e]+$/ || $11 + 0 > most) { print "gpu: the losses of " $3 " (" $1 ", batch " $2 ") differ from those of the first row: " $11; bad = 1 }
        $12 ~ /^failed/ { print "gpu: " $3 " (" $1 ", batch " $2 ") " $12; bad = 1 }
        END { exit bad }' rows >&2
}
