# Read by ./gpu (". …/gpu_page.sh"): what came out, as table.md, results.csv, results.json and index.html.
# shellcheck shell=sh disable=SC2154
emulated='Emulated: MPS divides the SMs and the memory of one GPU, not its DRAM bandwidth, its L2 cache or the link between ranks.'
[ -z "$pretend" ] || emulated='A trial of the script on CPU ranks: its figures mean nothing.'
whole_gpu() { nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | grep . || echo 'CPU ranks'; }

# yoke's rows, then PyTorch's, the fastest first.
by_speed() { awk -F '\t' '{ print ($2 == "yoke" ? 1 : 2) "\t" ($7 > 0 ? $7 : 1e9) "\t" $0 }' rows | sort -s -t "$tab" -k 1,1n -k 2,2g | cut -f 3-; }
# The rows of a size as a table. Memory is that of the fullest rank against its plan.
table_of() { # BATCH
    by_speed | awk -F '\t' -v batch="$1" '
        function largest(list, parts, n, i, most) {
            n = split(list, parts, "/")
            for (i = 1; i <= n; i++) if (parts[i] + 0 > most) most = parts[i] + 0
            return most
        }
        function ms(s) { return s == "" ? "-" : sprintf("%.1f", 1000 * s) }
        function gib(bytes) { return bytes > 0 ? sprintf("%.2f", bytes / 1073741824) : "-" }
        $1 == batch {
            error = $6 != "" && $7 != "" ? sprintf("%+.1f %%", 100 * ($6 / $7 - 1)) : "-"
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $2, $4, $5 == "" ? "-" : $5, ms($7), ms($6), error,
                gib(largest($9)), gib(largest($8)), $10 == "" ? "-" : $10, $11 == "" ? "-" : substr($11, 1, 200)
        }'
}
best() { # BATCH WHO NUMBERS: the least step of those that were measured, and its words; with NUMBERS, of those whose losses are numbers
    awk -F '\t' -v batch="$1" -v who="$2" -v numbers="$3" '$1 == batch && $2 == who && $7 > 0 && !(numbers && $10 ~ /not a number/) && (!least || $7 + 0 < least) {
            least = $7 + 0; words = $4 " " $5 ($10 ~ /not a number/ ? ", whose " $10 : "")
        }
        END { if (least) print least "\t" words }' rows
}
step_of() { awk -F '\t' -v batch="$1" -v name="$2" '$1 == batch && $2 == "yoke" && $3 == name && $7 > 0 { print $7 }' rows; }
compare() { # BATCH: yoke's plan beside the best of PyTorch
    ours=$(step_of "$1" planned) theirs=$(best "$1" PyTorch '') right=$(best "$1" PyTorch numbers)
    if [ -n "$ours" ] && [ -n "$theirs" ]; then
        echo "As planned, a step takes $(calculate %.1f "1000 * $ours") ms; the best of PyTorch (${theirs#*"$tab"}) takes $(calculate %.1f "1000 * ${theirs%%"$tab"*}") ms: $(calculate %.2f "${theirs%%"$tab"*} / $ours") times as long."
        [ "$right" = "$theirs" ] || [ -z "$right" ] ||
            echo "Of those whose losses are numbers, the best (${right#*"$tab"}) takes $(calculate %.1f "1000 * ${right%%"$tab"*}") ms: $(calculate %.2f "${right%%"$tab"*} / $ours") times as long."
    else
        echo 'Not compared: a row is missing.'
    fi
}
predicted_within() { # of all rows with both times, how many are within 10 %
    awk -F '\t' '$6 != "" && $7 > 0 { count++; error = $6 / $7 - 1; good += error < 0.1 && error > -0.1 }
        END { if (count) printf "Predicted within 10 %%: %d of %d steps.\n", good, count }' rows
}
write_table() {
    echo '## All together'
    echo
    echo "GPT-2 124M ($(whole_gpu); parts of $shares % with $memory), $small and $large samples of $sequence tokens a step, bf16, AdamW, clipping; medians of the second half of $steps steps; predictions from times ${times:-}. $emulated Memory in GiB, of the fullest rank (PyTorch's: reserved by its allocator, without context). Losses beside those of yoke's first row that is right (device 0 alone, else the next), from the same weights on the same samples: the largest difference in any step that both took. What says that its numbers are wrong does not count."
    for batch in "$small" "$large"; do
        echo
        echo "## $batch samples a step"
        echo
        echo '| who | way | shares | step, ms | predicted, ms | error | memory | planned | loss differs by | |'
        echo '|---|---|---|---|---|---|---|---|---|---|'
        table_of "$batch"
        echo
        compare "$batch"
    done
    echo
    predicted_within
    echo
    echo '## Each group alone'
    echo
    echo "$group_model, one pass over a part of the text in steps of $group_batch samples of $group_sequence characters, on two strong parts ($strong %) and on four weak ones ($weak %). Time in seconds without the first step, which finds the fastest algorithms; mean loss of the last ten steps, loss over the same held-out text. $emulated"
    echo
    echo '| part of the data | steps | strong: time | predicted | training loss | evaluation loss | weak: time | predicted | training loss | evaluation loss | weak : strong |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
    for part in $group_parts; do
        awk -F '\t' -v part="$part" '
            $2 == part { steps = $3; for (i = 4; i <= 7; i++) cell[$1, i] = $i; seen++ }
            function show(group, i, form) { return (group, i) in cell ? sprintf(form, cell[group, i]) : "-" }
            END {
                if (!seen) exit
                printf "| %d %% | %d |", part, steps
                for (g = 1; g <= 2; g++) {
                    group = g == 1 ? "strong" : "weak"
                    printf " %s | %s | %s | %s |", show(group, 4, "%.2f"), show(group, 5, "%.2f"), show(group, 6, "%.4f"), show(group, 7, "%.4f")
                }
                printf " %s |\n", (seen == 2 && cell["strong", 4] > 0) ? sprintf("%.2f", cell["weak", 4] / cell["strong", 4]) : "-"
            }' groups
    done
    echo
    left_out_words
}
write_csv() {
    echo 'batch,who,name,way,shares,predicted_step_s,step_s,planned_bytes,measured_bytes,loss_differs_by,remark'
    awk -F '\t' '{ for (i = 1; i <= 11; i++) { gsub("\"", "\"\"", $i); printf "%s\"%s\"", (i > 1 ? "," : ""), $i }; print "" }' rows
}
write_json() {
    awk -F '\t' -v shares="$shares" -v memory="$memory" -v gpu="$(whole_gpu)" -v steps="$steps" '
        function word(x) { gsub(/\\/, "\\\\", x); gsub("\"", "\\\"", x); return "\"" x "\"" }
        function list(x) { gsub("/", ",", x); return "[" x "]" }
        function value(x) { return x == "" || x !~ /^[-+0-9.e]+$/ ? "null" : x }
        BEGIN { printf "{\"yoke\":1,\"kind\":\"uneven-data-parallel\",\"gpu\":%s,\"emulated\":true,\"shares\":\"%s\",\"memory\":\"%s\",\"steps\":%d,\n \"together\":[", word(gpu), shares, memory, steps }
        FILENAME == "rows" {
            printf "%s\n  {\"batch\":%s,\"who\":%s,\"name\":%s,\"way\":%s,\"shares\":%s,\"predicted_step_s\":%s,\"step_s\":%s,\"planned_bytes\":%s,\"measured_bytes\":%s,\"loss_differs_by\":%s,\"remark\":%s}",
                (rows++ ? "," : ""), $1, word($2), word($3), word($4), list($5), value($6), value($7), list($8), list($9), value($10), word($11)
            next
        }
        !groups++ { printf "],\n \"alone\":[" }
        { printf "%s\n  {\"group\":%s,\"data_part\":%s,\"steps\":%s,\"seconds\":%s,\"predicted_s\":%s,\"training_loss\":%s,\"evaluation_loss\":%s}",
                (groups > 1 ? "," : ""), word($1), $2 / 100, $3, $4, $5, $6, $7 }
        END { if (!groups) printf "],\n \"alone\":["; printf "]}\n" }' rows groups
}
lines() { awk -F '\t' -f "$here/../common/lines.awk" "$@"; }
bars() { awk -F '\t' -f "$here/../common/bars.awk" "$@"; }
step_rows() { # BATCH
    by_speed | awk -F '\t' -v batch="$1" '$1 == batch && $7 > 0 {
        words = $2 " " $3
        sub("large-", "", words)
        printf "%s\t%s\t%s\n", words, 1000 * $7, ($6 == "" ? "" : 1000 * $6) }'
}
loss_rows() { # BATCH NAME-OF-PYTORCH'S
    for name in 0 planned; do
        [ ! -s "runs/$name-$1/metrics.jsonl" ] || losses "yoke, $([ $name = 0 ] && echo 'one device' || echo 'as planned')" "runs/$name-$1/metrics.jsonl"
    done
    for name in $2; do
        [ ! -s "runs/torch-$name.jsonl" ] || losses "PyTorch, $name" "runs/torch-$name.jsonl"
    done
}
write_page() {
    begin_page 'Unequal GPUs, one training' "$emulated"
    tables <table.md
    echo '<section><div class="charts">'
    for batch in "$small" "$large"; do
        step_rows "$batch" | bars -v title="$batch samples a step" -v unit=ms
    done
    loss_rows "$small" 'alone-halves weighted-bf16' | lines -v title="loss, $small samples a step" -v across=step -v up=loss -v points=no -v under=yes
    loss_rows "$large" 'large-alone large-weighted-bf16' | lines -v title="loss, $large samples a step" -v across=step -v up=loss -v points=no -v under=yes
    awk -F '\t' '{ print $1 " group\t" $2 "\t" $4; print $1 " group predicted\t" $2 "\t" $5 }' groups |
        lines -v title='time of a group alone' -v across='% of the data' -v up=seconds -v zero=yes
    awk -F '\t' '{ print $1 " group\t" $2 "\t" $7 }' groups |
        lines -v title='what it has learned' -v across='% of the data' -v up='evaluation loss'
    echo '</div></section><section><h2>Runs</h2><p>'
    for run in runs/*/report.html; do
        [ ! -e "$run" ] || printf '<a href="%s">%s</a> · \n' "$run" "$(basename "$(dirname "$run")")"
    done
    echo '</p></section>'
    end_page
}
write_results() {
    write_table >table.md
    write_csv >results.csv
    write_json >results.json
    write_page >index.html
}
# However samples are divided, the loss of every step is that of the first row to rounding of bf16, in which gradients are
# summed; PyTorch's are compared, too, and shown, but do not decide.
check_losses() {
    awk -F '\t' '$2 == "yoke" && $10 != "" && ($10 !~ /^[-+0-9.e]+$/ || $10 >= 0.02) { print "gpu: the losses of " $4 " with " $1 " samples differ from those of the first row: " $10; bad = 1 }
        $2 == "yoke" && $11 ~ /^failed/ { print "gpu: " $4 " with " $1 " samples " $11; bad = 1 }
        END { exit bad }' rows >&2
}
