# The JSON lines of bench/lab/torch_translation_dp.py with tabs: name, precision, micro-batches, tokens
# of one, step, tokens/s, bytes of rank 0, of the fullest rank, step without reduction, what failed.
function value(key,    found) {
    if (!match($0, "\"" key "\": *(\"[^\"]*\"|[-+0-9.e]+)")) return ""
    found = substr($0, RSTART, RLENGTH)
    sub(/^"[^"]*": */, "", found)
    gsub(/"/, "", found)
    return found
}
{
    first = largest = ""
    if (match($0, /"allocated_bytes": *\[[^]]*\]/)) {
        list = substr($0, RSTART, RLENGTH)
        sub(/.*\[/, "", list)
        sub(/\]/, "", list)
        count = split(list, bytes, /, */)
        first = bytes[1]
        for (i = 1; i <= count; i++) if (bytes[i] + 0 > largest + 0 || largest == "") largest = bytes[i]
    }
    printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", value("name"), value("precision"), value("micro"), value("tokens"),
        value("median_step_s"), value("tokens_per_s"), first, largest, value("without_reduction_s"), value("error")
}
