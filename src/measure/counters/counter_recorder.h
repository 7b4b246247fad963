/*
 * Counter recorder: computes averages of the counters of a device over training steps, for each
 * phase of a step and for each kind of layer.
 *
 * The phases are forward, backward (including recomputation), update, and communication that does
 * not overlap with computation. The name "step" means all phases together. The averages of a layer
 * kind include forward and backward. Only steps and passes that were added are included. Steps that
 * took more than three times the median, such as the first step, are excluded. In a very long run,
 * older steps are forgotten. Power is reported only for the whole step.
 *
 * The order of calls is open (before compute threads are created, counter_sampler.h), start, add,
 * stop, report. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_COUNTER_RECORDER_H
#define YK_MEASURE_COUNTERS_COUNTER_RECORDER_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/counters/counter_sampler.h"
#include "trace/counters_file.h"
#include "train/training_run.h"

enum yk_counter_step_phase {
    YK_COUNTER_STEP_PHASE_FORWARD,
    YK_COUNTER_STEP_PHASE_BACKWARD,
    YK_COUNTER_STEP_PHASE_UPDATE,
    YK_COUNTER_STEP_PHASE_COMMUNICATION,
    YK_COUNTER_STEP_PHASE_COUNT,
};

struct yk_counter_recorder;

yk_status yk_counter_recorder_open(const struct yk_counter_sampler_options *options,
                                   struct yk_counter_recorder **out) YK_MUST_USE;
/* Accepts NULL. */
void yk_counter_recorder_close(struct yk_counter_recorder *recorder);

yk_status yk_counter_recorder_start(struct yk_counter_recorder *recorder) YK_MUST_USE;
void yk_counter_recorder_stop(struct yk_counter_recorder *recorder);

/* Adds the op times of a step. Steps must be added in order of time. Allocates no memory. */
void yk_counter_recorder_add_step_timeline(struct yk_counter_recorder *recorder,
                                           const struct yk_op_timeline *timeline);

/* Adds one pass of a layer. Passes must be added in order of time. No other work may run between
 * the first and the last pass. `kind` is the layer kind; NULL means: no kind. The string must stay
 * valid until the recorder is closed. */
void yk_counter_recorder_add_layer_pass(struct yk_counter_recorder *recorder,
                                        enum yk_counter_step_phase phase, const char *kind,
                                        double began_s, double done_s);

/*
 * Computes the averages. Call it only while stopped. Besides the averages, `out` contains the
 * readings of the step that began at `traced_s`; NAN means: of no step. The result is allocated in
 * the arena. The caller sets its device name.
 */
yk_status yk_counter_recorder_compute_averages(const struct yk_counter_recorder *recorder,
                                               double traced_s, struct yk_arena *arena,
                                               struct yk_counter_rank_data *out) YK_MUST_USE;

/* Readings in order of time. */
struct yk_counter_reading_list {
    const struct yk_counter_reading *all;
    int32_t count;
    double ends_s; /* maximum error of each begin and end time */
    double lag_s;  /* maximum common offset of all times */
};

/* Like yk_counter_recorder_compute_averages(), but for the readings `given`, which come from
 * another source.
 * `*lag_s` is the offset that was added to their times (yk_counters_fit_driver_lag()). The caller
 * sets the description of the source. */
yk_status yk_counter_recorder_average_readings(const struct yk_counter_recorder *recorder,
                                               const struct yk_counter_reading_list *given,
                                               double traced_s, struct yk_arena *arena,
                                               struct yk_counter_rank_data *out,
                                               double *lag_s) YK_MUST_USE;

/* Makes a series of all readings, with times relative to the first one. If there are many readings,
 * each point of the series is the average of several. The result is allocated in the arena. */
yk_status yk_counter_recorder_make_series(const struct yk_counter_reading *readings, int32_t count,
                                          struct yk_arena *arena,
                                          struct yk_counter_series *out) YK_MUST_USE;

#endif
