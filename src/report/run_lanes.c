#include "report/run_lanes.h"

#include "trace/trace.h"

#include <math.h>
#include <string.h>

/* Traces in files are kept to the nanosecond. */
static const double SAME_S = 1.5e-9;

const char *yk_run_trace_name(int trace)
{
    return trace == YK_RUN_PREDICTED ? "predicted" : "measured";
}

static yk_status keep(struct yk_arena *arena, struct yk_text *text, const char **out)
{
    yk_status status = yk_text_status(text);
    if (status == YK_OK) {
        *out = yk_arena_copy_text(arena, yk_text_chars(text), text->length);
        status = *out ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(text);
    return status;
}

/* Lanes of both traces, (ranks, lanes) each. */
struct both {
    const struct yk_run_ranks *ranks;
    const struct yk_trace *traces[YK_RUN_TRACE_COUNT];
    const struct yk_plan_lane *lanes[YK_RUN_TRACE_COUNT];
    double end_s;   /* of the last event */
    double shift_s; /* that has been added to their times */
    int32_t rank_count;
    int32_t *first_of; /* (ranks) the first that does the same */
    int32_t *shown;    /* (ranks) of such a first one: the rank that stands for all of them */
    int32_t *alike;    /* (ranks) and how many they are */
};

static yk_status sort(const struct yk_run_report *report, struct yk_arena *arena, struct both *out)
{
    out->traces[YK_RUN_PREDICTED] = report->predicted;
    out->traces[YK_RUN_MEASURED] = report->measured;
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        const int32_t count = out->traces[t] ? yk_trace_rank_count(out->traces[t]) : 0;
        out->rank_count = count > out->rank_count ? count : out->rank_count;
    }
    for (int t = 0; t < YK_RUN_TRACE_COUNT && out->rank_count > 0; t++) {
        double end_s = 0;
        if (out->traces[t]) {
            YK_TRY(
                yk_plan_lanes_make(out->traces[t], out->rank_count, arena, &out->lanes[t], &end_s));
            out->end_s = fmax(out->end_s, end_s);
        }
    }
    return YK_OK;
}

static yk_status shift_lane(struct yk_arena *arena, double by_s, struct yk_plan_lane *lane)
{
    struct yk_trace_event *events = NULL;
    const struct yk_trace_event **places = NULL;
    YK_TRY_NEW(arena, events, (int64_t)lane->count + 1);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, places, (int64_t)lane->count + 1);
    for (int32_t i = 0; i < lane->count; i++) {
        events[i] = *lane->events[i];
        events[i].start_s += by_s;
        events[i].end_s += by_s;
        places[i] = &events[i];
    }
    lane->events = places;
    return YK_OK;
}

/* Puts the first op of either trace at 0, unless it is later. */
static yk_status shift(struct yk_arena *arena, struct both *both)
{
    double first_s = 0;
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        first_s = both->traces[t] ? fmin(first_s, yk_trace_sum_begin_s(both->traces[t])) : first_s;
    }
    for (int t = 0; t < YK_RUN_TRACE_COUNT && first_s < 0; t++) {
        const int32_t count = both->rank_count * YK_LANE_COUNT;
        struct yk_plan_lane *lanes = NULL;
        if (!both->lanes[t]) {
            continue;
        }
        YK_TRY_NEW(arena, lanes, count);
        for (int32_t i = 0; i < count; i++) {
            lanes[i] = both->lanes[t][i];
            YK_TRY(shift_lane(arena, -first_s, &lanes[i]));
        }
        both->lanes[t] = lanes;
    }
    both->end_s -= first_s;
    both->shift_s = -first_s;
    return YK_OK;
}

