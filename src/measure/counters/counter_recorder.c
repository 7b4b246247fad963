#include "measure/counters/counter_recorder.h"

#include "measure/timings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_KINDS = (YK_COUNTER_MAX_PARTS - YK_COUNTER_STEP_PHASE_COUNT) / 2,
    NO_KIND = -1,
    MAX_INTERVALS = 1 << 18, /* then the older half is forgotten */
    MAX_SPANS = 1 << 14,
    MAX_POINTS = 600, /* of a line */
};

/* One op, or several of one kind that followed each other. */
struct interval {
    double begin_s;
    double end_s;
    int16_t phase;
    int16_t kind;
};

/* One step, or an unbroken row of steps or passes. */
struct span {
    double begin_s;
    double end_s;
};

struct span_list {
    struct span *all;
    int32_t count;
};

struct yk_counter_recorder {
    struct yk_counter_sampler *sampler;
    struct interval *intervals;
    int32_t interval_count;
    struct span_list spans;
    struct span_list steps; /* in order; of passes none */
    const char *kinds[MAX_KINDS];
    int32_t kind_count;
    double last_began_s; /* of the last step */
    double last_done_s;
};

/* Between two ops of one kind, a pause too short for any reading to see. */
static const double SHORT_S = 20e-6;

yk_status yk_counter_recorder_open(const struct yk_counter_sampler_options *options,
                                   struct yk_counter_recorder **out)
{
    struct yk_counter_recorder *recorder = calloc(1, sizeof *recorder);
    YK_TRY_ALLOCATED(recorder);
    recorder->last_began_s = NAN;
    recorder->last_done_s = NAN;
    recorder->intervals = malloc(MAX_INTERVALS * sizeof *recorder->intervals);
    recorder->spans.all = malloc(MAX_SPANS * sizeof *recorder->spans.all);
    recorder->steps.all = malloc(MAX_SPANS * sizeof *recorder->steps.all);
    const bool room = recorder->intervals && recorder->spans.all && recorder->steps.all;
    yk_status status = room ? YK_OK : yk_fail_out_of_memory();
    YK_IF_OK(yk_counter_sampler_open(options, &recorder->sampler));
    YK_TRY_OR_CLEAN_UP(status, yk_counter_recorder_close(recorder));
    *out = recorder;
    return YK_OK;
}

void yk_counter_recorder_close(struct yk_counter_recorder *recorder)
{
    if (recorder) {
        yk_counter_sampler_close(recorder->sampler);
        free(recorder->intervals);
        free(recorder->spans.all);
        free(recorder->steps.all);
        free(recorder);
    }
}

yk_status yk_counter_recorder_start(struct yk_counter_recorder *recorder)
{
    return yk_counter_sampler_start(recorder->sampler);
}

void yk_counter_recorder_stop(struct yk_counter_recorder *recorder)
{
    yk_counter_sampler_stop(recorder->sampler);
}

/* ---- what ran ---- */

/* What began before the oldest moment that is kept is not known any more. */
static void forget_half(struct yk_counter_recorder *recorder)
{
    const int32_t kept = recorder->interval_count / 2;
    memmove(recorder->intervals, recorder->intervals + (recorder->interval_count - kept),
            (size_t)kept * sizeof *recorder->intervals);
    recorder->interval_count = kept;
    const double since_s = kept > 0 ? recorder->intervals[0].begin_s : INFINITY;
    struct span_list *spans = &recorder->spans;
    int32_t left = 0;
    for (int32_t i = 0; i < spans->count; i++) {
        struct span span = spans->all[i];
        span.begin_s = fmax(span.begin_s, since_s);
        if (span.end_s > span.begin_s) {
            spans->all[left++] = span;
        }
    }
    spans->count = left;
}

static void add_interval(struct yk_counter_recorder *recorder, const struct interval *interval)
{
    /* Lanes run side by side: the last of this kind may be a few moments back. */
    for (int32_t i = recorder->interval_count - 1; i >= 0 && i >= recorder->interval_count - 4;
         i--) {
        struct interval *last = &recorder->intervals[i];
        if (last->phase == interval->phase && last->kind == interval->kind &&
            interval->begin_s >= last->begin_s && interval->begin_s - last->end_s < SHORT_S) {
            last->end_s = fmax(last->end_s, interval->end_s);
            return;
        }
    }
    if (recorder->interval_count == MAX_INTERVALS) {
        forget_half(recorder);
    }
    recorder->intervals[recorder->interval_count++] = *interval;
}

