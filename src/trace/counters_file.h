/*
 * Counters file: what the counters of a run's devices showed, as it is kept with the run:
 *
 *   {"yoke": 1, "kind": "counters", "ranks": [
 *     {"rank": 0, "device": "h200", "source": "NVML GPM every 10 ms",
 *      "phases": [{"phase": "forward", "seconds": 4.1, "sm": 0.93, "tensor": 0.61, …}, …],
 *      "kinds": [{"kind": "gpt-block", "seconds": 9.8, "sm": 0.95, "tensor": null, …}, …],
 *      "step": {"begin_s": [-0.004, …], "end_s": [0.006, …], "sm": [0.91, …]},
 *      "run": {the same}}]}
 *
 * `seconds` is for how long a phase or kind was seen. Readings of "step" are those around the step
 * that was traced, counted from its beginning; those of "run" are of the whole run, from its
 * beginning, several averaged into one where there were many. What a device has no counter for is
 * left out; what is not known for a row is null, here NAN.
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

struct yk_counter_row {
    const char *name;
    double seconds;
    double values[YK_COUNTER_COUNT];
};

struct yk_counter_rows {
    struct yk_counter_row *all;
    int32_t count;
};

struct yk_counter_series {
    struct yk_counter_reading *readings; /* in order, none over another */
    int32_t count;
};

/* Of one rank. */
struct yk_counter_rank {
    const char *device;
    const char *source; /* what was read, and why other counters were not */
    struct yk_counter_rows phases;
    struct yk_counter_rows kinds; /* of layers */
    struct yk_counter_series step;
    struct yk_counter_series run;
};

struct yk_counter_ranks {
    struct yk_counter_rank *all;
    int32_t count;
};

/* Whether any row or reading has a number. */
bool yk_counters_file_has(const struct yk_counter_rank *rank, enum yk_counter counter);

yk_status yk_counters_file_write(const struct yk_counter_ranks *ranks,
                                 struct yk_text *out) YK_MUST_USE;

/* The list "ranks" alone, without lines. */
void yk_counters_file_write_averages(const struct yk_counter_ranks *ranks, struct yk_text *out);

/* `source`, the name the user knows the file by, begins every message. In the arena. */
yk_status yk_counters_file_read(const char *text, size_t length, const char *source,
                                struct yk_arena *arena, struct yk_counter_ranks *out) YK_MUST_USE;

#endif
