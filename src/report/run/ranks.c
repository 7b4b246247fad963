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

static yk_status sum_trace(const struct yk_trace *trace, double step_s, struct yk_arena *arena,
                           struct yk_trace_sum **out)
{
    struct yk_trace_sum *sums = NULL;
    YK_TRY_NEW(arena, sums, (int64_t)yk_trace_rank_count(trace) + 1);
    YK_TRY(yk_trace_sum(trace, step_s, sums));
    for (int32_t r = 0; r < yk_trace_rank_count(trace); r++) {
        sums[r].compute_s = to_nanoseconds(sums[r].compute_s);
        sums[r].exposed_s = to_nanoseconds(sums[r].exposed_s);
        sums[r].idle_s = to_nanoseconds(sums[r].idle_s);
    }
    *out = sums;
    return YK_OK;
}

/* Room for all ranks that anything is known of, with what the report has. */
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
        out->ranks[r] = r < report->rank_count ? report->ranks[r] : yk_run_summary_unknown_rank();
    }
    return YK_OK;
}

static yk_status name_rank(const struct yk_run_report *report, int32_t rank, struct yk_arena *arena,
                           struct yk_run_rank *out)
{
    const struct yk_trace *traces[TRACES] = {report->measured, report->predicted};
    char text[24];
    for (int t = 0; t < TRACES && !out->device; t++) {
        if (traces[t] && rank < yk_trace_rank_count(traces[t])) {
            out->device = yk_trace_rank_name(traces[t], rank);
        }
    }
    if (!out->device) {
        const int length = snprintf(text, sizeof text, "rank %d", (int)rank);
        out->device = yk_arena_copy_text(arena, text, (size_t)length);
    }
    return out->device ? YK_OK : yk_fail_out_of_memory();
}

static double sum_of(const struct yk_trace_sum *sum)
{
    return sum->compute_s + sum->exposed_s + sum->idle_s;
}

yk_status yk_run_ranks_make(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_run_ranks *out)
{
    struct yk_run_ranks ranks = {.predicted_step_s = NAN, .measured_step_s = NAN};
    struct yk_trace_sum *sums = NULL;
    YK_TRY(begin(report, arena, &ranks));
    if (report->predicted) {
        ranks.predicted_step_s = yk_trace_sum_step_s(report->predicted);
        YK_TRY(sum_trace(report->predicted, ranks.predicted_step_s, arena, &sums));
        for (int32_t r = 0; r < yk_trace_rank_count(report->predicted); r++) {
            ranks.ranks[r].predicted = sums[r];
        }
    }
    if (report->measured) {
        ranks.measured_step_s = yk_trace_sum_step_s(report->measured);
        YK_TRY(sum_trace(report->measured, ranks.measured_step_s, arena, &sums));
        for (int32_t r = 0; r < yk_trace_rank_count(report->measured); r++) {
            ranks.ranks[r].measured = sums[r];
        }
    }
    for (int32_t r = 0; r < ranks.count; r++) {
        YK_TRY(name_rank(report, r, arena, &ranks.ranks[r]));
    }
    if (ranks.count > 0 && !report->predicted) {
        ranks.predicted_step_s = sum_of(&ranks.ranks[0].predicted);
    }
    if (ranks.count > 0 && !report->measured) {
        ranks.measured_step_s = sum_of(&ranks.ranks[0].measured);
    }
    *out = ranks;
    return YK_OK;
}

int32_t yk_run_ranks_slowest(const struct yk_run_ranks *ranks)
{
    const bool measured = isfinite(ranks->measured_step_s);
    int32_t slowest = -1;
    double max_s = 0;
    for (int32_t r = 0; r < ranks->count; r++) {
        const double compute_s =
            measured ? ranks->ranks[r].measured.compute_s : ranks->ranks[r].predicted.compute_s;
        if (compute_s > max_s) {
            slowest = r;
            max_s = compute_s;
        }
    }
    return slowest;
}

/* ---- differences ---- */

/* An op of a rank in one of the traces. */
struct part {
    const char *op;
    int32_t rank;
    double predicted_s;
    double measured_s;
};

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left;
    const struct part *b = right;
    const int by_name = strcmp(a->op, b->op);
    return by_name != 0 ? by_name : (a->rank > b->rank) - (a->rank < b->rank);
}

static yk_status add_parts(const struct yk_trace *trace, bool measured, struct yk_arena *arena,
                           struct part *out)
{
    double *from_s = NULL;
    YK_TRY(yk_trace_arrivals(trace, arena, &from_s));
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        const double took_s = event->end_s - from_s[i];
        out[i] = (struct part){.op = event->op, .rank = event->rank};
        *(measured ? &out[i].measured_s : &out[i].predicted_s) = took_s;
    }
    return YK_OK;
}

/* Adds up what has one name and one rank; returns how many are left. */
static int32_t join_parts(struct part *parts, int32_t count)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        if (kept > 0 && compare_parts(&parts[kept - 1], &parts[i]) == 0) {
            parts[kept - 1].predicted_s += parts[i].predicted_s;
            parts[kept - 1].measured_s += parts[i].measured_s;
        } else {
            parts[kept++] = parts[i];
        }
    }
    return kept;
}

static double size_of(double predicted_s, double measured_s)
{
    return fabs(measured_s - predicted_s);
}

static int compare_differences(const void *left, const void *right)
{
    const struct yk_run_difference *a = left;
    const struct yk_run_difference *b = right;
    const double one = size_of(a->predicted_s, a->measured_s);
    const double other = size_of(b->predicted_s, b->measured_s);
    return one != other ? (one > other ? -1 : 1) : strcmp(a->op, b->op);
}

/* Of every name the rank that differs most. */
static int32_t choose(const struct part *parts, int32_t count, struct yk_run_difference *out)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct part *part = &parts[i];
        const bool again = kept > 0 && strcmp(out[kept - 1].op, part->op) == 0;
        kept += again ? 0 : 1;
        if (again && size_of(part->predicted_s, part->measured_s) <=
                         size_of(out[kept - 1].predicted_s, out[kept - 1].measured_s)) {
            continue;
        }
        out[kept - 1] = (struct yk_run_difference){
            .op = part->op,
            .rank = part->rank,
            .predicted_s = part->predicted_s,
            .measured_s = part->measured_s,
        };
    }
    return kept;
}

yk_status yk_run_ranks_find_differences(const struct yk_run_report *report, int32_t max,
                                        struct yk_arena *arena, struct yk_run_difference **out,
                                        int32_t *out_count)
{
    struct yk_run_difference *differences = NULL;
    struct part *parts = NULL;
    if (!report->predicted || !report->measured) {
        *out = NULL;
        *out_count = 0;
        return YK_OK;
    }
    const int32_t first = yk_trace_event_count(report->predicted);
    const int64_t all = (int64_t)first + yk_trace_event_count(report->measured);
    YK_TRY_NEW(arena, parts, all + 1);
    YK_TRY(add_parts(report->predicted, false, arena, parts));
    YK_TRY(add_parts(report->measured, true, arena, parts + first));
    qsort(parts, (size_t)all, sizeof *parts, compare_parts);
    const int32_t count = join_parts(parts, (int32_t)all);
    YK_TRY_NEW(arena, differences, (int64_t)count + 1);
    int32_t kept = choose(parts, count, differences);
    qsort(differences, (size_t)kept, sizeof *differences, compare_differences);
    while (kept > 0 &&
           size_of(differences[kept - 1].predicted_s, differences[kept - 1].measured_s) < 0.5e-9) {
        kept--;
    }
    *out = differences;
    *out_count = kept < max ? kept : max;
    return YK_OK;
}
