/*
 * Reduced model: a copy of a model with fewer transformer blocks, for a device on which the whole
 * model does not fit or takes too long. Equal blocks take equal time, so it is enough to measure a
 * few of them.
 */
#ifndef YK_MEASURE_BENCHMARK_REDUCED_MODEL_H
#define YK_MEASURE_BENCHMARK_REDUCED_MODEL_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_reduced_model_request {
    const struct yk_model_config *config;
    struct yk_workload workload;      /* workload.batch is the largest batch size to measure */
    const struct yk_cluster *cluster; /* has one device */
    double free_bytes;                /* free memory of the device */
    double step_s; /* approximate maximum time of a step with the largest batch */
};

struct yk_reduced_model {
    const struct yk_model_config *config;
    int64_t batch; /* largest batch size that fits; 0 means: not even one sample fits */
    bool whole;    /* the reduced model has all blocks */
};

/* Returns a config with at most `blocks` blocks of each kind. */
yk_status yk_reduced_model_make_config(const struct yk_model_config *config, int64_t blocks,
                                       struct yk_arena *arena,
                                       const struct yk_model_config **out) YK_MUST_USE;

/* Chooses the number of blocks: all blocks, or 8, 4 or 2 of each kind. Chooses the largest of these
 * numbers that fits into memory with the largest batch and stays within the time limit,
 * otherwise 2. If 2 blocks of each kind do not fit into memory, halves the batch size until they
 * fit. */
yk_status yk_reduced_model_choose_blocks(const struct yk_reduced_model_request *request,
                                         struct yk_arena *arena,
                                         struct yk_reduced_model *out) YK_MUST_USE;

#endif
