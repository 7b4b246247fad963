/*
 * Run summary: writes the member "ranks" of the summary.json of a run, and reads this file.
 *
 *   "ranks": [{"rank": 0, "device": "cpu0", "share": 8, "compute_s": 0.041, "exposed_s": 0.002,
 *              "idle_s": 0.001, "peak_bytes": 41943040, "predicted_compute_s": 0.04,
 *              "predicted_exposed_s": 0.002, "predicted_idle_s": 0, "predicted_peak_bytes":
 *              40000000, "limit_bytes": 67108864}, …]
 *
 * In addition to "ranks", the reader uses "peak_bytes", "device_bytes" and "predicted_step_s". It
 * ignores all other members. An unknown number is missing or null in the file, and NAN in the
 * structs.
 */
#ifndef YK_REPORT_RUN_SUMMARY_H
#define YK_REPORT_RUN_SUMMARY_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "trace/trace.h"

#include <stddef.h>
#include <stdint.h>

struct yk_run_rank_summary {
    const char *device;                  /* name of the device; NULL means: unknown */
    double share;                        /* number of samples of the batch that the rank takes */
    struct yk_trace_breakdown predicted; /* predicted times in one step */
    struct yk_trace_breakdown measured;  /* measured times in one step */
    double predicted_bytes;              /* upper bound of the peak memory */
    double measured_bytes;               /* peak memory */
    double limit_bytes;
};

/* Returns a rank whose members are all unknown. */
struct yk_run_rank_summary yk_run_summary_make_unknown_rank(void);

struct yk_run_summary {
    double peak_bytes; /* peak memory of the device if the device has its own memory, otherwise peak
                          memory of the process */
    double predicted_step_s;
    struct yk_run_rank_summary *ranks;
    int32_t rank_count;
};

/* Writes the JSON array that is the value of "ranks". */
void yk_run_summary_write_ranks_json(const struct yk_run_rank_summary *ranks, int32_t count,
                                     struct yk_text *out);

/* Reads a summary.json. `source` is the name of the file, for error messages. The result lives in
 * the arena. */
yk_status yk_run_summary_parse(const char *text, size_t length, const char *source,
                               struct yk_arena *arena, struct yk_run_summary *out) YK_MUST_USE;

#endif
