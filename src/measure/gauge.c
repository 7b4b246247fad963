#include "measure/gauge.h"

#include "measure/gauge_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MOMENTS = 1 << 18, /* then the older half is forgotten */
    MOST_STRETCHES = 1 << 14,
    MOST_KINDS = (YK_COUNTER_MOST_PARTS - YK_GAUGE_PHASE_COUNT) / 2,
    NO_KIND = -1,
};

/* Between two ops of one sort, a pause too short for any reading to see. */
static const double SHORT_S = 20e-6;

/* One op, or several of one sort that followed each other. */
struct moment {
    double begin_s;
    double end_s;
    int16_t phase;
    int16_t kind;
};

/* An unbroken row of steps or passes. */
struct stretch {
    double begin_s;
    double end_s;
};

struct yk_gauge {
    struct yk_meters *meters;
    struct moment *moments;
    int32_t moment_count;
    struct stretch *stretches;
    int32_t stretch_count;
    const char *kinds[MOST_KINDS];
    int32_t kind_count;
    double last_began_s; /* of the step told of last */
    double last_done_s;
};

static const char *const phase_names[YK_GAUGE_PHASE_COUNT] = {
    [YK_GAUGE_FORWARD] = "forward",
    [YK_GAUGE_BACKWARD] = "backward",
    [YK_GAUGE_UPDATE] = "update",
    [YK_GAUGE_COMMUNICATION] = "communication",
};

yk_status yk_gauge_open(const struct yk_meters_options *options, struct yk_gauge **out)
{
    struct yk_gauge *gauge = calloc(1, sizeof *gauge);
    if (!gauge) {
        return yk_fail_out_of_memory();
    }
    gauge->last_began_s = NAN;
    gauge->last_done_s = NAN;
    gauge->moments = malloc(MOST_MOMENTS * sizeof *gauge->moments);
    gauge->stretches = malloc(MOST_STRETCHES * sizeof *gauge->stretches);
    yk_status status = gauge->moments && gauge->stretches ? YK_OK : yk_fail_out_of_memory();
    if (status == YK_OK) {
        status = yk_meters_open(options, &gauge->meters);
    }
    if (status != YK_OK) {
        yk_gauge_close(gauge);
        return status;
    }
    *out = gauge;
    return YK_OK;
}

void yk_gauge_close(struct yk_gauge *gauge)
{
    if (gauge) {
        yk_meters_close(gauge->meters);
        free(gauge->moments);
        free(gauge->stretches);
        free(gauge);
    }
}

yk_status yk_gauge_start(struct yk_gauge *gauge)
{
    return yk_meters_start(gauge->meters);
}

void yk_gauge_stop(struct yk_gauge *gauge)
{
    yk_meters_stop(gauge->meters);
}

/* ---- what ran ---- */

/* What began before the oldest moment that is kept is not known any more. */
static void forget_half(struct yk_gauge *gauge)
{
    const int32_t kept = gauge->moment_count / 2;
    memmove(gauge->moments, gauge->moments + (gauge->moment_count - kept),
            (size_t)kept * sizeof *gauge->moments);
    gauge->moment_count = kept;
    const double since_s = kept > 0 ? gauge->moments[0].begin_s : INFINITY;
    int32_t stretches = 0;
    for (int32_t i = 0; i < gauge->stretch_count; i++) {
        struct stretch stretch = gauge->stretches[i];
        stretch.begin_s = fmax(stretch.begin_s, since_s);
        if (stretch.end_s > stretch.begin_s) {
            gauge->stretches[stretches++] = stretch;
        }
    }
    gauge->stretch_count = stretches;
}

static void add_moment(struct yk_gauge *gauge, const struct moment *moment)
{
    /* Lanes run side by side: the last of this sort may be a few moments back. */
    for (int32_t i = gauge->moment_count - 1; i >= 0 && i >= gauge->moment_count - 4; i--) {
        struct moment *last = &gauge->moments[i];
        if (last->phase == moment->phase && last->kind == moment->kind &&
            moment->begin_s >= last->begin_s && moment->begin_s - last->end_s < SHORT_S) {
            last->end_s = fmax(last->end_s, moment->end_s);
            return;
        }
    }
    if (gauge->moment_count == MOST_MOMENTS) {
        forget_half(gauge);
    }
    gauge->moments[gauge->moment_count++] = *moment;
}

static void add_stretch(struct yk_gauge *gauge, double begin_s, double end_s, double most_gap_s)
{
    struct stretch *stretches = gauge->stretches;
    const int32_t kept = MOST_STRETCHES / 2;
    if (gauge->stretch_count > 0 &&
        begin_s - stretches[gauge->stretch_count - 1].end_s < most_gap_s) {
        struct stretch *last = &stretches[gauge->stretch_count - 1];
        last->end_s = fmax(last->end_s, end_s);
        return;
    }
    if (gauge->stretch_count == MOST_STRETCHES) {
        memmove(stretches, stretches + kept, (size_t)kept * sizeof *stretches);
        gauge->stretch_count = kept;
    }
    stretches[gauge->stretch_count++] = (struct stretch){begin_s, end_s};
}

