#include "program/compile/memory_waits.h"

#include "program/compile/settle.h"
#include "program/compile/waits.h"
#include "program/memory/memory.h"
#include "program/memory/sweep.h"

struct fencing {
    struct yk_program *program;
    struct yk_sweep *sweep;
    double limit_bytes;
};

/* The first rank that has this list. */
static bool is_distinct(const struct yk_program *program, int32_t rank)
{
    bool distinct = program->ranks[rank].op_count > 0;
    for (int32_t before = 0; before < rank && distinct; before++) {
        distinct = program->ranks[before].ops != program->ranks[rank].ops;
    }
    return distinct;
}

/* Makes an op wait on every distinct list. Rounds are those of the sweep. */
static bool wait_everywhere(struct fencing *fencing, int32_t op, int32_t round, int32_t other,
                            int32_t other_round)
{
    struct yk_program *program = fencing->program;
    const int32_t lag = round - other_round;
    if (op < 0 || other < 0 || lag < 0 || lag > 1) {
        return false;
    }
    for (int32_t r = 0; r < program->rank_count; r++) {
        /* A rank outside the group at most agrees with the others. */
        bool distinct = op < program->ranks[r].op_count && other < program->ranks[r].op_count;
        for (int32_t before = 0; before < r && distinct; before++) {
            distinct = program->ranks[before].ops != program->ranks[r].ops;
        }
        if (distinct) {
            yk_waits_extend(&program->ranks[r], op, other, lag);
        }
    }
    return true;
}

/* The op that runs or comes next on the compute lane waits until the comm lane is at `first`. */
static void hold_compute(struct fencing *fencing, int32_t point, int32_t first)
{
    int32_t round = 0;
    int32_t comm_round = 0;
    const int32_t op = yk_sweep_op(fencing->sweep, YK_LANE_COMPUTE, point, &round);
    const int32_t comm = yk_sweep_op(fencing->sweep, YK_LANE_COMM, first - 2, &comm_round);
    if (wait_everywhere(fencing, op, round, comm, comm_round)) {
        yk_sweep_add_compute_wait(fencing->sweep, point, first);
    }
}

/* The op after `last` on the comm lane waits until the compute lane is past `point`. */
static void hold_comm(struct fencing *fencing, int32_t point, int32_t last)
{
    int32_t round = 0;
    int32_t comm_round = 0;
    const int32_t op = yk_sweep_op(fencing->sweep, YK_LANE_COMPUTE, point, &round);
    const int32_t comm = yk_sweep_op(fencing->sweep, YK_LANE_COMM, last, &comm_round);
    if (wait_everywhere(fencing, comm, comm_round, op, round)) {
        yk_sweep_add_comm_wait(fencing->sweep, last, 2 * (point / 2 + 1));
    }
}

/*
 * Where memory could overflow at a point of the compute lane, the comm lane is kept within the
 * points around the one it has in the list, all that stands before done and nothing after begun; or
 * around an earlier one, if that is too much.
 */
static void keep_within(struct fencing *fencing, int32_t point)
{
    int32_t first = 0;
    int32_t last = 0;
    int32_t round = 0;
    yk_sweep_range(fencing->sweep, &first, &last);
    if (yk_sweep_max(fencing->sweep, first, last) <= fencing->limit_bytes) {
        return;
    }
    const int32_t op = yk_sweep_op(fencing->sweep, YK_LANE_COMPUTE, point, &round);
    int32_t planned = op >= 0 ? yk_sweep_comm_after(fencing->sweep, op) : last;
    planned = planned > last ? last : planned < first ? first : planned;
    for (; planned >= first; planned--) {
        int32_t low = first;
        int32_t high = last;
        if (yk_sweep_around(fencing->sweep, fencing->limit_bytes, planned, &low, &high)) {
            /* Waits are for ends of ops: before an op is fine, in the middle of one is not. */
            low += low % 2;
            high -= high % 2;
            if (low > first && low <= high) {
                hold_compute(fencing, point, low);
            }
            /* What the next op itself waits for cannot wait for that op. */
            if (high < last && low <= high && high >= yk_sweep_needed(fencing->sweep)) {
                hold_comm(fencing, point, high);
            }
            return;
        }
    }
}

static yk_status fence_rank(struct yk_program *program, int32_t rank, struct yk_arena *arena)
{
    struct fencing fencing = {
        .program = program,
        .limit_bytes = program->plan->ranks[rank].limit_bytes,
    };
    struct yk_program_memory *memory = NULL;
    YK_TRY(yk_program_memory_count(program, rank, arena, &memory));
    YK_TRY(yk_sweep_create(&program->ranks[rank], memory, &fencing.sweep));
    yk_status status = YK_OK;
    for (int32_t point = yk_sweep_first(fencing.sweep);
         point < yk_sweep_end(fencing.sweep) && status == YK_OK; point++) {
        yk_sweep_advance(fencing.sweep, point);
        keep_within(&fencing, point);
        status = yk_deadline_check(program->deadline);
    }
    yk_sweep_destroy(fencing.sweep);
    return status;
}

static yk_status settle(struct yk_program *program, struct yk_arena *arena)
{
    for (int32_t r = 0; r < program->rank_count; r++) {
        if (is_distinct(program, r)) {
            YK_TRY(yk_memory_waits_reorder(&program->ranks[r], arena));
        }
    }
    return YK_OK;
}

yk_status yk_memory_waits_add(struct yk_program *program)
{
    struct yk_arena *arena = NULL;
    yk_status status = YK_OK;
    YK_TRY(yk_arena_create(&arena));
    for (int32_t r = 0; r < program->rank_count && status == YK_OK; r++) {
        if (is_distinct(program, r)) {
            status = fence_rank(program, r, arena);
        }
    }
    if (status == YK_OK) {
        status = settle(program, arena);
    }
    yk_arena_destroy(arena);
    return status;
}
