#include "report/run/ranks.h"

#include "trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACES = 2
};

/* Traces are kept to the nanosecond: what is finer is the noise of differences. */
static double to_nanoseconds(double seconds)
{
    return round(seconds * 1e9) / 1e9;
}

/* Sets the sums of every rank from the trace, and the length of the step. With no trace, the ranks
 * keep their sums, and the step is as long as those of the first rank together. */
static yk_status sum_trace(const struct yk_trace *trace, bool measured, struct yk_arena *arena,
                           struct yk_run_ranks *ranks, double *out_step_s)
{
    struct yk_trace_breakdown *sums = NULL;
    if (!trace) {
        const struct yk_trace_breakdown *first = yk_run_ranks_get_times(ranks, 0, measured);
        *out_step_s = ranks->count > 0 ? first->compute_s + first->exposed_s + first->idle_s : NAN;
        return YK_OK;
    }
    *out_step_s = yk_trace_breakdown_step_length_s(trace);
    YK_TRY_NEW(arena, sums, (int64_t)yk_trace_rank_count(trace) + 1);
    YK_TRY(yk_trace_breakdown_compute(trace, *out_step_s, sums));
    for (int32_t r = 0; r < yk_trace_rank_count(trace); r++) {
        *yk_run_ranks_get_times(ranks, r, measured) = (struct yk_trace_breakdown){
            .compute_s = to_nanoseconds(sums[r].compute_s),
            .exposed_s = to_nanoseconds(sums[r].exposed_s),
            .idle_s = to_nanoseconds(sums[r].idle_s),
        };
    }
    return YK_OK;
}

/* One entry for every rank of the report or of a trace, with what the report says of it. */
static yk_status begin(const struct yk_run_report *report, struct yk_arena *arena,
                       struct yk_run_ranks *out)
{
    const struct yk_trace *traces[TRACES] = {report->predicted, report->measured};
    out->count = report->rank_count;
    for (int t = 0; t < TRACES; t++) {
        const int32_t count = traces[t] ? yk_trace_rank_count(traces[t]) : 0;
        out->count = count > out->count ? count : out->count;
    }
    YK_TRY_NEW(arena, out->ranks, (int64_t)out->count + 1);
    for (int32_t r = 0; r < out->count; r++) {
        out->ranks[r] =
            r < report->rank_count ? report->ranks[r] : yk_run_summary_make_unknown_rank();
    }
    return YK_OK;
}

static yk_status name_rank(const struct yk_run_report *report, int32_t rank, struct yk_arena *arena,
                           struct yk_run_rank_summary *out)
{
    const struct yk_trace *traces[TRACES] = {report->measured, report->predicted};
    char text[24];
    for (int t = 0; t < TRACES && !out->device; t++) {
        if (traces[t] && rank < yk_trace_rank_count(traces[t])) {
            out->device = yk_trace_rank_device_name(traces[t], rank);
        }
    }
    if (!out->device) {
        const int length = snprintf(text, sizeof text, "rank %d", (int)rank);
        out->device = yk_arena_copy_text(arena, text, (size_t)length);
    }
    return out->device ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_run_ranks_make(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_run_ranks *out)
{
    struct yk_run_ranks ranks = {0};
    YK_TRY(begin(report, arena, &ranks));
    YK_TRY(sum_trace(report->predicted, false, arena, &ranks, &ranks.predicted_step_s));
    YK_TRY(sum_trace(report->measured, true, arena, &ranks, &ranks.measured_step_s));
    for (int32_t r = 0; r < ranks.count; r++) {
        YK_TRY(name_rank(report, r, arena, &ranks.ranks[r]));
    }
    *out = ranks;
    return YK_OK;
}

int32_t yk_run_ranks_find_slowest(const struct yk_run_ranks *ranks)
{
    const bool measured = isfinite(ranks->measured_step_s);
    int32_t slowest = -1;
    double max_s = 0;
    for (int32_t r = 0; r < ranks->count; r++) {
        const double compute_s = yk_run_ranks_get_times(ranks, r, measured)->compute_s;
        if (compute_s > max_s) {
            slowest = r;
            max_s = compute_s;
        }
    }
    return slowest;
}

/* ---- differences ---- */

static int compare_ops(const void *left, const void *right)
{
    const struct yk_run_op_difference *a = left;
    const struct yk_run_op_difference *b = right;
    const int by_name = strcmp(a->op, b->op);
    return by_name != 0 ? by_name : (a->rank > b->rank) - (a->rank < b->rank);
}

/* One entry for every event of the trace. */
static yk_status add_ops(const struct yk_trace *trace, bool measured, struct yk_arena *arena,
                         struct yk_run_op_difference *out)
{
    double *from_s = NULL;
    YK_TRY(yk_trace_arrivals_find_transfer_starts(trace, arena, &from_s));
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        out[i] = (struct yk_run_op_difference){.op = event->op, .rank = event->rank};
        *(measured ? &out[i].measured_s : &out[i].predicted_s) = event->end_s - from_s[i];
    }
    return YK_OK;
}

/* Adds up the times of entries with the same name and rank; returns how many entries are left. */
static int32_t join_ops(struct yk_run_op_difference *ops, int32_t count)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        if (kept > 0 && compare_ops(&ops[kept - 1], &ops[i]) == 0) {
            ops[kept - 1].predicted_s += ops[i].predicted_s;
            ops[kept - 1].measured_s += ops[i].measured_s;
        } else {
            ops[kept++] = ops[i];
        }
    }
    return kept;
}

static double size_of(const struct yk_run_op_difference *difference)
{
    return fabs(difference->measured_s - difference->predicted_s);
}

static int compare_differences(const void *left, const void *right)
{
    const struct yk_run_op_difference *a = left;
    const struct yk_run_op_difference *b = right;
    return size_of(a) != size_of(b) ? (size_of(a) > size_of(b) ? -1 : 1) : strcmp(a->op, b->op);
}

/* Keeps, of the entries with one name, the one whose times differ most. */
static int32_t choose_ranks(struct yk_run_op_difference *ops, int32_t count)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        const bool again = kept > 0 && strcmp(ops[kept - 1].op, ops[i].op) == 0;
        if (!again) {
            ops[kept++] = ops[i];
        } else if (size_of(&ops[i]) > size_of(&ops[kept - 1])) {
            ops[kept - 1] = ops[i];
        }
    }
    return kept;
}

yk_status yk_run_ranks_find_op_differences(const struct yk_run_report *report, int32_t max,
                                           struct yk_arena *arena,
                                           struct yk_run_op_difference **out, int32_t *out_count)
{
    struct yk_run_op_difference *ops = NULL;
    *out = NULL;
    *out_count = 0;
    if (!report->predicted || !report->measured) {
        return YK_OK;
    }
    const int32_t predicted = yk_trace_event_count(report->predicted);
    const int64_t all = (int64_t)predicted + yk_trace_event_count(report->measured);
    YK_TRY_NEW(arena, ops, all + 1);
    YK_TRY(add_ops(report->predicted, false, arena, ops));
    YK_TRY(add_ops(report->measured, true, arena, ops + predicted));
    qsort(ops, (size_t)all, sizeof *ops, compare_ops);
    int32_t count = choose_ranks(ops, join_ops(ops, (int32_t)all));
    qsort(ops, (size_t)count, sizeof *ops, compare_differences);
    while (count > 0 && size_of(&ops[count - 1]) < 0.5e-9) {
        count--;
    }
    *out = ops;
    *out_count = count < max ? count : max;
    return YK_OK;
}