/* Where there is no room, the older half is forgotten. */
static void append(struct span_list *list, double begin_s, double end_s)
{
    const int32_t kept = MAX_SPANS / 2;
    if (list->count == MAX_SPANS) {
        memmove(list->all, list->all + (MAX_SPANS - kept), (size_t)kept * sizeof *list->all);
        list->count = kept;
    }
    list->all[list->count++] = (struct span){begin_s, end_s};
}

static void add_span(struct yk_counter_recorder *recorder, double begin_s, double end_s,
                     double max_gap_s)
{
    struct span_list *list = &recorder->spans;
    const int32_t last = list->count - 1;
    if (last >= 0 && begin_s - list->all[last].end_s < max_gap_s) {
        list->all[last].end_s = fmax(list->all[last].end_s, end_s);
    } else {
        append(list, begin_s, end_s);
    }
}

/* More kinds than there is room for count as none. */
static int16_t number_of_kind(struct yk_counter_recorder *recorder, const char *kind)
{
    for (int32_t i = 0; kind && i < recorder->kind_count; i++) {
        if (strcmp(recorder->kinds[i], kind) == 0) {
            return (int16_t)i;
        }
    }
    if (!kind || recorder->kind_count == MAX_KINDS) {
        return NO_KIND;
    }
    recorder->kinds[recorder->kind_count] = kind;
    return (int16_t)recorder->kind_count++;
}

/* False of what is no phase: loading samples, releasing parameters, agreeing alone. */
static bool find_phase(const struct yk_op *op, int32_t ranks, enum yk_counter_step_phase *out)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
        *out = YK_COUNTER_STEP_PHASE_FORWARD;
        return true;
    case YK_OP_BACKWARD:
    case YK_OP_RECOMPUTE:
        *out = YK_COUNTER_STEP_PHASE_BACKWARD;
        return true;
    case YK_OP_UPDATE:
        *out = YK_COUNTER_STEP_PHASE_UPDATE;
        return true;
    default:
        *out = YK_COUNTER_STEP_PHASE_COMMUNICATION;
        return op->lane == YK_LANE_COMM && ranks > 1;
    }
}

void yk_counter_recorder_add_step_timeline(struct yk_counter_recorder *recorder,
                                           const struct yk_op_timeline *timeline)
{
    const struct yk_program *program = timeline->program;
    const struct yk_op_list *list = &program->ranks[timeline->rank];
    for (int32_t i = 0; i < timeline->count; i++) {
        const struct yk_op_interval *time = &timeline->ops[i];
        const struct yk_op *op = &list->ops[time->op];
        enum yk_counter_step_phase phase;
        if (find_phase(op, program->rank_count, &phase)) {
            const bool passes =
                phase == YK_COUNTER_STEP_PHASE_FORWARD || phase == YK_COUNTER_STEP_PHASE_BACKWARD;
            const char *kind =
                passes ? yk_model_cache_get_whole_batch(program->cache)->layers[op->layer].kind
                       : NULL;
            add_interval(recorder, &(struct interval){time->start_s, time->end_s, (int16_t)phase,
                                                      number_of_kind(recorder, kind)});
        }
    }
    add_span(recorder, timeline->began_s, timeline->done_s, SHORT_S);
    append(&recorder->steps, timeline->began_s, timeline->done_s);
    recorder->last_began_s = timeline->began_s;
    recorder->last_done_s = timeline->done_s;
}

void yk_counter_recorder_add_layer_pass(struct yk_counter_recorder *recorder,
                                        enum yk_counter_step_phase phase, const char *kind,
                                        double began_s, double done_s)
{
    add_interval(recorder, &(struct interval){began_s, done_s, (int16_t)phase,
                                              number_of_kind(recorder, kind)});
    add_span(recorder, began_s, done_s, INFINITY);
}

static const double AROUND = 0.25;

static const char *const phase_names[YK_COUNTER_STEP_PHASE_COUNT] = {
    [YK_COUNTER_STEP_PHASE_FORWARD] = "forward",
    [YK_COUNTER_STEP_PHASE_BACKWARD] = "backward",
    [YK_COUNTER_STEP_PHASE_UPDATE] = "update",
    [YK_COUNTER_STEP_PHASE_COMMUNICATION] = "communication",
};

/* A step longer than this multiple of the median is an outlier: the first one loads kernels. */
static const double STRANGE = 3;

/* All readings may be off together by this multiple of the error of one. */
static const double LAG_OF_ENDS = 10;

/* ---- lines ---- */

