/*
 * Run summary: the figures of a run's ranks in its summary.json, and the reading of that file.
 *
 *   "ranks": [{"rank": 0, "device": "cpu0", "share": 8, "compute_s": 0.041, "exposed_s": 0.002,
 *              "idle_s": 0.001, "peak_bytes": 41943040, "predicted_compute_s": 0.04,
 *              "predicted_exposed_s": 0.002, "predicted_idle_s": 0, "predicted_peak_bytes":
 *              40000000, "limit_bytes": 67108864}, …]
 *
 * Of the rest of the file, "peak_bytes" and "predicted_step_s" are read. Members are left out, or
 * null, where they are not known; others are for others to read.
 */
#ifndef YK_REPORT_RUN_SUMMARY_H
#define YK_REPORT_RUN_SUMMARY_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "trace/trace.h"

#include <stddef.h>
#include <stdint.h>

/* NAN is what is not known. */
struct yk_run_rank {
    const char *device;            /* NULL: not known */
    double share;                  /* samples of the batch */
    struct yk_trace_sum predicted; /* of one step */
    struct yk_trace_sum measured;
    double predicted_bytes; /* that no way of running the plan exceeds */
    double measured_bytes;  /* at the fullest moment */
    double limit_bytes;
};

/* Of which nothing is known. */
struct yk_run_rank yk_run_summary_unknown_rank(void);

struct yk_run_summary {
    double peak_bytes; /* of the process that wrote it; NAN: not known */
    double predicted_step_s;
    struct yk_run_rank *ranks;
    int32_t rank_count;
};

/* The value of "ranks", a list. */
void yk_run_summary_write_ranks(const struct yk_run_rank *ranks, int32_t count,
                                struct yk_text *out);

/* `source`, the name the user knows the file by, begins every message. In the arena. */
yk_status yk_run_summary_read(const char *text, size_t length, const char *source,
                              struct yk_arena *arena, struct yk_run_summary *out) YK_MUST_USE;

#endif
