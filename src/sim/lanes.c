#include "sim/lanes.h"

static yk_status take_lanes(struct yk_sim_class *fold, struct yk_arena *arena)
{
    for (int32_t i = 0; i < fold->list->op_count; i++) {
        fold->lanes[fold->list->ops[i].lane].op_count++;
    }
    for (int which = 0; which < YK_LANE_COUNT; which++) {
        YK_TRY_NEW(arena, fold->lanes[which].ops, fold->lanes[which].op_count);
        fold->lanes[which].op_count = 0;
    }
    for (int32_t i = 0; i < fold->list->op_count; i++) {
        struct yk_sim_lane *lane = &fold->lanes[fold->list->ops[i].lane];
        lane->ops[lane->op_count++] = i;
    }
    return YK_OK;
}

yk_status yk_sim_classes_begin(const struct yk_program *program,
                               const struct yk_rank_classes *folds, const struct yk_times *times,
                               struct yk_arena *arena, struct yk_sim_class **out)
{
    struct yk_sim_class *all = NULL;
    YK_TRY_NEW(arena, all, folds->count);
    for (int32_t f = 0; f < folds->count; f++) {
        struct yk_sim_class *fold = &all[f];
        fold->rank = folds->ranks[f];
        fold->message = YK_NO_MATCH;
        fold->slowdown = 1;
        fold->list = &program->ranks[fold->rank];
        fold->alone_s = times->alone_s[f];
        YK_TRY_NEW(arena, fold->rounds_over, fold->list->op_count);
        YK_TRY(take_lanes(fold, arena));
    }
    *out = all;
    return YK_OK;
}

bool yk_sim_lane_is_ready(const struct yk_sim_class *fold, struct yk_sim_lane *lane,
                          int32_t round_count)
{
    if (lane->taken || lane->op_count == 0 || lane->round >= round_count) {
        return false;
    }
    const struct yk_op *op = yk_sim_lane_op(fold, lane);
    while (lane->waits_over < op->wait_count) {
        const struct yk_op_wait *wait = &fold->list->waits[op->first_wait + lane->waits_over];
        if (fold->rounds_over[wait->op] < lane->round + 1 - wait->lag) {
            return false;
        }
        lane->waits_over++;
    }
    return true;
}

bool yk_sim_lane_advance(struct yk_sim_class *fold, struct yk_sim_lane *lane)
{
    fold->rounds_over[lane->ops[lane->next]]++;
    lane->taken = false;
    lane->waits_over = 0;
    lane->next++;
    if (lane->next < lane->op_count) {
        return false;
    }
    lane->next = 0;
    lane->round++;
    return true;
}

void yk_sim_class_advance(struct yk_sim_class *fold, double now_s)
{
    const double passed_s = now_s - fold->now_s;
    if (fold->lanes[YK_LANE_COMPUTE].taken) {
        fold->computed_s += passed_s;
    } else if (fold->message != YK_NO_MATCH) {
        fold->waited_s += passed_s;
    }
    fold->now_s = now_s;
}