/* Readings added up, each by its length. Starts as {0}. */
struct reading_sum {
    double begin_s;
    double end_s;
    double seconds; /* of all together */
    double weighted[YK_COUNTER_COUNT];
    double known_s[YK_COUNTER_COUNT]; /* of those that had a number */
};

static void add_reading(struct reading_sum *sum, const struct yk_counter_reading *reading)
{
    const double length_s = reading->end_s - reading->begin_s;
    sum->begin_s = sum->seconds > 0 ? sum->begin_s : reading->begin_s;
    sum->end_s = reading->end_s;
    sum->seconds += length_s;
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        if (isfinite(reading->values[c])) {
            sum->weighted[c] += length_s * reading->values[c];
            sum->known_s[c] += length_s;
        }
    }
}

static struct yk_counter_reading average_of(const struct reading_sum *sum)
{
    struct yk_counter_reading average = {.begin_s = sum->begin_s, .end_s = sum->end_s};
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        average.values[c] = sum->known_s[c] > 0 ? sum->weighted[c] / sum->known_s[c] : NAN;
    }
    return average;
}

static yk_status thin(const struct yk_counter_reading *readings, int32_t count, double zero_s,
                      struct yk_arena *arena, struct yk_counter_series *out)
{
    const int32_t together = 1 + (count - 1) / MAX_POINTS;
    YK_TRY_NEW(arena, out->readings, (int64_t)count / together + 2);
    for (int32_t first = 0; first < count; first += together) {
        struct reading_sum sum = {0};
        for (int32_t i = first; i < count && i < first + together; i++) {
            add_reading(&sum, &readings[i]);
        }
        struct yk_counter_reading *point = &out->readings[out->count++];
        *point = average_of(&sum);
        point->begin_s -= zero_s;
        point->end_s -= zero_s;
    }
    return YK_OK;
}

/* The readings from `begin_s` to `end_s`, plus a quarter of that length before and after. Times are
 * relative to `begin_s`. */
static yk_status line_around(const struct yk_counter_reading_list *given, double begin_s,
                             double end_s, struct yk_arena *arena, struct yk_counter_series *out)
{
    const struct yk_counter_reading *readings = given->all;
    const int32_t count = given->count;
    const double margin_s = AROUND * (end_s - begin_s);
    int32_t first = 0;
    while (first < count && readings[first].end_s <= begin_s - margin_s) {
        first++;
    }
    int32_t end = first;
    while (end < count && readings[end].begin_s < end_s + margin_s) {
        end++;
    }
    return end > first ? thin(readings + first, end - first, begin_s, arena, out) : YK_OK;
}

yk_status yk_counter_recorder_make_series(const struct yk_counter_reading *readings, int32_t count,
                                          struct yk_arena *arena, struct yk_counter_series *out)
{
    return count > 0 ? thin(readings, count, readings[0].begin_s, arena, out) : YK_OK;
}

/* ---- parts ---- */

/* The median; INFINITY where there are none. */
static yk_status find_step_s(const struct yk_counter_recorder *recorder, struct yk_arena *arena,
                             double *out)
{
    const struct span_list *steps = &recorder->steps;
    double *lengths = NULL;
    YK_TRY_NEW(arena, lengths, (int64_t)steps->count + 1);
    for (int32_t i = 0; i < steps->count; i++) {
        lengths[i] = steps->all[i].end_s - steps->all[i].begin_s;
    }
    yk_timings_sort_numbers(lengths, steps->count);
    *out = steps->count > 0 ? lengths[steps->count / 2] : INFINITY;
    return YK_OK;
}

