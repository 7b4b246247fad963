#include "support/plans/compiled_plan.h"

#include "support/support.h"

#include <stdlib.h>

enum {
    BATCH = 12,
    LAYERS = 6
};

static int64_t below(struct yk_random *random, int64_t bound)
{
    return yk_random_below(random, bound);
}

/* Members with any shares, some of them 0, and any parts. */
static void fill_group(struct yk_random *random, struct yk_plan_group *group, int32_t first,
                       int32_t count, int64_t unit)
{
    int64_t left = BATCH / unit;
    double parts = 0;
    group->member_count = count;
    for (int32_t i = 0; i < count; i++) {
        const int64_t share = i == count - 1 ? left : below(random, left + 1);
        group->members[i] =
            (struct yk_plan_group_member){.rank = first + i,
                                          .share = share * unit,
                                          .shard_fraction = (double)(1 + below(random, 8)) / 16};
        left -= share;
        parts += group->members[i].shard_fraction;
    }
    for (int32_t i = 0; i < count; i++) {
        group->members[i].shard_fraction /= parts;
    }
}

/* Alike as can be, so that ranks are folded. */
static void even_out(struct yk_plan_group *group)
{
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].share = BATCH / group->member_count;
        group->members[i].shard_fraction = 1.0 / group->member_count;
    }
}

static void plan_one_group(struct yk_random *random, struct compiled_plan *made)
{
    static const int32_t counts[] = {1, 2, 3, 4};
    const int32_t ranks = counts[below(random, 4)];
    assert_ok(yk_plan_create(made->arena, ranks, 1, LAYERS, &made->plan));
    fill_group(random, &made->plan->groups[0], 0, ranks, 1);
    if (below(random, 2) == 0) {
        even_out(&made->plan->groups[0]);
    }
    made->plan->micro_batches = 1 + (int32_t)below(random, 3);
}

/* Stages of one or two ranks, of layers in order. */
static void plan_stages(struct yk_random *random, struct compiled_plan *made)
{
    const int32_t wide = 1 + (int32_t)below(random, 2);
    const int32_t stages = COMPILED_PLAN_RANKS / wide;
    assert_ok(yk_plan_create(made->arena, stages * wide, stages, LAYERS, &made->plan));
    made->plan->micro_batches = 1 + (int32_t)below(random, 3);
    for (int32_t g = 0; g < stages; g++) {
        fill_group(random, &made->plan->groups[g], g * wide, wide, made->plan->micro_batches);
    }
    for (int32_t i = 0; i < LAYERS; i++) {
        made->plan->layers[i].group = i * stages / LAYERS;
    }
}

static void fill_plan(struct yk_random *random, struct yk_plan *plan)
{
    plan->pipeline = below(random, 2) == 0 ? YK_PIPELINE_GPIPE : YK_PIPELINE_1F1B;
    plan->no_sync = below(random, 2) == 0;
    plan->clip = below(random, 2) == 0;
    plan->prefetch = 1 + (int32_t)below(random, 3);
    plan->block_bytes = below(random, 2) == 0 ? 1e9 : 2e4;
    plan->bucket_bytes = below(random, 2) == 0 ? 1e9 : 5e4;
    for (int32_t i = 0; i < plan->rank_count; i++) {
        plan->ranks[i] = (struct yk_plan_rank){.device = i, .limit_bytes = 1e9};
    }
    for (int32_t i = 0; i < LAYERS; i++) {
        plan->layers[i].strategy =
            (enum yk_sharding_strategy)below(random, YK_SHARDING_STRATEGY_COUNT);
        plan->layers[i].recompute = below(random, 3) == 0;
    }
}

struct compiled_plan *compiled_plan_make(struct yk_random *random, const struct yk_cluster *cluster)
{
    const struct yk_workload workload = {.batch = BATCH,
                                         .sequence = 64,
                                         .precision = below(random, 2) == 0 ? YK_PRECISION_FP32
                                                                            : YK_PRECISION_FP16};
    const struct yk_model_config *config = NULL;
    struct compiled_plan *made = calloc(1, sizeof *made);
    assert_non_null(made);
    assert_ok(yk_arena_create(&made->arena));
    assert_ok(yk_model_config_find_builtin("gpt-nano", &config));
    assert_ok(yk_model_cache_create(config, &workload, &made->cache));
    made->sources = (struct yk_cost_sources){.cluster = cluster};
    assert_ok(yk_layer_costs_create(&made->sources, made->cache, &made->costs));
    if (below(random, 2) == 0) {
        plan_one_group(random, made);
    } else {
        plan_stages(random, made);
    }
    made->plan->workload = workload;
    fill_plan(random, made->plan);
    assert_ok(yk_plan_check(made->plan, yk_model_cache_get_whole_batch(made->cache)));
    assert_ok(yk_program_compile(made->plan, cluster, made->cache, &made->program));
    return made;
}

void compiled_plan_free(struct compiled_plan *made)
{
    yk_program_destroy(made->program);
    yk_layer_costs_destroy(made->costs);
    yk_model_cache_destroy(made->cache);
    yk_arena_destroy(made->arena);
    free(made);
}
