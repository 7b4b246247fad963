/*
 * Counter recorder: what the counters of a device show while steps are trained, by phase of a step
 * and by kind of layer.
 *
 * Phases are forward, backward (with recomputation), update, and exposed communication; "step" is
 * all of it. Layers of a kind count forward and backward together. Only time of which it is known
 * what ran counts: steps and passes that were added, less steps that took three times as long as
 * most (the first one). Of a very long run it is the latest part. Power is of the whole step alone.
 *
 * Open it before the threads that compute begin (sampler.h), start it, add what ran, stop it,
 * report it. One thread at a time.
 */
#ifndef YK_MEASURE_COUNTERS_RECORDER_H
#define YK_MEASURE_COUNTERS_RECORDER_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/counters/sampler.h"
#include "trace/counters_file.h"
#include "train/run.h"

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

/* The ops of a step; nothing is allocated. Steps come in order. */
void yk_counter_recorder_add_step(struct yk_counter_recorder *recorder,
                                  const struct yk_round_times *times);

/* Passes in order, with nothing else meanwhile or between them; `kind` of layer may be NULL, and
 * else is used until the recorder is closed. */
void yk_counter_recorder_add_pass(struct yk_counter_recorder *recorder, enum yk_counter_phase phase,
                                  const char *kind, double began_s, double done_s);

/*
 * What it comes to, while stopped. `traced_s` is the beginning of the step around which readings
 * are kept; NAN: of none. The device's name is for the caller to fill in; the rest is in the arena.
 */
yk_status yk_counter_recorder_report(const struct yk_counter_recorder *recorder, double traced_s,
                                     struct yk_arena *arena,
                                     struct yk_counter_rank *out) YK_MUST_USE;

/* Readings, in order. */
struct yk_counter_readings {
    const struct yk_counter_reading *all;
    int32_t count;
    double ends_s; /* error of their begins and ends, either way */
    double lag_s;  /* how far all of them may be off together */
};

/* The same of readings from elsewhere: where they are from is for the caller to say. `lag_s` is
 * what had to be added to their times (yk_counters_find_lag). */
yk_status yk_counter_recorder_attribute(const struct yk_counter_recorder *recorder,
                                        const struct yk_counter_readings *given, double traced_s,
                                        struct yk_arena *arena, struct yk_counter_rank *out,
                                        double *lag_s) YK_MUST_USE;

/* Those that touch the time from `begin_s` to `end_s` or a quarter of that around it, from
 * `begin_s` at 0. In the arena. */
yk_status yk_counter_recorder_line_around(const struct yk_counter_reading *readings, int32_t count,
                                          double begin_s, double end_s, struct yk_arena *arena,
                                          struct yk_counter_series *out) YK_MUST_USE;

/* All, from the first at 0. In the arena. */
yk_status yk_counter_recorder_line_over(const struct yk_counter_reading *readings, int32_t count,
                                        struct yk_arena *arena,
                                        struct yk_counter_series *out) YK_MUST_USE;

#endif
