/*
 * DCGM counters: the activity of a GPU from NVIDIA's Data Center GPU Manager, for GPUs without GPM.
 * The program `dcgmi dmon` runs as a child process and writes to a pipe. The child ends when
 * yk_dcgm_counters_stop() is called or this process ends. Not thread-safe.
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

/* Initialise it to {0}. */
struct yk_dcgm_counters {
    pid_t child; /* 0 means: not running */
    int pipe;    /* read end of the pipe; valid if the child is running */
    bool ended;  /* the child has closed the pipe */
    int error;   /* errno if the child could not be started; 0 otherwise */
    int32_t gpu;
    int64_t lines;                                         /* number of lines with values so far */
    enum yk_counter columns[YK_DCGM_COUNTERS_MAX_COLUMNS]; /* counter of each column;
                                                              YK_COUNTER_COUNT means: ignored */
    int column_count;
    char line[YK_DCGM_COUNTERS_LINE_SIZE]; /* begin of a line whose end was not read yet */
    size_t length;                         /* length of `line` */
    /* Sums and numbers of the values since the last call of yk_dcgm_counters_read(). */
    double sums[YK_COUNTER_COUNT];
    int32_t counts[YK_COUNTER_COUNT];
};

/* Starts dcgmi. `gpu` is the index of the GPU in the driver. If dcgmi cannot be started,
 * yk_dcgm_counters_describe() says why. */
void yk_dcgm_counters_start(struct yk_dcgm_counters *dcgm, int32_t gpu);
void yk_dcgm_counters_stop(struct yk_dcgm_counters *dcgm);

/* Parses the next part of the output of dcgmi. The output may be split at any byte. */
void yk_dcgm_counters_parse_output(struct yk_dcgm_counters *dcgm, const char *bytes, size_t count);

/* Reads the available output without waiting. `values` has YK_COUNTER_COUNT elements. Sets the
 * elements of the counters that DCGM provides to their mean since the previous call, and leaves the
 * other elements unchanged. */
void yk_dcgm_counters_read(struct yk_dcgm_counters *dcgm, double *values);

/* Appends a description. Examples: "DCGM every 100 ms", "DCGM: dcgmi is not installed". */
void yk_dcgm_counters_describe(const struct yk_dcgm_counters *dcgm, struct yk_text *text);

#endif
