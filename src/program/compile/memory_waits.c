#include "program/compile/step_ops.h"

#include "base/number.h"
#include "program/memory/memory.h"
#include "program/memory/memory_sweep.h"

#include <string.h>

struct reordering {
    struct yk_op_list *list;
    struct yk_op_lane_lists lanes;
    int32_t next[YK_LANE_COUNT]; /* position in the lane of the first op that is not placed */
    int32_t *place;              /* (ops) in the new order; −1: not yet */
    int32_t *order;              /* (ops) */
    int32_t count;               /* placed so far */
};

static bool is_ready(const struct reordering *reordering, int32_t number)
{
    const struct yk_op *op = &reordering->list->ops[number];
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &reordering->list->waits[op->first_wait + w];
        if (wait->lag == 0 && reordering->place[wait->op] < 0) {
            return false;
        }
    }
    return true;
}

/* Places one op: of the next op of each lane whose waits are satisfied, the first in the list. */
static bool place_one(struct reordering *reordering)
{
    const struct yk_op_lane_lists *lanes = &reordering->lanes;
    int32_t first = -1;
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        const int32_t next = reordering->next[lane];
        const int32_t head = next < lanes->count[lane] ? lanes->ops[lane][next] : -1;
        if (head >= 0 && (first < 0 || head < first) && is_ready(reordering, head)) {
            first = head;
        }
    }
    if (first < 0) {
        return false;
    }
    reordering->next[reordering->list->ops[first].lane]++;
    reordering->place[first] = reordering->count;
    reordering->order[reordering->count++] = first;
    return true;
}

static yk_status rewrite(const struct reordering *reordering, struct yk_arena *arena)
{
    struct yk_op_list *list = reordering->list;
    struct yk_op *ops = NULL;
    YK_TRY_NEW(arena, ops, list->op_count);
    memcpy(ops, list->ops, (size_t)list->op_count * sizeof *ops);
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &ops[reordering->order[i]];
        list->ops[i] = *op;
        for (int32_t w = 0; w < op->wait_count; w++) {
            struct yk_op_wait *wait = &list->waits[op->first_wait + w];
            wait->op = reordering->place[wait->op];
        }
    }
    return YK_OK;
}

/* Reorders a list so that each op follows the ops of the same iteration that it waits for; the
 * added waits may refer to later ops. Changes the order as little as possible. A list that waits
 * for itself is not changed. */
static yk_status reorder(struct yk_op_list *list, struct yk_arena *arena)
{
    struct reordering reordering = {.list = list};
    YK_TRY_NEW(arena, reordering.place, list->op_count + 1);
    YK_TRY_NEW(arena, reordering.order, list->op_count + 1);
    YK_TRY(yk_op_lane_lists_make(list, arena, &reordering.lanes));
    yk_number_fill_int32_array(reordering.place, list->op_count, -1);
    while (place_one(&reordering)) {
    }
    return reordering.count == list->op_count ? rewrite(&reordering, arena) : YK_OK;
}

struct limiting {
    struct yk_program *program;
    struct yk_memory_sweep *sweep;
    double limit_bytes;
};

static bool is_distinct(const struct yk_program *program, int32_t rank)
{
    return program->ranks[rank].op_count > 0 && yk_op_list_first_equal_rank(program, rank) == rank;
}

/* Adds the wait to every distinct op list. Iterations are numbered as in the sweep. */
static bool wait_everywhere(struct limiting *limiting, int32_t op, int32_t round, int32_t other,
                            int32_t other_round)
{
    struct yk_program *program = limiting->program;
    const int32_t lag = round - other_round;
    if (op < 0 || other < 0 || lag < 0 || lag > 1) {
        return false;
    }
    for (int32_t r = 0; r < program->rank_count; r++) {
        /* The list of a rank outside the group has at most the agree op. */
        if (op < program->ranks[r].op_count && other < program->ranks[r].op_count &&
            is_distinct(program, r)) {
            yk_op_waits_add(&program->ranks[r], op, other, lag);
        }
    }
    return true;
}