/* The stretches without the steps that are not like the others. */
static yk_status list_known(const struct yk_counter_recorder *recorder, double step_s,
                            struct yk_arena *arena, struct span_list *out)
{
    const struct span_list *steps = &recorder->steps;
    int32_t at = 0;
    YK_TRY_NEW(arena, out->all, (int64_t)recorder->spans.count + steps->count + 1);
    out->count = 0;
    for (int32_t i = 0; i < recorder->spans.count; i++) {
        struct span rest = recorder->spans.all[i];
        for (; at < steps->count && steps->all[at].begin_s < rest.end_s; at++) {
            const struct span *step = &steps->all[at];
            if (step->end_s - step->begin_s > STRANGE * step_s) {
                if (step->begin_s > rest.begin_s) {
                    out->all[out->count++] = (struct span){rest.begin_s, step->begin_s};
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

struct labels {
    struct yk_counter_part_span *all;
    int32_t count;
};

/* Passes are parts by kind of layer, forward and backward: those differ. What has no kind comes
 * behind them, by its phase. */
static int32_t part_of(const struct yk_counter_recorder *recorder, int32_t phase, int32_t kind)
{
    return kind != NO_KIND ? 2 * kind + (phase == YK_COUNTER_STEP_PHASE_BACKWARD ? 1 : 0)
                           : 2 * recorder->kind_count + phase;
}

/* Groups are the phases, then the kinds: (phases + kinds, parts). A phase's parts are a family. */
static yk_status list_groups(const struct yk_counter_recorder *recorder, struct yk_arena *arena,
                             struct yk_counter_part_groups *out)
{
    const int32_t parts = 2 * recorder->kind_count + YK_COUNTER_STEP_PHASE_COUNT;
    bool *members = NULL;
    int32_t *families = NULL;
    *out = (struct yk_counter_part_groups){NULL, YK_COUNTER_STEP_PHASE_COUNT + recorder->kind_count,
                                           parts, NULL, 0};
    YK_TRY_NEW(arena, members, (int64_t)out->group_count * parts);
    YK_TRY_NEW(arena, families, parts);
    for (int32_t phase = 0; phase < YK_COUNTER_STEP_PHASE_COUNT; phase++) {
        members[phase * parts + part_of(recorder, phase, NO_KIND)] = true;
        families[part_of(recorder, phase, NO_KIND)] = phase;
    }
    for (int32_t kind = 0; kind < recorder->kind_count; kind++) {
        for (int32_t phase = YK_COUNTER_STEP_PHASE_FORWARD; phase <= YK_COUNTER_STEP_PHASE_BACKWARD;
             phase++) {
            const int32_t part = part_of(recorder, phase, kind);
            members[phase * parts + part] = true;
            members[(YK_COUNTER_STEP_PHASE_COUNT + kind) * parts + part] = true;
            families[part] = phase;
        }
    }
    out->members = members;
    out->families = families;
    return YK_OK;
}

/* Everything outside of what is known is unknown; what is in it comes after. */
static yk_status list_spans(const struct yk_counter_recorder *recorder,
                            const struct span_list *known, struct yk_arena *arena,
                            struct labels *out)
{
    double since_s = -INFINITY;
    YK_TRY_NEW(arena, out->all, (int64_t)recorder->interval_count + known->count + 1);
    for (int32_t i = 0; i < known->count; i++) {
        out->all[out->count++] =
            (struct yk_counter_part_span){since_s, known->all[i].begin_s, YK_COUNTER_UNKNOWN_PART};
        since_s = known->all[i].end_s;
    }
    out->all[out->count++] =
        (struct yk_counter_part_span){since_s, INFINITY, YK_COUNTER_UNKNOWN_PART};
    for (int32_t i = 0; i < recorder->interval_count; i++) {
        const struct interval *interval = &recorder->intervals[i];
        out->all[out->count++] = (struct yk_counter_part_span){
            interval->begin_s, interval->end_s, part_of(recorder, interval->phase, interval->kind)};
    }
    return YK_OK;
}

/* How late readings may be: not half of one, not so much that the step before or the next one
 * explains them as well. */
static double max_lag_s(const struct yk_counter_reading_list *readings, double step_s)
{
    double sum_s = 0;
    for (int32_t i = 0; i < readings->count; i++) {
        sum_s += readings->all[i].end_s - readings->all[i].begin_s;
    }
    const double half_s = readings->count > 0 ? 0.5 * sum_s / readings->count : 0;
    return fmin(fmin(half_s, step_s / 3), readings->lag_s);
}

/* The readings at the times they seem to have been taken at, less than `max_s` off. */
static yk_status shift(const struct labels *spans, int32_t part_count, double max_s,
                       struct yk_arena *arena, struct yk_counter_reading_list *readings,
                       double *lag_s)
{
    struct yk_counter_reading *shifted = NULL;
    YK_TRY(yk_counters_fit_driver_lag(readings->all, readings->count, spans->all, spans->count,
                                      part_count, max_s, lag_s));
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

static yk_status share(const struct yk_counter_reading_list *readings, const struct labels *spans,
                       const struct yk_counter_part_groups *groups,
                       const struct yk_counter_recorder *recorder, struct yk_arena *arena,
                       struct yk_counter_rank_data *out)
{
    double *values = NULL;
    double *seconds = NULL;
    YK_TRY_NEW(arena, values, (int64_t)groups->group_count * YK_COUNTER_COUNT);
    YK_TRY_NEW(arena, seconds, groups->group_count);
    YK_TRY(yk_counters_fit_part_groups(readings->all, readings->count, spans->all, spans->count,
                                       groups, values, seconds));
    YK_TRY_NEW(arena, out->phases.all, YK_COUNTER_STEP_PHASE_COUNT + 1);
    YK_TRY_NEW(arena, out->kinds.all, (int64_t)recorder->kind_count + 1);
    for (int32_t g = 0; g < groups->group_count; g++) {
        const int32_t kind = g - YK_COUNTER_STEP_PHASE_COUNT;
        struct yk_counter_averages *rows = kind < 0 ? &out->phases : &out->kinds;
        struct yk_counter_average *row = &rows->all[rows->count];
        *row = (struct yk_counter_average){
            kind < 0 ? phase_names[g] : recorder->kinds[kind], seconds[g], {0}};
        memcpy(row->values, values + (int64_t)g * YK_COUNTER_COUNT, sizeof row->values);
        /* Power follows what runs by a lag of its own, and is no average over the reading. */
        row->values[YK_COUNTER_POWER] = NAN;
        rows->count += seconds[g] > 0;
    }
    return YK_OK;
}

/* All readings within what is known, as one. */
static void add_whole(const struct span_list *known, const struct yk_counter_reading_list *readings,
                      struct yk_counter_averages *rows)
{
    struct reading_sum sum = {0};
    int32_t at = 0;
    for (int32_t i = 0; i < readings->count; i++) {
        const struct yk_counter_reading *reading = &readings->all[i];
        while (at < known->count && known->all[at].end_s <= reading->begin_s) {
            at++;
        }
        if (at < known->count && known->all[at].begin_s <= reading->begin_s &&
            reading->end_s <= known->all[at].end_s) {
            add_reading(&sum, reading);
        }
    }
    const struct yk_counter_reading whole = average_of(&sum);
    struct yk_counter_average *row = &rows->all[rows->count++];
    *row = (struct yk_counter_average){"step", sum.seconds, {0}};
    memcpy(row->values, whole.values, sizeof row->values);
}

yk_status yk_counter_recorder_average_readings(const struct yk_counter_recorder *recorder,
                                               const struct yk_counter_reading_list *given,
                                               double traced_s, struct yk_arena *arena,
                                               struct yk_counter_rank_data *out, double *lag_s)
{
    struct yk_counter_reading_list readings = *given;
    struct span_list known = {0};
    struct yk_counter_part_groups groups;
    struct labels spans = {0};
    double step_s = INFINITY;
    *out = (struct yk_counter_rank_data){.device = "", .source = ""};
    YK_TRY(find_step_s(recorder, arena, &step_s));
    YK_TRY(list_known(recorder, step_s, arena, &known));
    YK_TRY(list_groups(recorder, arena, &groups));
    groups.ends_s = readings.ends_s;
    YK_TRY(list_spans(recorder, &known, arena, &spans));
    YK_TRY(shift(&spans, groups.part_count, max_lag_s(&readings, step_s), arena, &readings, lag_s));
    YK_TRY(share(&readings, &spans, &groups, recorder, arena, out));
    add_whole(&known, &readings, &out->phases);
    if (isfinite(traced_s) && traced_s == recorder->last_began_s) {
        YK_TRY(line_around(&readings, traced_s, recorder->last_done_s, arena, &out->step));
    }
    return yk_counter_recorder_make_series(readings.all, readings.count, arena, &out->run);
}

yk_status yk_counter_recorder_compute_averages(const struct yk_counter_recorder *recorder,
                                               double traced_s, struct yk_arena *arena,
                                               struct yk_counter_rank_data *out)
{
    struct yk_counter_reading_list readings = {
        .ends_s = yk_counter_sampler_max_time_error_s(recorder->sampler)};
    struct yk_text text = {0};
    double lag_s = 0;
    readings.lag_s = LAG_OF_ENDS * readings.ends_s;
    yk_counter_sampler_get_readings(recorder->sampler, &readings.all, &readings.count);
    YK_TRY(yk_counter_recorder_average_readings(recorder, &readings, traced_s, arena, out, &lag_s));
    yk_counter_sampler_describe(recorder->sampler, &text);
    if (lag_s != 0) {
        yk_text_addf(&text, "; readings are %.1f ms %s", 1e3 * fabs(lag_s),
                     lag_s < 0 ? "late" : "early");
    }
    yk_status status = yk_text_status(&text);
    YK_IF_OK(yk_arena_strdup(arena, yk_text_chars(&text), &out->source));
    yk_text_free(&text);
    return status;
}
