/*
 * Trainer: a model on a device with all that a step needs, made from a config and a few wishes.
 * Whatever cannot be made fails the test.
 */
#ifndef YK_TESTS_TRAINER_H
#define YK_TESTS_TRAINER_H

#include "base/arena.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "nn/optimizer.h"
#include "nn/store/parameter_store.h"
#include "program/program.h"
#include "train/executor/executor.h"

#include <stdbool.h>
#include <stdint.h>

struct trainer_request {
    const struct yk_backend *backend;                        /* NULL: the CPU's */
    const struct yk_backend_device_options *backend_options; /* NULL: `threads` of a CPU */
    const struct yk_model_config *config;
    int64_t batch;
    int64_t sequence;
    int64_t target_sequence; /* of a decoder; 0: as long */
    int32_t micro_batches;   /* 0: 1 */
    enum yk_precision precision;
    int64_t lora_rank;
    bool nf4;
    bool recompute;
    bool clip;       /* the plan has a barrier */
    int32_t threads; /* 0: 2 */
    struct yk_optimizer_options optimizer;
    struct yk_net_options options;
};

struct trainer {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_model_cache *cache;
    struct yk_plan *plan;
    struct yk_program *program;
    struct yk_net *net;
    struct yk_device_context context;
    struct yk_parameter_store *store;
    struct yk_executor *executor;
    struct yk_optimizer_options optimizer;
    struct yk_rank_micro_batch *slices; /* (M) room for those of a step */
    int32_t *lengths;                   /* (B) of samples that are all there */
};

struct trainer *trainer_open(const struct trainer_request *request);
void trainer_close(struct trainer *trainer);

/* One step on all samples of a batch, which are cut into micro-batches as planned; `step` gives all
 * but the batch. */
struct yk_step_result trainer_step_on(struct trainer *trainer, const struct yk_sample_slice *whole,
                                      struct yk_step_options step);

/* The same on tokens and targets (B, T), all of them there. */
struct yk_step_result trainer_step(struct trainer *trainer, const int32_t *tokens,
                                   const int32_t *targets, int64_t first_sample,
                                   struct yk_step_options step);

/* The gradient of a parameter as it stands, (count) fp32. In the trainer's arena. */
float *trainer_gradient(struct trainer *trainer, const char *name, int64_t *count);

#endif
