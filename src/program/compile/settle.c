#include "program/compile/settle.h"

#include <string.h>

struct settling {
    struct yk_program_rank *list;
    int32_t *place;               /* (ops) in the new order; −1: not yet */
    int32_t *order;               /* (ops) */
    int32_t count;                /* placed so far */
    int32_t *next_of_lane;        /* (ops) the next op of the same lane */
    int32_t heads[YK_LANE_COUNT]; /* the first op of each lane that is not placed */
};

static bool is_ready(const struct settling *settling, int32_t number)
{
    const struct yk_op *op = &settling->list->ops[number];
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &settling->list->waits[op->first_wait + w];
        if (wait->lag == 0 && settling->place[wait->op] < 0) {
            return false;
        }
    }
    return true;
}

static void find_lanes(struct settling *settling)
{
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        settling->heads[lane] = -1;
    }
    for (int32_t i = settling->list->op_count - 1; i >= 0; i--) {
        int32_t *head = &settling->heads[settling->list->ops[i].lane];
        settling->next_of_lane[i] = *head;
        settling->place[i] = -1;
        *head = i;
    }
}

/* Of the ops that come next on their lanes and wait for nothing to come, the first in the list. */
static bool place_one(struct settling *settling)
{
    int32_t first = -1;
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        const int32_t head = settling->heads[lane];
        if (head >= 0 && (first < 0 || head < first) && is_ready(settling, head)) {
            first = head;
        }
    }
    if (first < 0) {
        return false;
    }
    settling->heads[settling->list->ops[first].lane] = settling->next_of_lane[first];
    settling->place[first] = settling->count;
    settling->order[settling->count++] = first;
    return true;
}

static yk_status rewrite(const struct settling *settling, struct yk_arena *arena)
{
    struct yk_program_rank *list = settling->list;
    struct yk_op *ops = NULL;
    YK_TRY_NEW(arena, ops, list->op_count);
    memcpy(ops, list->ops, (size_t)list->op_count * sizeof *ops);
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &ops[settling->order[i]];
        list->ops[i] = *op;
        for (int32_t w = 0; w < op->wait_count; w++) {
            struct yk_op_wait *wait = &list->waits[op->first_wait + w];
            wait->op = settling->place[wait->op];
        }
    }
    return YK_OK;
}

yk_status yk_memory_waits_reorder(struct yk_program_rank *list, struct yk_arena *arena)
{
    struct settling settling = {.list = list};
    YK_TRY_NEW(arena, settling.place, list->op_count + 1);
    YK_TRY_NEW(arena, settling.order, list->op_count + 1);
    YK_TRY_NEW(arena, settling.next_of_lane, list->op_count + 1);
    find_lanes(&settling);
    while (place_one(&settling)) {
    }
    return settling.count == list->op_count ? rewrite(&settling, arena) : YK_OK;
}
