# Tables of rows, PyTorch beside yoke: awk -F '\t' -f gpu_table.awk torch.rows rows
# Rows of yoke: part, name, words, precision, micro-batches, tokens of one, step, predicted, tokens/s,
# bytes of rank 0, of the fullest, both as planned, exposed, predicted exposed, what binds or failed.
function ms(seconds) { return seconds == "" ? "–" : sprintf("%.1f", 1000 * seconds) }
function gib(bytes) { return bytes == "" ? "–" : sprintf("%.2f", bytes / 1073741824) }
function thousands(number) { return number == "" ? "–" : sprintf("%.0fk", number / 1000) }
function percent(measured, predicted) {
    return measured == "" || predicted == "" || measured == 0 ? "–" : sprintf("%+.1f %%", 100 * (predicted / measured - 1))
}
function ratio(one, other) { return one == "" || other == "" || other == 0 ? "–" : sprintf("%.2f", one / other) }
# The same work: gradients that are reduced in every micro-batch are not those that are reduced once.
function work_of(name, precision, micro, tokens) {
    return precision SUBSEP micro SUBSEP tokens SUBSEP (name ~ /^sync-each/ ? "each" : "once")
}
function near(measured, predicted, part) {
    return predicted / measured - 1 <= part && 1 - predicted / measured <= part
}
BEGIN {
    titles["precision"] = "Precisions, buckets of 25 MiB"
    titles["bucket"] = "Buckets, bf16"
    titles["sync"] = "Accumulation, bf16"
    titles["streams"] = "Queries, keys and values, bf16"
    titles["loss"] = "Where the loss is computed, bf16"
    titles["large"] = "Larger batches, bf16"
    titles["free"] = "Free to leave parts out, bf16; PyTorch was run on all of them only"
    part_count = split("precision bucket sync streams loss large free", parts, " ")
}
FILENAME ~ /torch/ {
    torch[$1] = $0
    work = work_of($1, $2, $3, $4)
    if ($6 != "" && $6 > best[work] + 0) {
        best[work] = $6
        best_name[work] = $1
    }
    torch_names[++torch_count] = $1
    next
}
{ lines[++count] = $0 }
END {
    for (p = 1; p <= part_count; p++) {
        shown = 0
        binds = ""
        for (i = 1; i <= count; i++) {
            split(lines[i], f, "\t")
            if (f[1] != parts[p]) continue
            if (!shown++) {
                printf "## %s\n\n", titles[f[1]]
                print "| | step, ms | predicted, ms | off by | tokens/s | memory of rank 0, GiB | of the fullest | planned | off by | exposed, ms | predicted | PyTorch: step, ms | tokens/s | memory of rank 0, GiB | exposed, ms | yoke : PyTorch | to its best |"
                print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
            }
            delete t
            if (f[2] in torch) split(torch[f[2]], t, "\t")
            work = f[1] == "free" ? "none" : work_of(f[2], f[4], f[5], f[6])
            exposed = t[5] == "" || t[9] == "" ? "" : t[5] > t[9] ? t[5] - t[9] : 0
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", f[3], ms(f[7]), ms(f[8]),
                percent(f[7], f[8]), thousands(f[9]), gib(f[10]), gib(f[11]), gib(f[13]), percent(f[11], f[13]), ms(f[14]), ms(f[15]),
                ms(t[5]), thousands(t[6]), gib(t[7]), ms(exposed), ratio(f[9], t[6]), ratio(f[9], best[work])
            binds = binds "\n" f[3] ": " f[16] "\n"
            if (f[7] == "") {
                failed++
                continue
            }
            measured++
            if (near(f[7], f[8], 0.1)) close_steps++
            if (near(f[11], f[13], 0.03)) close_bytes++
            if (best[work] != "") {
                compared++
                if (f[9] / best[work] < 1) slower = slower (slower == "" ? "" : ", ") f[3]
                if (least == "" || f[9] / best[work] < least) least = f[9] / best[work]
            }
        }
        if (shown) print binds
    }
    print "## In short\n"
    printf "%d rows of yoke measured%s; %d of them within 10 %% of the predicted step, %d within 3 %% of the planned memory.\n\n", measured,
        (failed ? ", " failed " failed" : ""), close_steps, close_bytes
    if (compared)
        printf "Of %d rows beside PyTorch, held against the best of its rows for the same work, the least ratio is %.2f; slower: %s.\n\n", compared,
            least, (slower == "" ? "none" : slower)
    if (torch_count) {
        print "## All rows of PyTorch\n"
        print "| | precision | micro-batches | tokens of one | step, ms | tokens/s | memory of rank 0, GiB | of the fullest | without reduction, ms | |"
        print "|---|---|---|---|---|---|---|---|---|---|"
        for (i = 1; i <= torch_count; i++) {
            split(torch[torch_names[i]], t, "\t")
            printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", t[1], t[2], t[3], t[4], ms(t[5]), thousands(t[6]), gib(t[7]), gib(t[8]), ms(t[9]), t[10]
        }
        print ""
    }
}
