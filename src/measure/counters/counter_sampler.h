/*
 * Counter sampler: reads the hardware counters of a device periodically, on a separate thread. A
 * reading contains the averages of the counters over a short time.
 *
 * For a GPU the sampler uses NVML GPM (Hopper and newer) or, on older GPUs, DCGM if it is
 * installed. In addition it uses the NVML values that every GPU has. For a CPU it counts the events
 * of this process with perf_event_open. A counter that is not available is NAN in all readings, and
 * yk_counter_sampler_describe() says why.
 *
 * The order of calls is open, start, stop, readings, close. Start and stop may be repeated; the
 * readings of all repetitions are kept. On a CPU, the sampler counts only the threads that exist
 * when it is opened, and the threads that they create later. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_COUNTER_SAMPLER_H
#define YK_MEASURE_COUNTERS_COUNTER_SAMPLER_H

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
    bool gpu;        /* true: a GPU; false: this process on the CPU */
    int32_t number;  /* CUDA device number */
    double period_s; /* average length of a reading; 0 means: the default of the source */
    const struct yk_nvml_functions *nvml; /* NULL means: the NVML library of the driver */
};

yk_status yk_counter_sampler_open(const struct yk_counter_sampler_options *options,
                                  struct yk_counter_sampler **out) YK_MUST_USE;
/* Stops the thread if it is running. Accepts NULL. */
void yk_counter_sampler_close(struct yk_counter_sampler *sampler);

/* Starts sampling. Each reading begins when the previous reading ends. The lengths of readings vary
 * around the period, so that readings do not align with training steps. With GPM a reading begins
 * and ends when the driver refreshes its counters (about every 100 ms). */
yk_status yk_counter_sampler_start(struct yk_counter_sampler *sampler) YK_MUST_USE;
/* Stops sampling. Keeps the unfinished reading if at least half of its planned length has passed;
 * with GPM the unfinished reading is always dropped. Does nothing if sampling was not started. */
void yk_counter_sampler_stop(struct yk_counter_sampler *sampler);

/* Returns all readings in order of time. Call it only while stopped. The array belongs to the
 * sampler and is valid until the next start or close. When there are
 * YK_COUNTER_SAMPLER_MAX_READINGS readings, neighbours are merged in pairs, and the period
 * doubles. */
void yk_counter_sampler_get_readings(const struct yk_counter_sampler *sampler,
                                     const struct yk_counter_reading **out, int32_t *count);

/* Appends a description of the sources, separated by "; ". Examples: "NVML GPM, refreshed every 100
 * ms", "perf: refused by the system (perf_event_paranoid is 3)". Call it only while stopped. */
void yk_counter_sampler_describe(const struct yk_counter_sampler *sampler, struct yk_text *text);

/* Returns the maximum error of the begin and end times of readings. For GPM it is half of the time
 * between two polls. For a GPU without GPM it is half of the time between two output lines of DCGM.
 * For a CPU it is 0. */
double yk_counter_sampler_max_time_error_s(const struct yk_counter_sampler *sampler);

/* Returns the period: the average length of a reading. It doubles when readings are merged. */
double yk_counter_sampler_period_s(const struct yk_counter_sampler *sampler);

/* Polls the counters at time `now_s`. A poll may complete a reading. Callers with their own clock
 * call this function instead of start and stop. The first call begins the first reading.
 * yk_counter_sampler_next_poll_s() returns the time at which the caller should poll next. */
void yk_counter_sampler_poll(struct yk_counter_sampler *sampler, double now_s);
double yk_counter_sampler_next_poll_s(struct yk_counter_sampler *sampler);

#endif
