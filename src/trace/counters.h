/*
 * Counters: readings of hardware counters, and their attribution to the parts of a training step.
 *
 * A reading is an average over a short interval of the clock in base/clock.h. The value of a
 * counter that the device does not have is NAN, and is printed as "n/a".
 */
#ifndef YK_TRACE_COUNTERS_H
#define YK_TRACE_COUNTERS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_counter {
    /* Of a GPU, as fractions from 0 to 1. */
    YK_COUNTER_SM,        /* multiprocessors with work on them */
    YK_COUNTER_OCCUPANCY, /* resident warps */
    YK_COUNTER_TENSOR,    /* busy tensor cores */
    YK_COUNTER_DRAM,      /* busy memory bus */
    /* Of a GPU, in bytes per second. */
    YK_COUNTER_PCIE_IN, /* to the device */
    YK_COUNTER_PCIE_OUT,
    YK_COUNTER_NVLINK_IN,
    YK_COUNTER_NVLINK_OUT,
    YK_COUNTER_CLOCK,  /* of the multiprocessors, in Hz */
    YK_COUNTER_POWER,  /* in W */
    YK_COUNTER_MEMORY, /* bytes in use on the GPU, or by the process on a CPU */
    /* Of this process on a CPU. */
    YK_COUNTER_CORES,            /* busy cores: CPU seconds per second */
    YK_COUNTER_CYCLES,           /* per second */
    YK_COUNTER_INSTRUCTIONS,     /* per second */
    YK_COUNTER_CACHE_MISS_BYTES, /* bytes per second fetched from memory because of last-level cache
                                misses, without prefetching */
    YK_COUNTER_COUNT,
};

enum yk_counter_unit {
    YK_COUNTER_UNIT_FRACTION, /* a fraction from 0 to 1 */
    YK_COUNTER_UNIT_PER_SECOND,
    YK_COUNTER_UNIT_BYTES_PER_S,
    YK_COUNTER_UNIT_HERTZ,
    YK_COUNTER_UNIT_WATTS,
    YK_COUNTER_UNIT_BYTES,
    YK_COUNTER_UNIT_NUMBER,
};

/* The name for people, "SM active", and the key in files, "sm". */
const char *yk_counter_name(enum yk_counter counter);
const char *yk_counter_key(enum yk_counter counter);
enum yk_counter_unit yk_counter_unit(enum yk_counter counter);

enum {
    YK_COUNTER_TEXT_SIZE = 32
};

/* "62.1 %", "1.98GHz", "312GB/s", "n/a". */
void yk_counter_format(enum yk_counter counter, double value, char out[YK_COUNTER_TEXT_SIZE]);

/* Averages over [begin_s, end_s). */
struct yk_counter_reading {
    double begin_s;
    double end_s;
    double values[YK_COUNTER_COUNT]; /* NAN: unknown */
};

/* An interval in which a part of the step ran. The spans of a device may be unsorted and may
 * overlap, because lanes run in parallel. A moment in several spans belongs to the one with the
 * lowest part number; so if communication has the highest number, it gets only the moments without
 * computation. */
struct yk_counter_part_span {
    double begin_s;
    double end_s;
    int32_t part; /* number of the part, from 0; YK_COUNTER_UNKNOWN_PART: readings that overlap this
                     span are ignored */
};

enum {
    YK_COUNTER_UNKNOWN_PART = -1,
    YK_COUNTER_MAX_PARTS = 32,
};

/*
 * Groups of parts, for yk_counters_fit_parts(). Parts should be homogeneous: a phase whose layers
 * differ should be several parts. The value of a group is the mean of its parts, weighted by time.
 */
struct yk_counter_part_groups {
    const bool *members; /* (group_count, part_count) whether the part is in the group */
    int32_t group_count;
    int32_t part_count;      /* at most YK_COUNTER_MAX_PARTS */
    const int32_t *families; /* (part_count) family of each part, 0 to part_count - 1; NULL: every
                                part is its own family */
    double ends_s;           /* the begin and end of readings may be wrong by up to this much */
};

/*
 * Estimates the value of every counter for each group, although readings are longer than the parts.
 * A reading is the mean of the parts that ran during it, weighted by time. The fit finds the values
 * of all parts, and of "nothing ran", that explain all readings best: bounded least squares with
 * values of at least 0, and fractions of at most 1. The mean of the parts over time equals the
 * average reading.
 *
 * If few readings determine many parts, priors help: the parts of a family (say, the layers of one
 * phase) deviate from the mean of the family by about 0.25 for fractions, and by half of the
 * average for other counters. Enough readings override this.
 *
 * out (group_count, YK_COUNTER_COUNT) is NAN for a group without readings, and where the 95 %
 * confidence interval is too wide: more than ±0.1 for fractions (±0.05 near 0), ±2 % of the average
 * for the clock, ±20 % of the average for other counters. seconds (group_count) is the time that
 * was measured of each group.
 */
yk_status yk_counters_fit_parts(const struct yk_counter_reading *readings, int32_t reading_count,
                                const struct yk_counter_part_span *spans, int32_t span_count,
                                const struct yk_counter_part_groups *groups, double *out,
                                double *seconds) YK_MUST_USE;

/*
 * Estimates the lag of the driver: the time to add to readings to get the time at which they were
 * taken. It is the lag between -max_s and max_s with which the parts explain the readings best; 0
 * if the improvement could be chance, or if the best lag is at the end of the range. Steps repeat,
 * so `max_s` should be less than half a step. `part_count` is the number of parts of the spans.
 */
yk_status yk_counters_fit_lag(const struct yk_counter_reading *readings, int32_t reading_count,
                              const struct yk_counter_part_span *spans, int32_t span_count,
                              int32_t part_count, double max_s, double *out_s) YK_MUST_USE;

#endif
