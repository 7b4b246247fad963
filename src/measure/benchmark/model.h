/*
 * Practice: a whole model on this rank's device, its weights and optimizer's state, on which
 * rehearsals train it on random tokens for the sake of their times.
 *
 * One thread at a time. What it is made from must outlive it.
 */
#ifndef YK_MEASURE_BENCHMARK_MODEL_H
#define YK_MEASURE_BENCHMARK_MODEL_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "nn/optimizer.h"
#include "nn/store/store.h"

struct yk_benchmark_model_request {
    const struct yk_model_config *config;
    struct yk_workload workload; /* its batch says nothing */
    double slowness;             /* ops take so many times as long; at least 1 */
};

struct yk_benchmark_model {
    struct yk_arena *arena;
    struct yk_benchmark_model_request request;
    const struct yk_cluster *cluster; /* of one device */
    struct yk_engine engine;
    const struct yk_model *description;
    struct yk_net *net;
    struct yk_store *store;
    struct yk_optimizer optimizer;
    int64_t steps; /* made so far */
};

/* `cluster` has one device, which `engine` drives. */
yk_status yk_benchmark_model_create(const struct yk_benchmark_model_request *request,
                                    const struct yk_cluster *cluster,
                                    const struct yk_engine *engine,
                                    struct yk_benchmark_model **out) YK_MUST_USE;
void yk_benchmark_model_destroy(struct yk_benchmark_model *model);

#endif
