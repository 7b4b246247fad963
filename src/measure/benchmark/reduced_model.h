/*
 * Reduced model: a copy of a model with fewer transformer blocks, for a device where the whole
 * model does not fit or takes too long. Equal blocks take equal time, so a few of them are enough
 * to measure.
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
    struct yk_workload workload;      /* its batch is the largest batch size */
    const struct yk_cluster *cluster; /* has one device */
    double free_bytes;                /* free memory of this device */
    double step_s;                    /* approximate time limit of a step of the largest batch */
};

struct yk_reduced_model {
    const struct yk_model_config *config;
    int64_t batch; /* largest batch size that fits; 0: not even one sample fits */
    bool whole;    /* all blocks are kept */
};

/* Returns a config with at most `blocks` blocks of each kind. */
yk_status yk_reduced_model_limit_blocks(const struct yk_model_config *config, int64_t blocks,
                                        struct yk_arena *arena,
                                        const struct yk_model_config **out) YK_MUST_USE;

/* Keeps all blocks, or 8, 4 or 2 of each kind: as many as fit with the largest batch and keep the
 * time limit. If 2 blocks are too many, it reduces the batch size instead. */
yk_status yk_reduced_model_choose(const struct yk_reduced_model_request *request,
                                  struct yk_arena *arena, struct yk_reduced_model *out) YK_MUST_USE;

#endif
