/*
 * DCGM: the activity of a GPU as NVIDIA's data center GPU manager prints it, for GPUs that have no
 * GPM. Its program, dcgmi dmon, runs as a child whose lines are read when they are there; it ends
 * with yk_dcgm_stop(), or with this process, whose end of the pipe it writes to. One thread at a
 * time.
 */
#ifndef YK_MEASURE_COUNTERS_DCGM_H
#define YK_MEASURE_COUNTERS_DCGM_H

#include "base/text.h"
#include "trace/counters.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    YK_DCGM_MAX_COLUMNS = 16,
    YK_DCGM_LINE_SIZE = 512,
    YK_DCGM_PERIOD_MS = 100, /* the shortest that DCGM measures at */
};

/* Starts as {0}. */
struct yk_dcgm {
    pid_t child; /* 0: none */
    int pipe;    /* of a child */
    bool ended;  /* it has closed its side */
    int error;   /* why it could not be started */
    int32_t gpu;
    int64_t lines;                                /* read so far, with values */
    enum yk_counter columns[YK_DCGM_MAX_COLUMNS]; /* YK_COUNTER_COUNT: of no concern */
    int column_count;
    char line[YK_DCGM_LINE_SIZE];
    size_t length;
    double sums[YK_COUNTER_COUNT]; /* since the last reading */
    int32_t counts[YK_COUNTER_COUNT];
};

/* For the GPU that the driver calls `gpu`. A program that cannot be started is remembered. */
void yk_dcgm_start(struct yk_dcgm *dcgm, int32_t gpu);
void yk_dcgm_stop(struct yk_dcgm *dcgm);

/* Parses what the program prints, in chunks of any length. */
void yk_dcgm_feed(struct yk_dcgm *dcgm, const char *bytes, size_t count);

/* Reads what is there, without waiting, and fills in the means of the lines that came since the
 * last call; leaves the rest of values (YK_COUNTER_COUNT). */
void yk_dcgm_read(struct yk_dcgm *dcgm, double *values);

/* "DCGM every 100 ms", "DCGM: dcgmi is not installed". */
void yk_dcgm_describe(const struct yk_dcgm *dcgm, struct yk_text *text);

#endif
