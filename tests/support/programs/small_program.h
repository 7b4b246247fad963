/* Small program: plans of a few words, compiled. The model is a GPT of five layers (embed, layer 0,
 * layer 1, norm, head); rank i drives gpu<i>. */
#ifndef YK_TESTS_SMALL_PROGRAM_H
#define YK_TESTS_SMALL_PROGRAM_H

#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"
#include "program/program.h"

enum {
    SMALL_EMBED,
    SMALL_LAYER_0,
    SMALL_LAYER_1,
    SMALL_NORM,
    SMALL_HEAD,
    SMALL_LAYERS,
};

struct small_spec {
    int32_t ranks;
    int32_t groups;        /* 0: 1; the ranks and the layers are dealt out evenly, in order */
    int32_t micro_batches; /* 0: 1; each rank takes two samples of each */
    enum yk_sharding_strategy strategy;
    bool no_sync;
    bool clip;
    bool recompute;
    bool tied;     /* the head uses the embedding's weights */
    bool together; /* ranks that do the same share a list; otherwise each has its own */
    bool bucketed; /* all reductions of a group are fused */
    int64_t lora_rank;
};

struct small_program {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_model_cache *cache;
    struct yk_plan *plan;
    struct yk_program *program;
};

struct small_program small_program_make(const struct small_spec *spec);
void small_program_free(struct small_program *small);

#endif
