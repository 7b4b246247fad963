/* What a gauge's readings come to, by phase and by kind of layer. */
#include "measure/counters/attribution.h"

#include "measure/counters/lines.h"
#include "measure/counters/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const phase_names[YK_COUNTER_PHASE_COUNT] = {
    [YK_COUNTER_PHASE_FORWARD] = "forward",
    [YK_COUNTER_PHASE_BACKWARD] = "backward",
    [YK_COUNTER_PHASE_UPDATE] = "update",
    [YK_COUNTER_PHASE_COMMUNICATION] = "communication",
};

/* A step so many times as long as most is not like them: the first one, which loads and tries out
 * kernels while ops seem to run. */
static const double STRANGE = 3;

/* All readings may be off together by so many times what each may be. */
static const double LAG_OF_ENDS = 10;

static int compare_seconds(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The median; INFINITY where there are none. */
static yk_status find_step_s(const struct yk_counter_recorder *gauge, struct yk_arena *arena,
                             double *out)
{
    const struct yk_counter_recorder_spans *steps = &gauge->steps;
    double *lengths = NULL;
    YK_TRY_NEW(arena, lengths, (int64_t)steps->count + 1);
    for (int32_t i = 0; i < steps->count; i++) {
        lengths[i] = steps->all[i].end_s - steps->all[i].begin_s;
    }
    qsort(lengths, (size_t)steps->count, sizeof *lengths, compare_seconds);
    *out = steps->count > 0 ? lengths[steps->count / 2] : INFINITY;
    return YK_OK;
}

/* The stretches without the steps that are not like the others. */
static yk_status list_known(const struct yk_counter_recorder *gauge, double step_s,
                            struct yk_arena *arena, struct yk_counter_recorder_spans *out)
{
    const struct yk_counter_recorder_spans *steps = &gauge->steps;
    int32_t at = 0;
    YK_TRY_NEW(arena, out->all, (int64_t)gauge->stretches.count + steps->count + 1);
    out->count = 0;
    for (int32_t i = 0; i < gauge->stretches.count; i++) {
        struct yk_counter_recorder_span rest = gauge->stretches.all[i];
        for (; at < steps->count && steps->all[at].begin_s < rest.end_s; at++) {
            const struct yk_counter_recorder_span *step = &steps->all[at];
            if (step->end_s - step->begin_s > STRANGE * step_s) {
                if (step->begin_s > rest.begin_s) {
                    out->all[out->count++] =
                        (struct yk_counter_recorder_span){rest.begin_s, step->begin_s};
                }
                rest.begin_s = fmax(rest.begin_s, step->end_s);
            }
        }
        if (rest.end_s > rest.begin_s) {
            out->all[out->count++] = rest;
        }
    }
    return YK_OK;
}

struct spans {
    struct yk_counter_span *all;
    int32_t count;
};

/* Everything outside of what is known is unknown; what is in it comes after. */
static yk_status begin_spans(const struct yk_counter_recorder *gauge,
                             const struct yk_counter_recorder_spans *known, struct yk_arena *arena,
                             struct spans *out)
{
    double since_s = -INFINITY;
    YK_TRY_NEW(arena, out->all, (int64_t)gauge->moment_count + known->count + 1);
    for (int32_t i = 0; i < known->count; i++) {
        out->all[out->count++] =
            (struct yk_counter_span){since_s, known->all[i].begin_s, YK_COUNTER_UNKNOWN};
        since_s = known->all[i].end_s;
    }
    out->all[out->count++] = (struct yk_counter_span){since_s, INFINITY, YK_COUNTER_UNKNOWN};
    return YK_OK;
}

/* Passes are parts by kind of layer, forward and backward: those differ. What has no kind comes
 * behind them, by its phase. */
static int32_t part_of(const struct yk_counter_recorder *gauge, int32_t phase, int32_t kind)
{
    return kind != YK_COUNTER_RECORDER_NO_KIND
               ? 2 * kind + (phase == YK_COUNTER_PHASE_BACKWARD ? 1 : 0)
               : 2 * gauge->kind_count + phase;
}

/* Groups are the phases, then the kinds: (phases + kinds, parts). The parts of a phase are a
 * family.
 */
static yk_status list_groups(const struct yk_counter_recorder *gauge, struct yk_arena *arena,
                             struct yk_counter_groups *out)
{
    const int32_t parts = 2 * gauge->kind_count + YK_COUNTER_PHASE_COUNT;
    bool *members = NULL;
    int32_t *families = NULL;
    *out = (struct yk_counter_groups){NULL, YK_COUNTER_PHASE_COUNT + gauge->kind_count, parts, NULL,
                                      0};
    YK_TRY_NEW(arena, members, (int64_t)out->group_count * parts);
    YK_TRY_NEW(arena, families, parts);
    for (int32_t phase = 0; phase < YK_COUNTER_PHASE_COUNT; phase++) {
        members[phase * parts + part_of(gauge, phase, YK_COUNTER_RECORDER_NO_KIND)] = true;
        families[part_of(gauge, phase, YK_COUNTER_RECORDER_NO_KIND)] = phase;
    }
    for (int32_t kind = 0; kind < gauge->kind_count; kind++) {
        for (int32_t phase = YK_COUNTER_PHASE_FORWARD; phase <= YK_COUNTER_PHASE_BACKWARD;
             phase++) {
            const int32_t part = part_of(gauge, phase, kind);
            members[phase * parts + part] = true;
            members[(YK_COUNTER_PHASE_COUNT + kind) * parts + part] = true;
            families[part] = phase;
        }
    }
    out->members = members;
    out->families = families;
    return YK_OK;
}

static yk_status list_spans(const struct yk_counter_recorder *gauge,
                            const struct yk_counter_recorder_spans *known, struct yk_arena *arena,
                            struct spans *out)
{
    YK_TRY(begin_spans(gauge, known, arena, out));
    for (int32_t i = 0; i < gauge->moment_count; i++) {
        const struct yk_counter_recorder_interval *moment = &gauge->moments[i];
        out->all[out->count++] = (struct yk_counter_span){
            moment->begin_s, moment->end_s, part_of(gauge, moment->phase, moment->kind)};
    }
    return YK_OK;
}

/* How late readings may be: not half of one, not so much that the step before or the next one
 * explains them as well. */
static double most_lag_s(const struct yk_counter_readings *readings, double step_s)
{
    double sum_s = 0;
    for (int32_t i = 0; i < readings->count; i++) {
        sum_s += readings->all[i].end_s - readings->all[i].begin_s;
    }
    const double half_s = readings->count > 0 ? 0.5 * sum_s / readings->count : 0;
    return fmin(fmin(half_s, step_s / 3), readings->lag_s);
}

/* The readings at the times they seem to have been taken at, less than `most_s` off. */
static yk_status shift(const struct spans *spans, int32_t part_count, double most_s,
                       struct yk_arena *arena, struct yk_counter_readings *readings, double *lag_s)
{
    struct yk_counter_reading *shifted = NULL;
    YK_TRY(yk_counters_fit_lag(readings->all, readings->count, spans->all, spans->count, part_count,
                               most_s, lag_s));
    if (*lag_s == 0) {
        return YK_OK;
    }
    YK_TRY_NEW(arena, shifted, readings->count);
    for (int32_t i = 0; i < readings->count; i++) {
        shifted[i] = readings->all[i];
        shifted[i].begin_s += *lag_s;
        shifted[i].end_s += *lag_s;
    }
    readings->all = shifted;
    return YK_OK;
}

static yk_status share(const struct yk_counter_readings *readings, const struct spans *spans,
                       const struct yk_counter_groups *groups,
                       const struct yk_counter_recorder *gauge, struct yk_arena *arena,
                       struct yk_counter_rank *out)
{
    double *values = NULL;
    double *seconds = NULL;
    YK_TRY_NEW(arena, values, (int64_t)groups->group_count * YK_COUNTER_COUNT);
    YK_TRY_NEW(arena, seconds, groups->group_count);
    YK_TRY(yk_counters_fit_parts(readings->all, readings->count, spans->all, spans->count, groups,
                                 values, seconds));
    YK_TRY_NEW(arena, out->phases.all, YK_COUNTER_PHASE_COUNT + 1);
    YK_TRY_NEW(arena, out->kinds.all, (int64_t)gauge->kind_count + 1);
    for (int32_t g = 0; g < groups->group_count; g++) {
        const int32_t kind = g - YK_COUNTER_PHASE_COUNT;
        struct yk_counter_rows *rows = kind < 0 ? &out->phases : &out->kinds;
        struct yk_counter_row *row = &rows->all[rows->count];
        *row = (struct yk_counter_row){
            kind < 0 ? phase_names[g] : gauge->kinds[kind], seconds[g], {0}};
        memcpy(row->values, values + (int64_t)g * YK_COUNTER_COUNT, sizeof row->values);
        /* Power follows what runs by a lag of its own, and is no average over the reading. */
        row->values[YK_COUNTER_POWER] = NAN;
        rows->count += seconds[g] > 0;
    }
    return YK_OK;
}

/* All readings within what is known, as one. */
static void add_whole(const struct yk_counter_recorder_spans *known,
                      const struct yk_counter_readings *readings, struct yk_counter_rows *rows)
{
    struct yk_counter_reading_sum sum = {0};
    int32_t at = 0;
    for (int32_t i = 0; i < readings->count; i++) {
        const struct yk_counter_reading *reading = &readings->all[i];
        while (at < known->count && known->all[at].end_s <= reading->begin_s) {
            at++;
        }
        if (at < known->count && known->all[at].begin_s <= reading->begin_s &&
            reading->end_s <= known->all[at].end_s) {
            yk_counter_reading_sum_add(&sum, reading);
        }
    }
    const struct yk_counter_reading whole = yk_counter_reading_sum_average(&sum);
    struct yk_counter_row *row = &rows->all[rows->count++];
    *row = (struct yk_counter_row){"step", sum.seconds, {0}};
    memcpy(row->values, whole.values, sizeof row->values);
}

yk_status yk_counter_attribution_compute(const struct yk_counter_recorder *gauge,
                                         const struct yk_counter_readings *given, double traced_s,
                                         struct yk_arena *arena, struct yk_counter_rank *out,
                                         double *lag_s)
{
    struct yk_counter_readings readings = *given;
    struct yk_counter_recorder_spans known = {0};
    struct yk_counter_groups groups;
    struct spans spans = {0};
    double step_s = INFINITY;
    *out = (struct yk_counter_rank){.device = "", .source = ""};
    YK_TRY(find_step_s(gauge, arena, &step_s));
    YK_TRY(list_known(gauge, step_s, arena, &known));
    YK_TRY(list_groups(gauge, arena, &groups));
    groups.ends_s = readings.ends_s;
    YK_TRY(list_spans(gauge, &known, arena, &spans));
    YK_TRY(
        shift(&spans, groups.part_count, most_lag_s(&readings, step_s), arena, &readings, lag_s));
    YK_TRY(share(&readings, &spans, &groups, gauge, arena, out));
    add_whole(&known, &readings, &out->phases);
    if (isfinite(traced_s) && traced_s == gauge->last_began_s) {
        YK_TRY(yk_counter_line_around(readings.all, readings.count, traced_s, gauge->last_done_s,
                                      arena, &out->step));
    }
    return yk_counter_line_over(readings.all, readings.count, arena, &out->run);
}

yk_status yk_counter_attribution_report(const struct yk_counter_recorder *gauge, double traced_s,
                                        struct yk_arena *arena, struct yk_counter_rank *out)
{
    struct yk_counter_readings readings = {.ends_s =
                                               yk_counter_sampler_edge_error_s(gauge->meters)};
    struct yk_text words = {0};
    double lag_s = 0;
    readings.lag_s = LAG_OF_ENDS * readings.ends_s;
    yk_counter_sampler_readings(gauge->meters, &readings.all, &readings.count);
    YK_TRY(yk_counter_attribution_compute(gauge, &readings, traced_s, arena, out, &lag_s));
    yk_counter_sampler_describe(gauge->meters, &words);
    if (lag_s != 0) {
        yk_text_addf(&words, "; readings are %.1f ms %s", 1e3 * fabs(lag_s),
                     lag_s < 0 ? "late" : "early");
    }
    yk_status status = yk_text_status(&words);
    if (status == YK_OK) {
        out->source = yk_arena_copy_text(arena, yk_text_chars(&words), words.length);
        status = out->source ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(&words);
    return status;
}
