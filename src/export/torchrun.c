/*
 * torchrun: a shell script that starts the ranks of one node. torchrun starts equally many on every
 * node; where nodes differ, the script starts each rank by itself, with the variables that torchrun
 * would have set.
 */
#include "export/export.h"
#include "export/export_job.h"
#include "export/process_map.h"

#include <inttypes.h>
#include <math.h>

/* Whether torchrun's numbers (node × ranks per node + rank in the node) are those of the plan. */
static bool is_even(const struct yk_process_map *map)
{
    bool even = !map->has_cpus && !map->has_parts;
    for (int32_t i = 0; i < map->node_count; i++) {
        const struct yk_process_map_node *node = &map->nodes[i];
        even = even && node->contiguous && node->rank_count == map->nodes[0].rank_count;
    }
    return even;
}

static void add_start(struct yk_text *out, const struct yk_process_map *map)
{
    const bool nodes = map->node_count > 1;
    yk_text_addf(out, "#\n# Use%s: %ssh launch.sh %strain.py …\nset -eu\n",
                 nodes ? ", on every node" : "", nodes ? "MASTER_ADDR=HOST_OF_RANK_0 " : "",
                 nodes ? "NODE " : "");
    if (nodes) {
        yk_text_add(out, "node=${1:?the number of this node}\nshift\n"
                         ": \"${MASTER_ADDR:?the host of rank 0}\"\n");
    } else {
        yk_text_add(out, ": \"${MASTER_ADDR:=127.0.0.1}\"\n");
    }
    yk_text_add(out, ": \"${MASTER_PORT:=29500}\"\nexport MASTER_ADDR MASTER_PORT\n\n");
}

/* "gpu0, gpu1" */
static void add_device_names(struct yk_text *out, const struct yk_process_map *map, int32_t node)
{
    bool first = true;
    for (int32_t i = 0; i < map->rank_count; i++) {
        if (map->ranks[i].node == node) {
            yk_text_add(out, first ? "" : ", ");
            yk_export_job_add_comment_safe(out, map->ranks[i].device->name);
            first = false;
        }
    }
}

static void add_torchrun(struct yk_text *out, const struct yk_process_map *map, int32_t node)
{
    const struct yk_process_map_node *at = &map->nodes[node];
    yk_text_add(out, "CUDA_VISIBLE_DEVICES=");
    for (int32_t i = 0; i < at->rank_count; i++) {
        yk_text_addf(out, "%s%" PRId32, i > 0 ? "," : "",
                     map->ranks[at->first_rank + i].device_index);
    }
    yk_text_addf(out,
                 " torchrun --nnodes=%" PRId32 " --nproc-per-node=%" PRId32 " --node-rank=%" PRId32
                 " \\\n        --master-addr=\"$MASTER_ADDR\" --master-port=\"$MASTER_PORT\" "
                 "\"$@\"\n",
                 map->node_count, at->rank_count, node);
}

/* A rank sees one device only, so that it is number 0 to it. */
static void add_rank(struct yk_text *out, const struct yk_process_map *map, int32_t rank)
{
    const struct yk_process_map_rank *at = &map->ranks[rank];
    yk_text_addf(out, "RANK=%" PRId32 " LOCAL_RANK=0 WORLD_SIZE=%" PRId32, rank, map->rank_count);
    if (at->device->is_cpu) {
        yk_text_add(out, " CUDA_VISIBLE_DEVICES=");
        if (at->device->cores > 0) {
            yk_text_addf(out, " OMP_NUM_THREADS=%" PRId32, at->device->cores);
        }
    } else {
        yk_text_addf(out, " CUDA_VISIBLE_DEVICES=%" PRId32, at->device_index);
        if (at->device->fraction < 1) {
            yk_text_addf(out, " CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%.0f",
                         ceil(100 * at->device->fraction));
        }
    }
    yk_text_add(out, " python3 \"$@\" & # ");
    yk_export_job_add_comment_safe(out, at->device->name);
    yk_text_add(out, "\n    ranks=\"$ranks $!\"\n");
}

static void add_ranks(struct yk_text *out, const struct yk_process_map *map, int32_t node)
{
    bool first = true;
    for (int32_t i = 0; i < map->rank_count; i++) {
        if (map->ranks[i].node == node) {
            yk_text_add(out, first ? "" : "    ");
            add_rank(out, map, i);
            first = false;
        }
    }
}

static void add_nodes(struct yk_text *out, const struct yk_process_map *map, bool even)
{
    yk_text_add(out, even ? "" : "ranks=\n");
    yk_text_add(out, map->node_count > 1 ? "case \"$node\" in\n" : "");
    for (int32_t i = 0; i < map->node_count; i++) {
        if (map->node_count > 1) {
            yk_text_addf(out, "%" PRId32 ") # ", map->nodes[i].number);
            add_device_names(out, map, i);
            yk_text_add(out, "\n    ");
        } else {
            yk_text_add(out, "    ");
        }
        (even ? add_torchrun : add_ranks)(out, map, i);
        yk_text_add(out, map->node_count > 1 ? "    ;;\n" : "");
    }
    if (map->node_count > 1) {
        yk_text_add(out, "*)\n    echo \"launch.sh: the plan has no node $node\" >&2\n    exit 2\n"
                         "    ;;\nesac\n");
    }
    if (!even) {
        yk_text_add(out, "failed=0\nfor rank in $ranks; do\n    wait \"$rank\" || failed=1\ndone\n"
                         "exit \"$failed\"\n");
    }
}

static yk_status write_torchrun(const struct yk_export_job *job)
{
    struct yk_process_map map = {0};
    YK_TRY(yk_process_map_make(job, &map));
    const bool even = is_even(&map);
    yk_export_job_add_note_if(
        job, !even,
        "torchrun starts equally many GPUs on every node, in order, which is not "
        "this plan; each rank is started by itself, without torchrun's restarts.");
    yk_process_map_add_notes(job, &map);
    yk_text_add(job->out, "#!/bin/sh\n");
    yk_export_job_add_header_comment(job);
    add_start(job->out, &map);
    add_nodes(job->out, &map, even);
    return YK_OK;
}

const struct yk_exporter yk_exporter_torchrun = {
    .name = "torchrun",
    .summary = "a script that starts the ranks of each node, also where nodes differ",
    .file = "launch.sh",
    .supports_groups = true,
    .write = write_torchrun,
};
