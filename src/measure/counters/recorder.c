#include "measure/counters/recorder.h"

#include "measure/counters/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MOMENTS = 1 << 18, /* then the older half is forgotten */
    MOST_STRETCHES = 1 << 14,
};

/* Between two ops of one sort, a pause too short for any reading to see. */
static const double SHORT_S = 20e-6;

yk_status yk_counter_recorder_open(const struct yk_counter_sampler_options *options,
                                   struct yk_counter_recorder **out)
{
    struct yk_counter_recorder *gauge = calloc(1, sizeof *gauge);
    if (!gauge) {
        return yk_fail_out_of_memory();
    }
    gauge->last_began_s = NAN;
    gauge->last_done_s = NAN;
    gauge->moments = malloc(MOST_MOMENTS * sizeof *gauge->moments);
    gauge->stretches.all = malloc(MOST_STRETCHES * sizeof *gauge->stretches.all);
    gauge->steps.all = malloc(MOST_STRETCHES * sizeof *gauge->steps.all);
    const bool room = gauge->moments && gauge->stretches.all && gauge->steps.all;
    yk_status status = room ? YK_OK : yk_fail_out_of_memory();
    if (status == YK_OK) {
        status = yk_counter_sampler_open(options, &gauge->meters);
    }
    if (status != YK_OK) {
        yk_counter_recorder_close(gauge);
        return status;
    }
    *out = gauge;
    return YK_OK;
}

void yk_counter_recorder_close(struct yk_counter_recorder *gauge)
{
    if (gauge) {
        yk_counter_sampler_close(gauge->meters);
        free(gauge->moments);
        free(gauge->stretches.all);
        free(gauge->steps.all);
        free(gauge);
    }
}

yk_status yk_counter_recorder_start(struct yk_counter_recorder *gauge)
{
    return yk_counter_sampler_start(gauge->meters);
}

void yk_counter_recorder_stop(struct yk_counter_recorder *gauge)
{
    yk_counter_sampler_stop(gauge->meters);
}

/* ---- what ran ---- */

/* What began before the oldest moment that is kept is not known any more. */
static void forget_half(struct yk_counter_recorder *gauge)
{
    const int32_t kept = gauge->moment_count / 2;
    memmove(gauge->moments, gauge->moments + (gauge->moment_count - kept),
            (size_t)kept * sizeof *gauge->moments);
    gauge->moment_count = kept;
    const double since_s = kept > 0 ? gauge->moments[0].begin_s : INFINITY;
    struct yk_counter_recorder_spans *stretches = &gauge->stretches;
    int32_t left = 0;
    for (int32_t i = 0; i < stretches->count; i++) {
        struct yk_counter_recorder_span stretch = stretches->all[i];
        stretch.begin_s = fmax(stretch.begin_s, since_s);
        if (stretch.end_s > stretch.begin_s) {
            stretches->all[left++] = stretch;
        }
    }
    stretches->count = left;
}

static void add_moment(struct yk_counter_recorder *gauge,
                       const struct yk_counter_recorder_interval *moment)
{
    /* Lanes run side by side: the last of this sort may be a few moments back. */
    for (int32_t i = gauge->moment_count - 1; i >= 0 && i >= gauge->moment_count - 4; i--) {
        struct yk_counter_recorder_interval *last = &gauge->moments[i];
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

/* Where there is no room, the older half is forgotten. */
static void append(struct yk_counter_recorder_spans *list, double begin_s, double end_s)
{
    const int32_t kept = MOST_STRETCHES / 2;
    if (list->count == MOST_STRETCHES) {
        memmove(list->all, list->all + (MOST_STRETCHES - kept), (size_t)kept * sizeof *list->all);
        list->count = kept;
    }
    list->all[list->count++] = (struct yk_counter_recorder_span){begin_s, end_s};
}

static void add_stretch(struct yk_counter_recorder *gauge, double begin_s, double end_s,
                        double most_gap_s)
{
    struct yk_counter_recorder_spans *list = &gauge->stretches;
    const int32_t last = list->count - 1;
    if (last >= 0 && begin_s - list->all[last].end_s < most_gap_s) {
        list->all[last].end_s = fmax(list->all[last].end_s, end_s);
    } else {
        append(list, begin_s, end_s);
    }
}

/* More kinds than there is room for count as none. */
static int16_t number_of_kind(struct yk_counter_recorder *gauge, const char *kind)
{
    for (int32_t i = 0; kind && i < gauge->kind_count; i++) {
        if (strcmp(gauge->kinds[i], kind) == 0) {
            return (int16_t)i;
        }
    }
    if (!kind || gauge->kind_count == YK_COUNTER_RECORDER_MAX_KINDS) {
        return YK_COUNTER_RECORDER_NO_KIND;
    }
    gauge->kinds[gauge->kind_count] = kind;
    return (int16_t)gauge->kind_count++;
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

void yk_counter_recorder_add_step(struct yk_counter_recorder *gauge,
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
            add_moment(gauge, &(struct yk_counter_recorder_interval){time->start_s, time->end_s,
                                                                     (int16_t)phase,
                                                                     number_of_kind(gauge, kind)});
        }
    }
    add_stretch(gauge, times->began_s, times->done_s, SHORT_S);
    append(&gauge->steps, times->began_s, times->done_s);
    gauge->last_began_s = times->began_s;
    gauge->last_done_s = times->done_s;
}

void yk_counter_recorder_add_pass(struct yk_counter_recorder *gauge, enum yk_counter_phase phase,
                                  const char *kind, double began_s, double done_s)
{
    add_moment(gauge, &(struct yk_counter_recorder_interval){began_s, done_s, (int16_t)phase,
                                                             number_of_kind(gauge, kind)});
    add_stretch(gauge, began_s, done_s, INFINITY);
}
