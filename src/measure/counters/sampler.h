/*
 * Counter sampler: reads the hardware counters of a device periodically, on its own thread.
 *
 * For a GPU it uses NVML GPM (Hopper and newer), otherwise DCGM if it is installed, and the NVML
 * values that every GPU has. For a CPU it counts this process by perf_event_open. A counter that is
 * not available is NAN in all readings, and yk_counter_sampler_describe() says why.
 *
 * The order of calls is open, start, stop, readings, close. Start and stop may be repeated;
 * readings accumulate. Not thread-safe. On a CPU it counts the threads that exist when the sampler
 * is opened, and the threads that those create later.
 */
#ifndef YK_MEASURE_COUNTERS_SAMPLER_H
#define YK_MEASURE_COUNTERS_SAMPLER_H

#include "base/status.h"
#include "base/text.h"
#include "trace/counters.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_counter_sampler;
struct yk_nvml_functions;

enum {
    YK_COUNTER_SAMPLER_MAX_READINGS = 200000
};

struct yk_counter_sampler_options {
    bool gpu;                             /* true: a GPU; false: this process on the CPU */
    int32_t number;                       /* CUDA device number */
    double period_s;                      /* length of a reading; 0: the default of the source */
    const struct yk_nvml_functions *nvml; /* NULL: the NVML library of the driver */
};

yk_status yk_counter_sampler_open(const struct yk_counter_sampler_options *options,
                                  struct yk_counter_sampler **out) YK_MUST_USE;
/* Stops the thread if it is running. Accepts NULL. */
void yk_counter_sampler_close(struct yk_counter_sampler *sampler);

/* Starts sampling. Readings follow each other without a gap. Their lengths vary around the period,
 * so that they do not align with training steps. With GPM a reading begins and ends when the driver
 * refreshes its counters (about every 100 ms). */
yk_status yk_counter_sampler_start(struct yk_counter_sampler *sampler) YK_MUST_USE;
/* Stops sampling. The current reading is kept if at least half a period has passed; with GPM it is
 * dropped. Does nothing if sampling was not started. */
void yk_counter_sampler_stop(struct yk_counter_sampler *sampler);

/* Returns all readings in order of time. Call it only while stopped. The array belongs to the
 * sampler and is valid until the next start or close. Beyond YK_COUNTER_SAMPLER_MAX_READINGS, pairs
 * of readings are merged and the period doubles. */
void yk_counter_sampler_readings(const struct yk_counter_sampler *sampler,
                                 const struct yk_counter_reading **out, int32_t *count);

/* Describes the sources, separated by "; ". Examples: "NVML GPM, refreshed every 100 ms", "perf:
 * refused by the system (perf_event_paranoid is 3)". Call it only while stopped. */
void yk_counter_sampler_describe(const struct yk_counter_sampler *sampler, struct yk_text *text);

/* Maximum error of the begin and end times of readings: half the interval between two polls for
 * GPM, half the interval between two lines for DCGM. */
double yk_counter_sampler_edge_error_s(const struct yk_counter_sampler *sampler);

/* Current length of a reading. It doubles when readings are merged. */
double yk_counter_sampler_period_s(const struct yk_counter_sampler *sampler);

/* For callers with their own clock, instead of start and stop: polls the counters at time `now_s`,
 * which may complete a reading. The first call begins the first reading. The next poll is due at
 * yk_counter_sampler_next_poll_s(). */
void yk_counter_sampler_poll(struct yk_counter_sampler *sampler, double now_s);
double yk_counter_sampler_next_poll_s(struct yk_counter_sampler *sampler);

#endif
