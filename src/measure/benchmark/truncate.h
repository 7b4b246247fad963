/*
 * Truncate: a model with fewer blocks, whose layers are those of the whole model. Equal blocks take
 * equally long, so a few of them suffice on a device that does not hold the whole model, or would
 * take too long over it.
 */
#ifndef YK_MEASURE_BENCHMARK_TRUNCATE_H
#define YK_MEASURE_BENCHMARK_TRUNCATE_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_benchmark_truncate_request {
    const struct yk_model_config *config;
    struct yk_workload workload;      /* its batch: the most samples at once */
    const struct yk_cluster *cluster; /* of one device */
    double free_bytes;                /* of it, for the model */
    double step_s;                    /* as long as a step of the most samples may take, about */
};

struct yk_benchmark_truncated {
    const struct yk_model_config *config; /* with at most as many blocks */
    int64_t batch;                        /* the most samples that fit; 0: not even one does */
    bool whole;
};

/* The config with at most `blocks` blocks of each kind. */
yk_status yk_benchmark_truncate_blocks(const struct yk_model_config *config, int64_t blocks,
                                       struct yk_arena *arena,
                                       const struct yk_model_config **out) YK_MUST_USE;

/* The most blocks, of all or 8, 4 or 2 of each kind, that fit with all samples and are quick
 * enough; if two are too many for either, as many samples as fit with those. */
yk_status yk_benchmark_truncate(const struct yk_benchmark_truncate_request *request,
                                struct yk_arena *arena,
                                struct yk_benchmark_truncated *out) YK_MUST_USE;

#endif
