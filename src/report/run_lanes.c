#include "report/run_lanes.h"

#include <math.h>
#include <stdio.h>

const char *yk_run_trace_name(int trace)
{
    return trace == YK_RUN_PREDICTED ? "predicted" : "measured";
}

static yk_status keep(struct yk_arena *arena, const char *device, enum yk_lane lane,
                      const char **out)
{
    struct yk_text text = {0};
    yk_text_addf(&text, "%s, %s", device, yk_lane_name(lane));
    yk_status status = yk_text_status(&text);
    if (status == YK_OK) {
        *out = yk_arena_copy_text(arena, yk_text_chars(&text), text.length);
        status = *out ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(&text);
    return status;
}

static yk_status number(struct yk_arena *arena, int32_t rank, const char **out)
{
    char digits[16];
    const int length = snprintf(digits, sizeof digits, "%d", (int)rank);
    *out = yk_arena_copy_text(arena, digits, (size_t)length);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

/* Lanes of both traces, (ranks, lanes) each. */
struct both {
    const struct yk_trace *traces[YK_RUN_TRACE_COUNT];
    const struct yk_plan_lane *lanes[YK_RUN_TRACE_COUNT];
    double end_s[YK_RUN_TRACE_COUNT];
    int32_t rank_count;
};

static yk_status sort(const struct yk_run_report *report, struct yk_arena *arena, struct both *out)
{
    *out = (struct both){.traces = {report->predicted, report->measured}, .end_s = {NAN, NAN}};
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        const int32_t count = out->traces[t] ? yk_trace_rank_count(out->traces[t]) : 0;
        out->rank_count = count > out->rank_count ? count : out->rank_count;
    }
    for (int t = 0; t < YK_RUN_TRACE_COUNT && out->rank_count > 0; t++) {
        if (out->traces[t]) {
            YK_TRY(yk_plan_lanes_make(out->traces[t], out->rank_count, arena, &out->lanes[t],
                                      &out->end_s[t]));
        }
    }
    return YK_OK;
}

static const char *device_of(const struct both *both, int32_t rank)
{
    for (int t = YK_RUN_TRACE_COUNT - 1; t >= 0; t--) {
        if (both->traces[t] && rank < yk_trace_rank_count(both->traces[t])) {
            return yk_trace_rank_name(both->traces[t], rank);
        }
    }
    return "";
}

static yk_status fill_fold(const struct both *both, int32_t rank, int32_t lane,
                           struct yk_arena *arena, struct yk_plan_fold *out)
{
    *out = (struct yk_plan_fold){.rank = rank, .count = 1};
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        if (both->lanes[t]) {
            out->lanes[t] = both->lanes[t][rank * YK_LANE_COUNT + lane];
        }
        out->lanes[t].name = yk_run_trace_name(t);
    }
    YK_TRY(number(arena, rank, &out->numbers));
    return keep(arena, device_of(both, rank), (enum yk_lane)lane, &out->name);
}

yk_status yk_run_lanes_make(const struct yk_run_report *report, struct yk_arena *arena,
                            struct yk_run_lanes *out)
{
    struct both both;
    struct yk_plan_fold *folds = NULL;
    const char **devices = NULL;
    int32_t count = 0;
    YK_TRY(sort(report, arena, &both));
    YK_TRY_NEW(arena, folds, (int64_t)both.rank_count * YK_LANE_COUNT + 1);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, devices, (int64_t)both.rank_count * YK_LANE_COUNT + 1);
    for (int32_t i = 0; i < both.rank_count * YK_LANE_COUNT; i++) {
        YK_TRY(fill_fold(&both, i / YK_LANE_COUNT, i % YK_LANE_COUNT, arena, &folds[count]));
        devices[count] = device_of(&both, i / YK_LANE_COUNT);
        count += folds[count].lanes[0].count > 0 || folds[count].lanes[1].count > 0;
    }
    *out = (struct yk_run_lanes){
        .report = {.title = report->title, .step_s = NAN, .bound_s = NAN},
        .folds = {.folds = folds, .count = count},
        .devices = devices,
        .end_s = {both.end_s[YK_RUN_PREDICTED], both.end_s[YK_RUN_MEASURED]},
    };
    out->folds.report = &out->report;
    /* Of a number and what is none, fmax takes the number. */
    out->folds.span_s = fmax(fmax(both.end_s[YK_RUN_PREDICTED], both.end_s[YK_RUN_MEASURED]), 0);
    return YK_OK;
}

void yk_run_lanes_sum(const struct yk_run_lanes *lanes, struct yk_run_kind out[YK_LOOK_OP_COUNT])
{
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        out[k] = (struct yk_run_kind){0};
    }
    for (int32_t f = 0; f < lanes->folds.count; f++) {
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            const struct yk_plan_lane *lane = &lanes->folds.folds[f].lanes[t];
            for (int32_t i = 0; i < lane->count; i++) {
                struct yk_run_kind *kind = &out[yk_look_op_kind(lane->events[i]->op)];
                kind->count[t]++;
                kind->seconds[t] += lane->events[i]->end_s - lane->events[i]->start_s;
            }
        }
    }
    /* Traces are kept to the nanosecond: what is finer is the noise of differences. */
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            out[k].seconds[t] = round(out[k].seconds[t] * 1e9) / 1e9;
        }
    }
}