static bool same_lane(const struct yk_plan_lane *a, const struct yk_plan_lane *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (int32_t i = 0; i < a->count; i++) {
        if (fabs(a->events[i]->start_s - b->events[i]->start_s) > SAME_S ||
            fabs(a->events[i]->end_s - b->events[i]->end_s) > SAME_S ||
            strcmp(a->events[i]->op, b->events[i]->op) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_rank(const struct both *both, int32_t a, int32_t b)
{
    const struct yk_plan_lane *lanes = both->lanes[YK_RUN_PREDICTED];
    for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
        if (!same_lane(&lanes[a * YK_LANE_COUNT + l], &lanes[b * YK_LANE_COUNT + l])) {
            return false;
        }
    }
    return true;
}

static yk_status fold(struct yk_arena *arena, struct both *both)
{
    const bool folds = both->rank_count > YK_RUN_LANES_APART && both->lanes[YK_RUN_PREDICTED];
    YK_TRY_NEW(arena, both->first_of, (int64_t)both->rank_count + 1);
    YK_TRY_NEW(arena, both->shown, (int64_t)both->rank_count + 1);
    YK_TRY_NEW(arena, both->alike, (int64_t)both->rank_count + 1);
    for (int32_t r = 0; r < both->rank_count; r++) {
        int32_t first = folds ? 0 : r;
        while (first < r && (both->first_of[first] != first || !same_rank(both, first, r))) {
            first++;
        }
        both->first_of[r] = first;
        both->alike[first]++;
        if (first == r || both->ranks->ranks[r].measured.compute_s >
                              both->ranks->ranks[both->shown[first]].measured.compute_s) {
            both->shown[first] = r;
        }
    }
    return YK_OK;
}

/* "0 to 31, 40". */
static yk_status number(const struct both *both, int32_t first, struct yk_arena *arena,
                        const char **out)
{
    struct yk_text text = {0};
    for (int32_t r = first; r < both->rank_count; r++) {
        const int32_t from = r;
        if (both->first_of[r] != first) {
            continue;
        }
        while (r + 1 < both->rank_count && both->first_of[r + 1] == first) {
            r++;
        }
        yk_text_addf(&text, from == r ? "%s%d" : "%s%d to %d", text.length > 0 ? ", " : "",
                     (int)from, (int)r);
    }
    return keep(arena, &text, out);
}

static yk_status name(const struct both *both, int32_t first, const char *numbers,
                      struct yk_arena *arena, const char **out)
{
    struct yk_text text = {0};
    yk_text_add(&text, both->ranks->ranks[both->shown[first]].device);
    if (both->alike[first] > 1) {
        yk_text_addf(
            &text, both->traces[YK_RUN_MEASURED] ? ", slowest of ranks %s" : ", as all of ranks %s",
            numbers);
    }
    return keep(arena, &text, out);
}

static yk_status fill_fold(const struct both *both, int32_t first, int32_t lane,
                           struct yk_arena *arena, struct yk_plan_fold *out, const char **device)
{
    const int32_t rank = both->shown[first];
    struct yk_text text = {0};
    *out = (struct yk_plan_fold){.rank = rank, .count = both->alike[first]};
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        if (both->lanes[t]) {
            out->lanes[t] = both->lanes[t][rank * YK_LANE_COUNT + lane];
        }
        out->lanes[t].name = yk_run_trace_name(t);
    }
    YK_TRY(number(both, first, arena, &out->numbers));
    YK_TRY(name(both, first, out->numbers, arena, device));
    yk_text_addf(&text, "%s, %s", *device, yk_trace_lane_name((enum yk_lane)lane));
    return keep(arena, &text, &out->name);
}

yk_status yk_run_lanes_make(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                            struct yk_arena *arena, struct yk_run_lanes *out)
{
    struct both both = {.ranks = ranks};
    struct yk_plan_fold *folds = NULL;
    const char **devices = NULL;
    int32_t count = 0;
    YK_TRY(sort(report, arena, &both));
    YK_TRY(shift(arena, &both));
    YK_TRY(fold(arena, &both));
    YK_TRY_NEW(arena, folds, (int64_t)both.rank_count * YK_LANE_COUNT + 1);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, devices, (int64_t)both.rank_count * YK_LANE_COUNT + 1);
    *out = (struct yk_run_lanes){
        .result = {.title = report->title, .step_s = NAN, .bound_s = NAN},
        .devices = devices,
        .shift_s = both.shift_s,
    };
    for (int32_t i = 0; i < both.rank_count * YK_LANE_COUNT; i++) {
        const int32_t rank = i / YK_LANE_COUNT;
        if (both.first_of[rank] == rank) {
            YK_TRY(
                fill_fold(&both, rank, i % YK_LANE_COUNT, arena, &folds[count], &devices[count]));
            out->folded |= both.alike[rank] > 1;
            count += folds[count].lanes[0].count > 0 || folds[count].lanes[1].count > 0;
        }
    }
    out->folds = (struct yk_plan_folds){
        .result = &out->result, .folds = folds, .count = count, .span_s = both.end_s};
    return YK_OK;
}

void yk_run_kinds_sum(const struct yk_run_report *report, struct yk_run_kind out[YK_LOOK_OP_COUNT])
{
    const struct yk_trace *traces[YK_RUN_TRACE_COUNT] = {report->predicted, report->measured};
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        out[k] = (struct yk_run_kind){0};
    }
    for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
        for (int32_t i = 0; traces[t] && i < yk_trace_event_count(traces[t]); i++) {
            const struct yk_trace_event *event = yk_trace_event_at(traces[t], i);
            struct yk_run_kind *kind = &out[yk_look_op_kind(event->op)];
            kind->count[t]++;
            kind->seconds[t] += event->end_s - event->start_s;
        }
    }
    /* Traces are kept to the nanosecond: what is finer is the noise of differences. */
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            out[k].seconds[t] = round(out[k].seconds[t] * 1e9) / 1e9;
        }
    }
}