/* More kinds than there is room for count as none. */
static int16_t number_of_kind(struct yk_gauge *gauge, const char *kind)
{
    for (int32_t i = 0; kind && i < gauge->kind_count; i++) {
        if (strcmp(gauge->kinds[i], kind) == 0) {
            return (int16_t)i;
        }
    }
    if (!kind || gauge->kind_count == MOST_KINDS) {
        return NO_KIND;
    }
    gauge->kinds[gauge->kind_count] = kind;
    return (int16_t)gauge->kind_count++;
}

/* False of what is no phase: loading samples, dropping parameters, a rank that agrees with itself.
 */
static bool find_phase(const struct yk_op *op, int32_t ranks, enum yk_gauge_phase *out)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
        *out = YK_GAUGE_FORWARD;
        return true;
    case YK_OP_BACKWARD:
    case YK_OP_RECOMPUTE:
        *out = YK_GAUGE_BACKWARD;
        return true;
    case YK_OP_UPDATE:
        *out = YK_GAUGE_UPDATE;
        return true;
    default:
        *out = YK_GAUGE_COMMUNICATION;
        return op->lane == YK_LANE_COMM && ranks > 1;
    }
}

void yk_gauge_step(struct yk_gauge *gauge, const struct yk_run_times *times)
{
    const struct yk_program *program = times->program;
    const struct yk_program_rank *list = &program->ranks[times->rank];
    for (int32_t i = 0; i < times->count; i++) {
        const struct yk_op_time *time = &times->ops[i];
        const struct yk_op *op = &list->ops[time->op];
        enum yk_gauge_phase phase;
        if (find_phase(op, program->rank_count, &phase)) {
            const bool passes = phase == YK_GAUGE_FORWARD || phase == YK_GAUGE_BACKWARD;
            const char *kind =
                passes ? yk_sizes_whole(program->sizes)->layers[op->layer].kind : NULL;
            add_moment(gauge, &(struct moment){time->start_s, time->end_s, (int16_t)phase,
                                               number_of_kind(gauge, kind)});
        }
    }
    add_stretch(gauge, times->began_s, times->done_s, SHORT_S);
    gauge->last_began_s = times->began_s;
    gauge->last_done_s = times->done_s;
}

void yk_gauge_pass(struct yk_gauge *gauge, enum yk_gauge_phase phase, const char *kind,
                   double began_s, double done_s)
{
    add_moment(gauge,
               &(struct moment){began_s, done_s, (int16_t)phase, number_of_kind(gauge, kind)});
    add_stretch(gauge, began_s, done_s, INFINITY);
}

/* ---- what it comes to ---- */

struct spans {
    struct yk_counter_span *all;
    int32_t count;
};

/* Everything outside of the stretches is unknown; what is in them comes after. */
static yk_status begin_spans(const struct yk_gauge *gauge, struct yk_arena *arena,
                             struct spans *out)
{
    double since_s = -INFINITY;
    YK_TRY_NEW(arena, out->all, (int64_t)gauge->moment_count + gauge->stretch_count + 1);
    for (int32_t i = 0; i < gauge->stretch_count; i++) {
        out->all[out->count++] =
            (struct yk_counter_span){since_s, gauge->stretches[i].begin_s, YK_COUNTER_UNKNOWN};
        since_s = gauge->stretches[i].end_s;
    }
    out->all[out->count++] = (struct yk_counter_span){since_s, INFINITY, YK_COUNTER_UNKNOWN};
    return YK_OK;
}

/* Passes are parts by kind of layer, forward and backward: those differ. What has no kind comes
 * behind them, by its phase. */
static int32_t part_of(const struct yk_gauge *gauge, int32_t phase, int32_t kind)
{
    return kind != NO_KIND ? 2 * kind + (phase == YK_GAUGE_BACKWARD ? 1 : 0)
                           : 2 * gauge->kind_count + phase;
}

/* Readings, in order. */
struct readings {
    const struct yk_counter_reading *all;
    int32_t count;
};

/* Groups are the phases, then the kinds: (phases + kinds, parts). */
static yk_status list_groups(const struct yk_gauge *gauge, struct yk_arena *arena,
                             struct yk_counter_groups *out)
{
    const int32_t parts = 2 * gauge->kind_count + YK_GAUGE_PHASE_COUNT;
    bool *members = NULL;
    *out = (struct yk_counter_groups){NULL, YK_GAUGE_PHASE_COUNT + gauge->kind_count, parts};
    YK_TRY_NEW(arena, members, (int64_t)out->group_count * parts);
    for (int32_t phase = 0; phase < YK_GAUGE_PHASE_COUNT; phase++) {
        members[phase * parts + part_of(gauge, phase, NO_KIND)] = true;
    }
    for (int32_t kind = 0; kind < gauge->kind_count; kind++) {
        for (int32_t phase = YK_GAUGE_FORWARD; phase <= YK_GAUGE_BACKWARD; phase++) {
            members[phase * parts + part_of(gauge, phase, kind)] = true;
            members[(YK_GAUGE_PHASE_COUNT + kind) * parts + part_of(gauge, phase, kind)] = true;
        }
    }
    out->members = members;
    return YK_OK;
}

