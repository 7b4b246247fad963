#include "measure/counters/recorder.h"

#include "measure/counters/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_INTERVALS = 1 << 18, /* then the older half is forgotten */
    MAX_SPANS = 1 << 14,
};

/* Between two ops of one sort, a pause too short for any reading to see. */
static const double SHORT_S = 20e-6;

yk_status yk_counter_recorder_open(const struct yk_counter_sampler_options *options,
                                   struct yk_counter_recorder **out)
{
    struct yk_counter_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder) {
        return yk_fail_out_of_memory();
    }
    recorder->last_began_s = NAN;
    recorder->last_done_s = NAN;
    recorder->intervals = malloc(MAX_INTERVALS * sizeof *recorder->intervals);
    recorder->spans.all = malloc(MAX_SPANS * sizeof *recorder->spans.all);
    recorder->steps.all = malloc(MAX_SPANS * sizeof *recorder->steps.all);
    const bool room = recorder->intervals && recorder->spans.all && recorder->steps.all;
    yk_status status = room ? YK_OK : yk_fail_out_of_memory();
    if (status == YK_OK) {
        status = yk_counter_sampler_open(options, &recorder->sampler);
    }
    if (status != YK_OK) {
        yk_counter_recorder_close(recorder);
        return status;
    }
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
    struct yk_counter_recorder_spans *spans = &recorder->spans;
    int32_t left = 0;
    for (int32_t i = 0; i < spans->count; i++) {
        struct yk_counter_recorder_span span = spans->all[i];
        span.begin_s = fmax(span.begin_s, since_s);
        if (span.end_s > span.begin_s) {
            spans->all[left++] = span;
        }
    }
    spans->count = left;
}

static void add_interval(struct yk_counter_recorder *recorder,
                         const struct yk_counter_recorder_interval *interval)
{
    /* Lanes run side by side: the last of this sort may be a few moments back. */
    for (int32_t i = recorder->interval_count - 1; i >= 0 && i >= recorder->interval_count - 4;
         i--) {
        struct yk_counter_recorder_interval *last = &recorder->intervals[i];
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
static void append(struct yk_counter_recorder_spans *list, double begin_s, double end_s)
{
    const int32_t kept = MAX_SPANS / 2;
    if (list->count == MAX_SPANS) {
        memmove(list->all, list->all + (MAX_SPANS - kept), (size_t)kept * sizeof *list->all);
        list->count = kept;
    }
    list->all[list->count++] = (struct yk_counter_recorder_span){begin_s, end_s};
}

static void add_span(struct yk_counter_recorder *recorder, double begin_s, double end_s,
                     double max_gap_s)
{
    struct yk_counter_recorder_spans *list = &recorder->spans;
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
    if (!kind || recorder->kind_count == YK_COUNTER_RECORDER_MAX_KINDS) {
        return YK_COUNTER_RECORDER_NO_KIND;
    }
    recorder->kinds[recorder->kind_count] = kind;
    return (int16_t)recorder->kind_count++;
}

/* False of what is no phase: loading samples, dropping parameters, a rank that agrees with itself.
 */
static bool find_phase(const struct yk_op *op, int32_t ranks, enum yk_counter_phase *out)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
        *out = YK_COUNTER_PHASE_FORWARD;
        return true;
    case YK_OP_BACKWARD:
    case YK_OP_RECOMPUTE:
        *out = YK_COUNTER_PHASE_BACKWARD;
        return true;
    case YK_OP_UPDATE:
        *out = YK_COUNTER_PHASE_UPDATE;
        return true;
    default:
        *out = YK_COUNTER_PHASE_COMMUNICATION;
        return op->lane == YK_LANE_COMM && ranks > 1;
    }
}

void yk_counter_recorder_add_step(struct yk_counter_recorder *recorder,
                                  const struct yk_round_times *times)
{
    const struct yk_program *program = times->program;
    const struct yk_program_rank *list = &program->ranks[times->rank];
    for (int32_t i = 0; i < times->count; i++) {
        const struct yk_op_time *time = &times->ops[i];
        const struct yk_op *op = &list->ops[time->op];
        enum yk_counter_phase phase;
        if (find_phase(op, program->rank_count, &phase)) {
            const bool passes =
                phase == YK_COUNTER_PHASE_FORWARD || phase == YK_COUNTER_PHASE_BACKWARD;
            const char *kind =
                passes ? yk_model_sizes_whole_batch(program->sizes)->layers[op->layer].kind : NULL;
            add_interval(recorder, &(struct yk_counter_recorder_interval){
                                       time->start_s, time->end_s, (int16_t)phase,
                                       number_of_kind(recorder, kind)});
        }
    }
    add_span(recorder, times->began_s, times->done_s, SHORT_S);
    append(&recorder->steps, times->began_s, times->done_s);
    recorder->last_began_s = times->began_s;
    recorder->last_done_s = times->done_s;
}

void yk_counter_recorder_add_pass(struct yk_counter_recorder *recorder, enum yk_counter_phase phase,
                                  const char *kind, double began_s, double done_s)
{
    add_interval(recorder, &(struct yk_counter_recorder_interval){began_s, done_s, (int16_t)phase,
                                                                  number_of_kind(recorder, kind)});
    add_span(recorder, began_s, done_s, INFINITY);
}
