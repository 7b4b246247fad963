/* Compiled plan: random plans of all sorts for gpt-nano, each of which yk_plan_check() passes,
 * compiled. */
#ifndef YK_TESTS_COMPILED_PLAN_H
#define YK_TESTS_COMPILED_PLAN_H

#include "base/random.h"
#include "cluster/cluster.h"
#include "cost/layer_costs.h"
#include "plan/plan.h"
#include "program/program.h"

enum {
    COMPILED_PLAN_RANKS = 4 /* that the cluster must have */
};

struct compiled_plan {
    struct yk_arena *arena;
    struct yk_cost_sources sources;
    struct yk_model_cache *cache;
    struct yk_layer_costs *costs;
    struct yk_plan *plan;
    struct yk_program *program;
};

/* One group with any strategies, shares and parts; or stages of one or two ranks. */
struct compiled_plan *compiled_plan_make(struct yk_random *random,
                                         const struct yk_cluster *cluster);
void compiled_plan_free(struct compiled_plan *made);

#endif