static yk_status list_spans(const struct yk_gauge *gauge, struct yk_arena *arena, struct spans *out)
{
    YK_TRY(begin_spans(gauge, arena, out));
    for (int32_t i = 0; i < gauge->moment_count; i++) {
        const struct moment *moment = &gauge->moments[i];
        out->all[out->count++] = (struct yk_counter_span){
            moment->begin_s, moment->end_s, part_of(gauge, moment->phase, moment->kind)};
    }
    return YK_OK;
}

/* The readings at the times they seem to have been taken at. */
static yk_status shift(const struct spans *spans, int32_t part_count, struct yk_arena *arena,
                       struct readings *readings, double *lag_s)
{
    struct yk_counter_reading *shifted = NULL;
    YK_TRY(yk_counters_find_lag(readings->all, readings->count, spans->all, spans->count,
                                part_count, lag_s));
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

static yk_status share(const struct readings *readings, const struct spans *spans,
                       const struct yk_counter_groups *groups, const struct yk_gauge *gauge,
                       struct yk_arena *arena, struct yk_counter_rank *out)
{
    double *values = NULL;
    double *seconds = NULL;
    YK_TRY_NEW(arena, values, (int64_t)groups->group_count * YK_COUNTER_COUNT);
    YK_TRY_NEW(arena, seconds, groups->group_count);
    YK_TRY(yk_counters_share(readings->all, readings->count, spans->all, spans->count, groups,
                             values, seconds));
    YK_TRY_NEW(arena, out->phases.all, YK_GAUGE_PHASE_COUNT + 1);
    YK_TRY_NEW(arena, out->kinds.all, (int64_t)gauge->kind_count + 1);
    for (int32_t g = 0; g < groups->group_count; g++) {
        const int32_t kind = g - YK_GAUGE_PHASE_COUNT;
        struct yk_counter_rows *rows = kind < 0 ? &out->phases : &out->kinds;
        struct yk_counter_row *row = &rows->all[rows->count];
        *row = (struct yk_counter_row){
            kind < 0 ? phase_names[g] : gauge->kinds[kind], seconds[g], {0}};
        memcpy(row->values, values + (int64_t)g * YK_COUNTER_COUNT, sizeof row->values);
        rows->count += seconds[g] > 0;
    }
    return YK_OK;
}

/* All readings within what is known, as one. */
static void add_whole(const struct yk_gauge *gauge, const struct readings *readings,
                      struct yk_counter_rows *rows)
{
    struct yk_reading_sum sum = {0};
    int32_t at = 0;
    for (int32_t i = 0; i < readings->count; i++) {
        const struct yk_counter_reading *reading = &readings->all[i];
        while (at < gauge->stretch_count && gauge->stretches[at].end_s <= reading->begin_s) {
            at++;
        }
        if (at < gauge->stretch_count && gauge->stretches[at].begin_s <= reading->begin_s &&
            reading->end_s <= gauge->stretches[at].end_s) {
            yk_reading_sum_add(&sum, reading);
        }
    }
    const struct yk_counter_reading whole = yk_reading_sum_average(&sum);
    struct yk_counter_row *row = &rows->all[rows->count++];
    *row = (struct yk_counter_row){"step", sum.seconds, {0}};
    memcpy(row->values, whole.values, sizeof row->values);
}

yk_status yk_gauge_explain(const struct yk_gauge *gauge, const struct yk_counter_reading *all,
                           int32_t count, double traced_s, struct yk_arena *arena,
                           struct yk_counter_rank *out, double *lag_s)
{
    struct readings readings = {all, count};
    struct yk_counter_groups groups;
    struct spans spans = {0};
    *out = (struct yk_counter_rank){.device = "", .source = ""};
    YK_TRY(list_groups(gauge, arena, &groups));
    YK_TRY(list_spans(gauge, arena, &spans));
    YK_TRY(shift(&spans, groups.part_count, arena, &readings, lag_s));
    YK_TRY(share(&readings, &spans, &groups, gauge, arena, out));
    add_whole(gauge, &readings, &out->phases);
    if (isfinite(traced_s) && traced_s == gauge->last_began_s) {
        YK_TRY(yk_gauge_line_around(readings.all, count, traced_s, gauge->last_done_s, arena,
                                    &out->step));
    }
    return yk_gauge_line_over(readings.all, count, arena, &out->run);
}

yk_status yk_gauge_tell(const struct yk_gauge *gauge, double traced_s, struct yk_arena *arena,
                        struct yk_counter_rank *out)
{
    const struct yk_counter_reading *readings = NULL;
    struct yk_text words = {0};
    double lag_s = 0;
    int32_t count = 0;
    yk_meters_readings(gauge->meters, &readings, &count);
    YK_TRY(yk_gauge_explain(gauge, readings, count, traced_s, arena, out, &lag_s));
    yk_meters_describe(gauge->meters, &words);
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
