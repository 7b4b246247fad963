/*
 * Hand program: programs whose ops are given as rows, on clusters whose times are stated, so that
 * what happens when follows by hand. The model is gpt-nano, of six layers.
 */
#ifndef YK_TESTS_HAND_PROGRAM_H
#define YK_TESTS_HAND_PROGRAM_H

#include "cluster/cluster.h"
#include "cost/layer_costs.h"
#include "plan/plan.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HAND_RANKS = 8,
    HAND_GROUPS = 4,
    HAND_LAYERS = 6, /* of gpt-nano: embed, three blocks, norm, head */
    HAND_BATCH = 16, /* at most, of one op */
};

/* Every layer takes so long on it, forward for a sample; backward takes twice as long. */
struct hand_device {
    int32_t node;
    double layer_s;
    double update_s; /* of a whole layer */
};

struct hand_op {
    enum yk_op_kind kind;
    int32_t layer;
    int64_t samples;
    double bytes;
    int32_t group;
    int32_t peer;
    int32_t match;     /* of ops that communicate */
    const char *waits; /* numbers of ops, of the round before where a ' follows: "0 3'" */
};

/* Ends a list of ops. */
#define HAND_END                                                                                   \
    {                                                                                              \
        .kind = YK_OP_KIND_COUNT                                                                   \
    }

struct hand_group {
    int32_t ranks[HAND_RANKS];
    int32_t count;
    double parts[HAND_RANKS]; /* all 0: equal ones */
};

struct hand_spec {
    int32_t rank_count;
    struct hand_device devices[HAND_RANKS]; /* rank i drives device i */
    struct yk_link within;                  /* a node */
    struct yk_link between;                 /* nodes */
    struct hand_group groups[HAND_GROUPS];  /* none given: one of all ranks */
    int32_t group_count;
    enum yk_sharding_strategy strategy;      /* of all layers, which are of group 0 */
    const struct hand_op *lists[HAND_RANKS]; /* ranks with one list share it in the program */
    bool apart;                              /* they have equal lists instead */
};

struct hand_program {
    struct yk_arena *arena;
    struct yk_cluster cluster;
    struct yk_cost_sources sources;
    struct yk_model_cache *cache;
    struct yk_layer_costs *costs;
    struct yk_plan *plan;
    struct yk_program program;
};

struct hand_program *hand_program_make(const struct hand_spec *spec);
void hand_program_free(struct hand_program *hand);

/* Points the ranks of `program` that share a list at copies of it. */
void row_program_separate(struct yk_program *program, struct yk_arena *arena);

#endif