/* Makes the running or next compute op wait until the comm lane has reached point `first`. */
static void hold_compute(struct limiting *limiting, int32_t point, int32_t first)
{
    int32_t round = 0;
    int32_t comm_round = 0;
    const int32_t op = yk_memory_sweep_op_at_point(limiting->sweep, YK_LANE_COMPUTE, point, &round);
    const int32_t comm =
        yk_memory_sweep_op_at_point(limiting->sweep, YK_LANE_COMM, first - 2, &comm_round);
    if (wait_everywhere(limiting, op, round, comm, comm_round)) {
        yk_memory_sweep_add_compute_wait(limiting->sweep, point, first);
    }
}

/* Makes the comm op after point `last` wait until the compute lane has passed `point`. */
static void hold_comm(struct limiting *limiting, int32_t point, int32_t last)
{
    int32_t round = 0;
    int32_t comm_round = 0;
    const int32_t op = yk_memory_sweep_op_at_point(limiting->sweep, YK_LANE_COMPUTE, point, &round);
    const int32_t comm =
        yk_memory_sweep_op_at_point(limiting->sweep, YK_LANE_COMM, last, &comm_round);
    if (wait_everywhere(limiting, comm, comm_round, op, round)) {
        yk_memory_sweep_add_comm_wait(limiting->sweep, last, 2 * (point / 2 + 1));
    }
}

/*
 * If memory could overflow at a point of the compute lane, restricts the comm lane to a range of
 * points where everything fits. The range contains the point of the list order, at which all
 * preceding comm ops have ended and no later one has begun; or an earlier point if that one exceeds
 * the limit.
 */
static void keep_within(struct limiting *limiting, int32_t point)
{
    int32_t first = 0;
    int32_t last = 0;
    int32_t round = 0;
    yk_memory_sweep_possible_comm_range(limiting->sweep, &first, &last);
    if (yk_memory_sweep_max_bytes_in_comm_range(limiting->sweep, first, last) <=
        limiting->limit_bytes) {
        return;
    }
    const int32_t op = yk_memory_sweep_op_at_point(limiting->sweep, YK_LANE_COMPUTE, point, &round);
    int32_t planned = op >= 0 ? yk_memory_sweep_comm_point_after_op(limiting->sweep, op) : last;
    planned = planned > last ? last : planned < first ? first : planned;
    for (; planned >= first; planned--) {
        int32_t low = first;
        int32_t high = last;
        if (yk_memory_sweep_shrink_range_to_limit(limiting->sweep, limiting->limit_bytes, planned,
                                                  &low, &high)) {
            /* An op waits for the end of another op, so the bounds must lie between ops. */
            low += low % 2;
            high -= high % 2;
            if (low > first && low <= high) {
                hold_compute(limiting, point, low);
            }
            /* A comm op that the compute op waits for cannot wait for the compute op. */
            if (high < last && low <= high &&
                high >= yk_memory_sweep_required_comm_point(limiting->sweep)) {
                hold_comm(limiting, point, high);
            }
            return;
        }
    }
}

static yk_status add_waits(struct yk_program *program, int32_t rank, struct yk_arena *arena)
{
    struct limiting limiting = {
        .program = program,
        .limit_bytes = program->plan->ranks[rank].limit_bytes,
    };
    struct yk_program_memory *memory = NULL;
    YK_TRY(yk_program_memory_count_for_rank(program, rank, arena, &memory));
    YK_TRY(yk_memory_sweep_create(&program->ranks[rank], memory, &limiting.sweep));
    yk_status status = YK_OK;
    for (int32_t point = yk_memory_sweep_middle_begin_compute_point(limiting.sweep);
         point < yk_memory_sweep_middle_end_compute_point(limiting.sweep) && status == YK_OK;
         point++) {
        yk_memory_sweep_advance_compute(limiting.sweep, point);
        keep_within(&limiting, point);
        status = yk_deadline_check(program->deadline);
    }
    yk_memory_sweep_destroy(limiting.sweep);
    return status;
}

yk_status yk_memory_waits_add(struct yk_program *program)
{
    struct yk_arena *arena = NULL;
    yk_status status = YK_OK;
    YK_TRY(yk_arena_create(&arena));
    for (int32_t r = 0; r < program->rank_count && status == YK_OK; r++) {
        if (is_distinct(program, r)) {
            status = add_waits(program, r, arena);
        }
    }
    for (int32_t r = 0; r < program->rank_count && status == YK_OK; r++) {
        if (is_distinct(program, r)) {
            status = reorder(&program->ranks[r], arena);
        }
    }
    yk_arena_destroy(arena);
    return status;
}
