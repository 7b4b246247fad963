/*
 * DCGM counters: the activity of a GPU from NVIDIA's Data Center GPU Manager, for GPUs without GPM.
 * The program `dcgmi dmon` runs as a child process and writes to a pipe. It ends with
 * yk_dcgm_counters_stop() or with this process. Not thread-safe.
 */
#ifndef YK_MEASURE_COUNTERS_DCGM_COUNTERS_H
#define YK_MEASURE_COUNTERS_DCGM_COUNTERS_H

#include "base/text.h"
#include "trace/counters.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    YK_DCGM_COUNTERS_MAX_COLUMNS = 16,
    YK_DCGM_COUNTERS_LINE_SIZE = 512,
    YK_DCGM_COUNTERS_PERIOD_MS = 100, /* the shortest period of DCGM */
};

/* Starts as {0}. */
struct yk_dcgm_counters {
    pid_t child; /* 0: not running */
    int pipe;    /* read end; valid if the child is running */
    bool ended;  /* the child has closed the pipe */
    int error;   /* errno if the child could not be started; 0 otherwise */
    int32_t gpu;
    int64_t lines; /* number of lines with values so far */
    enum yk_counter
        columns[YK_DCGM_COUNTERS_MAX_COLUMNS]; /* YK_COUNTER_COUNT for an ignored column */
    int column_count;
    char line[YK_DCGM_COUNTERS_LINE_SIZE]; /* an incomplete line */
    size_t length;
    double sums[YK_COUNTER_COUNT]; /* sums and counts of values since the last
                                      yk_dcgm_counters_read() */
    int32_t counts[YK_COUNTER_COUNT];
};

/* Starts dcgmi for GPU `gpu`, by the driver's index. If this fails, yk_dcgm_counters_describe()
 * says why. */
void yk_dcgm_counters_start(struct yk_dcgm_counters *dcgm, int32_t gpu);
void yk_dcgm_counters_stop(struct yk_dcgm_counters *dcgm);

/* Parses output of dcgmi, in chunks of any length. */
void yk_dcgm_counters_parse_output(struct yk_dcgm_counters *dcgm, const char *bytes, size_t count);

/* Reads the available output without waiting. Sets the entries of values (YK_COUNTER_COUNT) that
 * DCGM provides to their means since the last call, and leaves the others unchanged. */
void yk_dcgm_counters_read(struct yk_dcgm_counters *dcgm, double *values);

/* Examples: "DCGM every 100 ms", "DCGM: dcgmi is not installed". */
void yk_dcgm_counters_describe(const struct yk_dcgm_counters *dcgm, struct yk_text *text);

#endif
