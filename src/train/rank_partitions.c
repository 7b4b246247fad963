#include "train/rank_partitions.h"

#include "program/program_facts.h"

/* The parts may not add up to exactly 1 because of rounding, so the last part ends at 1. */
double yk_rank_partitions_member_begin_fraction(const struct yk_plan_group *group, int32_t member)
{
    double before = 0;
    double after = 0;
    for (int32_t m = 0; m < group->member_count; m++) {
        *(m < member ? &before : &after) += group->members[m].shard_fraction;
    }
    return after > 0 && before < 1 ? before : 1;
}

static enum yk_layer_partition_kind kind_of(enum yk_sharding_strategy strategy)
{
    return strategy == YK_SHARDING_REPLICATED      ? YK_LAYER_PARTITION_WHOLE
           : strategy == YK_SHARDING_SHARDED_STATE ? YK_LAYER_PARTITION_SHARDED_STATE
                                                   : YK_LAYER_PARTITION_FULLY_SHARDED;
}

static struct yk_layer_partition partition_of(const struct yk_program *program, int32_t rank,
                                              int32_t layer)
{
    const struct yk_plan *plan = program->plan;
    const struct yk_plan_group *group = &plan->groups[plan->layers[layer].group];
    const struct yk_program_layer_messages *messages = &program->layers[layer];
    const int32_t member =
        yk_program_facts_group_member_index(plan, plan->layers[layer].group, rank);
    struct yk_layer_partition partition = {
        .kind = YK_LAYER_PARTITION_ABSENT, .blocks = 1, .from = 0, .to = 1};
    if (member < 0) {
        return partition;
    }
    partition.kind = messages->weight_bytes > 0
                         ? kind_of(yk_plan_effective_strategy(plan, layer))
                         : YK_LAYER_PARTITION_WHOLE; /* there is nothing to cut */
    if (partition.kind != YK_LAYER_PARTITION_WHOLE) {
        partition.blocks = messages->block_count > 1 ? messages->block_count : 1;
        partition.from = yk_rank_partitions_member_begin_fraction(group, member);
        partition.to = yk_rank_partitions_member_begin_fraction(group, member + 1);
    }
    return partition;
}

yk_status yk_rank_partitions_compute_stored(const struct yk_program *program, int32_t rank,
                                            struct yk_arena *arena, struct yk_layer_partition **out)
{
    const int32_t L = program->plan->layer_count;
    struct yk_layer_partition *partitions = NULL;
    YK_TRY_NEW(arena, partitions, L);
    for (int32_t l = 0; l < L; l++) {
        partitions[l] = partition_of(program, rank, l);
    }
    *out = partitions;
    return YK_OK;
}

yk_status yk_rank_partitions_compute_saved(const struct yk_program *program, int32_t rank,
                                           struct yk_arena *arena, struct yk_layer_partition **out)
{
    const struct yk_plan *plan = program->plan;
    struct yk_layer_partition *saves = NULL;
    YK_TRY(yk_rank_partitions_compute_stored(program, rank, arena, &saves));
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const struct yk_plan_group *group = &plan->groups[plan->layers[l].group];
        const int32_t member =
            yk_program_facts_group_member_index(plan, plan->layers[l].group, rank);
        if (saves[l].kind == YK_LAYER_PARTITION_ABSENT) {
            continue;
        }
        if (saves[l].kind == YK_LAYER_PARTITION_WHOLE) {
            saves[l] = (struct yk_layer_partition){
                .blocks = 1,
                .from = (double)member / group->member_count,
                .to = (double)(member + 1) / group->member_count,
            };
        }
        saves[l].kind = YK_LAYER_PARTITION_FULLY_SHARDED;
    }
    *out = saves;
    return YK_OK;
}
