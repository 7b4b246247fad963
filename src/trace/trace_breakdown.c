#include "trace/trace.h"

#include "base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* A moment of a step at which something on a rank begins or ends. */
struct change {
    int32_t rank;
    int32_t computing; /* +1, −1 or 0 */
    int32_t moving;
    double at_s;
};

struct changes {
    struct change *all;
    int32_t count;
};

double yk_trace_breakdown_step_length_s(const struct yk_trace *trace)
{
    double computed_s = -INFINITY;
    double end_s = 0;
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        end_s = i == 0 ? event->end_s : fmax(end_s, event->end_s);
        if (event->lane == YK_LANE_COMPUTE) {
            computed_s = fmax(computed_s, event->end_s);
        }
    }
    return isfinite(computed_s) ? computed_s : end_s;
}

double yk_trace_breakdown_first_event_start_s(const struct yk_trace *trace)
{
    double begin_s = 0;
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        const double start_s = yk_trace_event_at(trace, i)->start_s;
        begin_s = i == 0 ? start_s : fmin(begin_s, start_s);
    }
    return begin_s;
}

static void add(struct changes *changes, int32_t rank, bool computing, double from_s, double to_s)
{
    const int32_t computes = computing ? 1 : 0;
    if (to_s > from_s) {
        changes->all[changes->count++] = (struct change){rank, computes, 1 - computes, from_s};
        changes->all[changes->count++] = (struct change){rank, -computes, computes - 1, to_s};
    }
}

/* What lies outside of the step is put where it lies in the step before or after. */
static void add_in_step(struct changes *changes, int32_t rank, bool computing, double from_s,
                        double to_s, double step_s)
{
    const double before_s = floor(from_s / step_s) * step_s;
    const double start_s = fmin(fmax(from_s - before_s, 0), step_s);
    const double end_s = start_s + (to_s - from_s);
    if (to_s - from_s >= step_s) {
        add(changes, rank, computing, 0, step_s);
    } else if (end_s > step_s) {
        add(changes, rank, computing, start_s, step_s);
        add(changes, rank, computing, 0, end_s - step_s);
    } else {
        add(changes, rank, computing, start_s, end_s);
    }
}

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1)
                              : (a->at_s > b->at_s) - (a->at_s < b->at_s);
}

static void pass(struct yk_trace_breakdown *breakdown, int32_t computing, int32_t moving,
                 double passed_s)
{
    if (computing > 0) {
        breakdown->compute_s += passed_s;
    } else if (moving > 0) {
        breakdown->exposed_s += passed_s;
    }
}

static yk_status sum_up(const struct yk_trace *trace, double step_s, struct yk_arena *arena,
                        struct yk_trace_breakdown *out)
{
    const int32_t event_count = yk_trace_event_count(trace);
    struct changes changes = {0};
    double *moved_from_s = NULL;
    int32_t computing = 0;
    int32_t moving = 0;
    YK_TRY_NEW(arena, changes.all, 4 * (int64_t)event_count + 1);
    YK_TRY(yk_trace_arrivals_find_transfer_starts(trace, arena, &moved_from_s));
    for (int32_t i = 0; i < event_count; i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        if (event->lane != YK_LANE_COPY) {
            add_in_step(&changes, event->rank, event->lane == YK_LANE_COMPUTE, moved_from_s[i],
                        event->end_s, step_s);
        }
    }
    qsort(changes.all, (size_t)changes.count, sizeof *changes.all, compare_changes);
    for (int32_t i = 0; i < changes.count; i++) {
        const struct change *change = &changes.all[i];
        if (i > 0 && change[-1].rank == change->rank) {
            pass(&out[change->rank], computing, moving, change->at_s - change[-1].at_s);
        }
        computing += change->computing;
        moving += change->moving;
    }
    for (int32_t rank = 0; rank < yk_trace_rank_count(trace); rank++) {
        out[rank].idle_s = fmax(step_s - out[rank].compute_s - out[rank].exposed_s, 0);
    }
    return YK_OK;
}

yk_status yk_trace_breakdown_compute(const struct yk_trace *trace, double step_s,
                                     struct yk_trace_breakdown *out)
{
    for (int32_t rank = 0; rank < yk_trace_rank_count(trace); rank++) {
        out[rank] = (struct yk_trace_breakdown){0};
    }
    if (!(step_s > 0)) {
        return YK_OK;
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, sum_up(trace, step_s, arena, out));
    return YK_OK;
}
