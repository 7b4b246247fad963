# The rows of yoke (gpu_table.awk says which fields) as members of a JSON list.
function number(text) { return text == "" ? "null" : text }
function words(text) {
    gsub(/[\\"]/, "\\\\&", text)
    return "\"" text "\""
}
{
    printf "%s\n  {\"part\":%s,\"name\":%s,\"words\":%s,\"precision\":%s,\"micro_batches\":%s,\"tokens\":%s,", (NR > 1 ? "," : ""),
        words($1), words($2), words($3), words($4), $5, $6
    printf "\"step_s\":%s,\"predicted_step_s\":%s,\"tokens_per_s\":%s,\"bytes_rank0\":%s,\"bytes\":%s,", number($7), number($8),
        number($9), number($10), number($11)
    printf "\"planned_bytes_rank0\":%s,\"planned_bytes\":%s,\"exposed_s\":%s,\"predicted_exposed_s\":%s,\"binds\":%s}", number($12),
        number($13), number($14), number($15), words($16)
}
