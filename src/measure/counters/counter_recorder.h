/*
 * Counter recorder: computes averages of the counters of a device over training steps, for each
 * phase of a step and for each kind of layer.
 *
 * The phases are forward, backward (including recomputation), update, and communication that does
 * not overlap with computation. The name "step" means all phases together. The averages of a layer
 * kind include forward and backward. Steps that took more than three times the median, such as the
 * first step, are excluded. In a very long run, older steps are forgotten. Power is reported only
 * for the whole step.
 *
 * The order of calls is open, start, add, stop, compute averages, close. Open the recorder before
 * compute threads are created (counter_sampler.h). Not thread-safe.
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

/* Adds one pass of a layer. Passes must be added in order of time. From the first to the last pass,
 * the device must not do other work. `kind` is the layer kind; NULL means: no kind. The string must
 * stay valid until the recorder is closed. */
void yk_counter_recorder_add_layer_pass(struct yk_counter_recorder *recorder,
                                        enum yk_counter_step_phase phase, const char *kind,
                                        double began_s, double done_s);

/*
 * Computes the averages. Call it only while stopped. `out` also contains a series of all readings.
 * If the last step that was added began at `traced_s`, `out` contains another series, with the
 * readings during and around this step. The result is allocated in the arena. The caller sets the
 * device name in `out`.
 */
yk_status yk_counter_recorder_compute_averages(const struct yk_counter_recorder *recorder,
                                               double traced_s, struct yk_arena *arena,
                                               struct yk_counter_rank_data *out) YK_MUST_USE;

/* Readings in order of time. */
struct yk_counter_reading_list {
    const struct yk_counter_reading *all;
    int32_t count;
    double ends_s; /* maximum error of the begin and end times */
    double lag_s;  /* all times may be too early, or all too late, by at most this */
};

/* Like yk_counter_recorder_compute_averages(), but uses the readings `given` instead of the
 * readings of the recorder. Sets `*lag_s` to the offset that was added to the times of the readings
 * (yk_counters_fit_driver_lag()). The caller also sets the description of the source in `out`. */
yk_status yk_counter_recorder_average_readings(const struct yk_counter_recorder *recorder,
                                               const struct yk_counter_reading_list *given,
                                               double traced_s, struct yk_arena *arena,
                                               struct yk_counter_rank_data *out,
                                               double *lag_s) YK_MUST_USE;

/* Makes a series of all readings. Its times are relative to the begin of the first reading. If
 * there are many readings, each point of the series is the average of several readings. The result
 * is allocated in the arena. */
yk_status yk_counter_recorder_make_series(const struct yk_counter_reading *readings, int32_t count,
                                          struct yk_arena *arena,
                                          struct yk_counter_series *out) YK_MUST_USE;

#endif
