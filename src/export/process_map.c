#include "export/process_map.h"

static int32_t index_in_node(const struct yk_cluster *cluster, int32_t device)
{
    const struct yk_device *of = &cluster->devices[device];
    int32_t number = 0;
    for (int32_t i = 0; i < device; i++) {
        const struct yk_device *other = &cluster->devices[i];
        number += other->node == of->node && other->is_cpu == of->is_cpu ? 1 : 0;
    }
    return number;
}

static void add_rank(struct yk_process_map *map, const struct yk_cluster *cluster, int32_t device)
{
    const int32_t rank = map->rank_count++;
    const struct yk_device *of = &cluster->devices[device];
    int32_t node = 0;
    while (node < map->node_count && map->nodes[node].number != of->node) {
        node++;
    }
    struct yk_process_map_node *at = &map->nodes[node];
    if (node == map->node_count) {
        map->node_count++;
        *at = (struct yk_process_map_node){
            .number = of->node, .first_rank = rank, .contiguous = true};
    }
    at->contiguous = at->contiguous && rank == at->first_rank + at->rank_count;
    at->rank_count++;
    map->ranks[rank] = (struct yk_process_map_rank){
        .device = of, .device_index = index_in_node(cluster, device), .node = node};
    map->has_cpus = map->has_cpus || of->is_cpu;
    map->has_gpus = map->has_gpus || !of->is_cpu;
    map->has_parts = map->has_parts || (!of->is_cpu && of->fraction < 1);
}

yk_status yk_process_map_make(const struct yk_export_job *job, struct yk_process_map *out)
{
    const struct yk_plan_group *group = job->group;
    const int32_t count = group ? group->member_count : job->plan->rank_count;
    *out = (struct yk_process_map){0};
    YK_TRY_NEW(job->arena, out->ranks, count);
    YK_TRY_NEW(job->arena, out->nodes, count);
    for (int32_t i = 0; i < count; i++) {
        const int32_t rank = group ? group->members[i].rank : i;
        add_rank(out, job->cluster, job->plan->ranks[rank].device);
    }
    return YK_OK;
}

void yk_process_map_add_notes(const struct yk_export_job *job, const struct yk_process_map *map)
{
    yk_export_job_add_note(job, "This starts processes and says nothing of what they do: shares, "
                                "strategies and limits are in the file for fsdp or ddp.");
    yk_export_job_add_note_if(job, map->has_parts,
                              "Parts of devices need MPS, which must be started before; which GPU "
                              "a part is of is not known here, so check CUDA_VISIBLE_DEVICES.");
}
