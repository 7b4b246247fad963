/*
 * Process map: lists the processes of a plan by rank, and the nodes that they run on, for exporters
 * that write start scripts.
 *
 * If all layers are in one group, only the members of this group have processes, and the rank of a
 * process is its index in the group, as in export/data_parallel.h. Otherwise it is the rank in the
 * plan.
 */
#ifndef YK_EXPORT_PROCESS_MAP_H
#define YK_EXPORT_PROCESS_MAP_H

#include "export/export_job.h"

struct yk_process_map_rank {
    const struct yk_device *device;
    int32_t device_index; /* of a GPU: index among the GPUs of its node; of a CPU: among the CPUs */
    int32_t node;         /* index in `nodes` of struct yk_process_map */
};

struct yk_process_map_node {
    int32_t number; /* number of the node in the cluster */
    int32_t first_rank;
    int32_t rank_count;
    bool contiguous; /* the ranks of the node are first_rank, first_rank + 1 … without a gap */
};

struct yk_process_map {
    struct yk_process_map_rank *ranks;
    struct yk_process_map_node *nodes; /* sorted by first rank */
    int32_t rank_count;
    int32_t node_count;
    bool has_cpus;
    bool has_gpus;
    bool has_parts; /* some ranks use only a fraction of a GPU */
};

/* Makes the process map of the plan. The result lives in the arena of the job. */
yk_status yk_process_map_make(const struct yk_export_job *job,
                              struct yk_process_map *out) YK_MUST_USE;

/* Adds notes about what a start script does not express. */
void yk_process_map_add_notes(const struct yk_export_job *job, const struct yk_process_map *map);

#endif
