# A plan of one group becomes one whose loss is computed by rank 0 alone: the embeddings and the head,
# which share their weights, are a group of rank 0, the blocks one of all ranks.
# awk -v batch=SAMPLES -v last=NUMBER-OF-THE-LAST-BLOCK -f one_rank.awk plan.json
function run(from, to, group) {
    printf "  {\"from\": \"%s\", \"to\": \"%s\", \"group\": %d, \"strategy\": \"replicated\", \"recompute\": false}", from, to, group
}
/^ "groups": \[/ {
    print
    printf "  {\"members\": [{\"rank\": 0, \"share\": %d}]},\n", batch
    next
}
/^ "layers": \[/ {
    print
    run("encoder embed", "encoder embed", 0); print ","
    run("encoder 0", "encoder " last, 1); print ","
    run("decoder embed", "decoder embed", 0); print ","
    run("decoder 0", "decoder " last, 1); print ","
    run("head", "head", 0); print "],"
    skipping = 1
    next
}
/^ "order"/ { skipping = 0 }
!skipping
