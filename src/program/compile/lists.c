#include "program/compile/lists.h"

#include "program/compile/waits.h"

#include <string.h>

/* The number of `rank` among the members of a group, or −1. */
static int32_t member_of(const struct yk_plan *plan, int32_t group, int32_t rank)
{
    const struct yk_plan_group *planned = &plan->groups[group];
    for (int32_t i = 0; i < planned->member_count; i++) {
        if (planned->members[i].rank == rank) {
            return i;
        }
    }
    return -1;
}

/* With one group, ranks with equal shares, parts, limits and kinds of device do the same. */
static bool do_the_same(const struct yk_program *program, int32_t a, int32_t b)
{
    const struct yk_plan *plan = program->plan;
    if (plan->group_count > 1) {
        return false;
    }
    const int32_t i = member_of(plan, 0, a);
    const int32_t j = member_of(plan, 0, b);
    if (i < 0 || j < 0) {
        return i == j;
    }
    const struct yk_plan_member *one = &plan->groups[0].members[i];
    const struct yk_plan_member *other = &plan->groups[0].members[j];
    return one->share == other->share && one->part == other->part && one->turn == other->turn &&
           plan->ranks[a].limit_bytes == plan->ranks[b].limit_bytes &&
           program->cluster->devices[plan->ranks[a].device].is_cpu ==
               program->cluster->devices[plan->ranks[b].device].is_cpu;
}

/* Bytes of what a layer puts out for some samples. */
static yk_status output_bytes(const struct yk_program *program, int32_t layer, int64_t samples,
                              double *out)
{
    const struct yk_model *model = NULL;
    double bytes = 0;
    YK_TRY(yk_model_sizes_get(program->sizes, samples, false, &model));
    for (int32_t e = 0; e < model->edge_count; e++) {
        if (model->edges[e].from == layer && (double)model->edges[e].bytes > bytes) {
            bytes = (double)model->edges[e].bytes;
        }
    }
    *out = bytes;
    return YK_OK;
}

/* The entry as an op of that rank; false when it does not concern the rank. `members` (groups) says
 * which member of each group the rank is. */
static yk_status make_op(const struct yk_program *program, const struct yk_sequence_entry *entry,
                         int32_t rank, const int32_t *members, struct yk_op *out, bool *concerns)
{
    *out = entry->op;
    *concerns = true;
    if (entry->sender >= 0) {
        *concerns = rank == entry->sender || rank == entry->receiver;
        if (*concerns) {
            const bool sends = rank == entry->sender;
            out->kind = sends ? YK_OP_SEND : YK_OP_RECV;
            out->peer = sends ? entry->receiver : entry->sender;
            return output_bytes(program, out->layer, out->samples, &out->bytes);
        }
    } else if (entry->group >= 0) {
        *concerns = members[entry->group] >= 0;
        if (*concerns && (out->lane == YK_LANE_COPY || out->kind == YK_OP_FORWARD ||
                          out->kind == YK_OP_RECOMPUTE || out->kind == YK_OP_BACKWARD)) {
            int64_t first = 0;
            out->samples = yk_plan_samples(program->plan, entry->group, members[entry->group],
                                           out->micro_batch, &first);
        }
    }
    return YK_OK;
}

static yk_status fill_list(struct yk_program *program, const struct yk_sequence *script,
                           int32_t rank, int32_t *members)
{
    struct yk_program_rank *list = &program->ranks[rank];
    YK_TRY_NEW(program->arena, list->ops, script->count);
    for (int32_t g = 0; g < program->plan->group_count; g++) {
        members[g] = member_of(program->plan, g, rank);
    }
    for (int32_t i = 0; i < script->count; i++) {
        bool concerns = false;
        struct yk_op op;
        YK_TRY(make_op(program, &script->entries[i], rank, members, &op, &concerns));
        if (concerns) {
            list->ops[list->op_count++] = op;
        }
    }
    return yk_waits_make(program, rank);
}

yk_status yk_lists_make(struct yk_program *program, const struct yk_sequence *script)
{
    int32_t *members = NULL;
    program->match_count = script->match_count;
    YK_TRY_NEW(program->arena, program->ranks, program->rank_count);
    YK_TRY_NEW(program->arena, members, program->plan->group_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        int32_t same = 0;
        YK_TRY(yk_deadline_check(program->deadline));
        while (same < r && !do_the_same(program, same, r)) {
            same++;
        }
        if (same < r) {
            program->ranks[r] = program->ranks[same];
        } else {
            YK_TRY(fill_list(program, script, r, members));
        }
    }
    return YK_OK;
}
