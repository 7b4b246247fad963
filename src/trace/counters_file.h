/*
 * Counters file: the device counters of a run, stored as RUN/counters.json:
 *
 *   {"yoke": 1, "kind": "counters", "ranks": [
 *     {"rank": 0, "device": "h200", "source": "NVML GPM every 10 ms",
 *      "phases": [{"phase": "forward", "seconds": 4.1, "sm": 0.93, "tensor": 0.61, …}, …],
 *      "kinds": [{"kind": "gpt-block", "seconds": 9.8, "sm": 0.95, "tensor": null, …}, …],
 *      "step": {"begin_s": [-0.004, …], "end_s": [0.006, …], "sm": [0.91, …]},
 *      "run": {the same members as "step"}}]}
 *
 * "phases" contains the averages for each phase of a step. "kinds" contains the averages for each
 * kind of layer. "seconds" is the time over which an average was measured. "step" has the readings
 * around the traced step, with times relative to the start of that step. "run" has the readings of
 * the whole run, with times relative to the start of the run; in a long run, an entry is the
 * average of several readings. A counter that the device does not have is left out. An unknown
 * value is null in the file and NAN in the structs.
 */
#ifndef YK_TRACE_COUNTERS_FILE_H
#define YK_TRACE_COUNTERS_FILE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "trace/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The averages of one phase or one kind of layer. */
struct yk_counter_average {
    const char *name;
    double seconds;
    double values[YK_COUNTER_COUNT];
};

struct yk_counter_averages {
    struct yk_counter_average *all;
    int32_t count;
};

struct yk_counter_series {
    struct yk_counter_reading *readings; /* sorted by time, without overlap */
    int32_t count;
};

/* The counters of one rank. */
struct yk_counter_rank_data {
    const char *device;
    const char *source; /* how the counters were read, and why some could not be read; "" means:
                           unknown */
    struct yk_counter_averages phases;
    struct yk_counter_averages kinds; /* averages for each kind of layer */
    struct yk_counter_series step;
    struct yk_counter_series run;
};

struct yk_counter_run_data {
    struct yk_counter_rank_data *all;
    int32_t count;
};

/* Returns whether the rank has any value of the counter. */
bool yk_counters_file_rank_has_counter(const struct yk_counter_rank_data *rank,
                                       enum yk_counter counter);

yk_status yk_counters_file_write_json(const struct yk_counter_run_data *ranks,
                                      struct yk_text *out) YK_MUST_USE;

/* Writes only the array "ranks", without "step" and "run", on one line. */
void yk_counters_file_write_averages_json(const struct yk_counter_run_data *ranks,
                                          struct yk_text *out);

/* Reads a counters file. `source` is the name of the file, for error messages. The result lives in
 * the arena. */
yk_status yk_counters_file_parse_json(const char *text, size_t length, const char *source,
                                      struct yk_arena *arena,
                                      struct yk_counter_run_data *out) YK_MUST_USE;

#endif
