#include "sim/rank_classes.h"

#include <stdbool.h>

static yk_status note_parts(const struct yk_plan *plan, struct yk_arena *arena,
                            struct yk_rank_classes *classes)
{
    const int64_t count = (int64_t)plan->rank_count * plan->group_count;
    YK_TRY_NEW(arena, classes->parts, count);
    for (int64_t i = 0; i < count; i++) {
        classes->parts[i] = -1;
    }
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group *group = &plan->groups[g];
        for (int32_t i = 0; i < group->member_count; i++) {
            const struct yk_plan_group_member *member = &group->members[i];
            classes->parts[(int64_t)member->rank * plan->group_count + g] = member->shard_fraction;
        }
    }
    return YK_OK;
}

static bool has_peers(const struct yk_op_list *rank)
{
    for (int32_t i = 0; i < rank->op_count; i++) {
        if (rank->ops[i].kind == YK_OP_SEND || rank->ops[i].kind == YK_OP_RECV) {
            return true;
        }
    }
    return false;
}

/* True if two ranks without sends and receives are in one class. */
static bool are_alike(const struct yk_program *program, const struct yk_layer_costs *costs,
                      const struct yk_rank_classes *classes, int32_t a, int32_t b)
{
    const struct yk_plan *plan = program->plan;
    bool alike = program->ranks[a].ops == program->ranks[b].ops &&
                 program->ranks[a].waits == program->ranks[b].waits &&
                 yk_layer_costs_device_speed_class(costs, plan->ranks[a].device) ==
                     yk_layer_costs_device_speed_class(costs, plan->ranks[b].device);
    for (int32_t g = 0; alike && g < plan->group_count; g++) {
        alike = classes->parts[(int64_t)a * plan->group_count + g] ==
                classes->parts[(int64_t)b * plan->group_count + g];
    }
    return alike;
}

yk_status yk_rank_classes_find(const struct yk_program *program, const struct yk_layer_costs *costs,
                               struct yk_arena *arena, struct yk_rank_classes *out)
{
    struct yk_rank_classes classes = {0};
    bool *alone = NULL; /* (classes) it has peers */
    YK_TRY(note_parts(program->plan, arena, &classes));
    YK_TRY_NEW(arena, classes.ranks, program->rank_count);
    YK_TRY_NEW(arena, classes.of_rank, program->rank_count);
    YK_TRY_NEW(arena, alone, program->rank_count);
    for (int32_t rank = 0; rank < program->rank_count; rank++) {
        int32_t c = 0;
        while (c < classes.count &&
               (alone[c] || !are_alike(program, costs, &classes, classes.ranks[c], rank))) {
            c++;
        }
        if (c == classes.count) {
            alone[c] = has_peers(&program->ranks[rank]);
            classes.ranks[classes.count++] = rank;
        }
        classes.of_rank[rank] = c;
    }
    *out = classes;
    return YK_OK;
}
