/*
 * Counter recorder: averages the counters of a device over training steps, by phase of the step and
 * by layer kind.
 *
 * The phases are forward, backward (including recomputation), update, and exposed communication;
 * "step" is all of them. Layer kinds combine forward and backward. Only steps and passes that were
 * added are included. Steps that took more than three times as long as most, such as the first one,
 * are excluded. For a very long run the averages cover its latest part. Power is reported only for
 * the whole step.
 *
 * The order of calls is open (before compute threads are created, see sampler.h), start, add, stop,
 * report. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_RECORDER_H
#define YK_MEASURE_COUNTERS_RECORDER_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/counters/sampler.h"
#include "trace/counters_file.h"
#include "train/training_run.h"

enum yk_counter_phase {
    YK_COUNTER_PHASE_FORWARD,
    YK_COUNTER_PHASE_BACKWARD,
    YK_COUNTER_PHASE_UPDATE,
    YK_COUNTER_PHASE_COMMUNICATION,
    YK_COUNTER_PHASE_COUNT,
};

struct yk_counter_recorder;

yk_status yk_counter_recorder_open(const struct yk_counter_sampler_options *options,
                                   struct yk_counter_recorder **out) YK_MUST_USE;
/* Accepts NULL. */
void yk_counter_recorder_close(struct yk_counter_recorder *recorder);

yk_status yk_counter_recorder_start(struct yk_counter_recorder *recorder) YK_MUST_USE;
void yk_counter_recorder_stop(struct yk_counter_recorder *recorder);

/* Adds the op times of a step, in order of time. It allocates no memory. */
void yk_counter_recorder_add_step(struct yk_counter_recorder *recorder,
                                  const struct yk_op_timeline *timeline);

/* Adds one pass of a layer, in order of time. No other work may run between the first and the last
 * pass. `kind` is the layer kind or NULL; it must stay valid until the recorder is closed. */
void yk_counter_recorder_add_pass(struct yk_counter_recorder *recorder, enum yk_counter_phase phase,
                                  const char *kind, double began_s, double done_s);

/*
 * Computes the averages. Call it only while stopped. `traced_s` is the begin of the step whose
 * readings are included one by one; NAN: none. The result is allocated in the arena; the caller
 * sets the device name.
 */
yk_status yk_counter_recorder_report(const struct yk_counter_recorder *recorder, double traced_s,
                                     struct yk_arena *arena,
                                     struct yk_counter_rank_data *out) YK_MUST_USE;

/* Readings in order of time. */
struct yk_counter_readings {
    const struct yk_counter_reading *all;
    int32_t count;
    double ends_s; /* maximum error of each begin and end time */
    double lag_s;  /* maximum common offset of all times */
};

/* Like yk_counter_recorder_report(), but for readings of another source. `lag_s` is the offset that
 * was added to their times (yk_counters_fit_lag). The caller sets the description of the source. */
yk_status yk_counter_recorder_report_readings(const struct yk_counter_recorder *recorder,
                                              const struct yk_counter_readings *given,
                                              double traced_s, struct yk_arena *arena,
                                              struct yk_counter_rank_data *out,
                                              double *lag_s) YK_MUST_USE;

/* Returns all readings, with times relative to the first one. Allocated in the arena. */
yk_status yk_counter_recorder_series_of_all(const struct yk_counter_reading *readings,
                                            int32_t count, struct yk_arena *arena,
                                            struct yk_counter_series *out) YK_MUST_USE;

#endif
