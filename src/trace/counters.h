/*
 * Counters: readings of hardware counters, and estimates of the counters for each part of a
 * training step. (The caller decides what a part is: for example, a phase, or a layer in a phase.)
 *
 * A reading is an average over a short interval of the clock in base/clock.h. If the device does
 * not have a counter, the value is NAN, and is printed as "n/a".
 */
#ifndef YK_TRACE_COUNTERS_H
#define YK_TRACE_COUNTERS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_counter {
    /* Counters of a GPU, as fractions from 0 to 1: */
    YK_COUNTER_SM,        /* fraction of multiprocessors that have work */
    YK_COUNTER_OCCUPANCY, /* resident warps, relative to the maximum */
    YK_COUNTER_TENSOR,    /* fraction of tensor cores that are busy */
    YK_COUNTER_DRAM,      /* fraction of the time in which the memory bus is busy */
    /* Counters of a GPU, in bytes per second: */
    YK_COUNTER_PCIE_IN, /* data that moves to the device */
    YK_COUNTER_PCIE_OUT,
    YK_COUNTER_NVLINK_IN,
    YK_COUNTER_NVLINK_OUT,
    /* Counters of a GPU in other units; a CPU has YK_COUNTER_MEMORY, too: */
    YK_COUNTER_CLOCK,  /* clock of the multiprocessors, in Hz */
    YK_COUNTER_POWER,  /* power, in W */
    YK_COUNTER_MEMORY, /* bytes that are in use on the GPU; on a CPU, by this process */
    /* Counters of this process on a CPU: */
    YK_COUNTER_CORES,            /* number of busy cores: CPU seconds per second */
    YK_COUNTER_CYCLES,           /* CPU cycles per second */
    YK_COUNTER_INSTRUCTIONS,     /* instructions per second */
    YK_COUNTER_CACHE_MISS_BYTES, /* bytes per second that misses of the last-level cache fetch from
                                    memory; prefetches do not count */
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

/* Return the name of a counter for people, such as "SM active", its key in files, such as "sm", and
 * its unit. */
const char *yk_counter_name(enum yk_counter counter);
const char *yk_counter_json_key(enum yk_counter counter);
enum yk_counter_unit yk_counter_get_unit(enum yk_counter counter);

enum {
    YK_COUNTER_TEXT_SIZE = 32
};

/* Formats a value with its unit: "62.1 %", "1.98GHz", "312GB/s"; "n/a" if it is NAN. */
void yk_counter_format_value(enum yk_counter counter, double value, char out[YK_COUNTER_TEXT_SIZE]);

/* The averages of all counters over the interval [begin_s, end_s). */
struct yk_counter_reading {
    double begin_s;
    double end_s;
    double values[YK_COUNTER_COUNT]; /* NAN means: unknown */
};

/* An interval in which a part of the step ran. The spans of a device may be unsorted. They may
 * overlap, because lanes run in parallel: a moment in several spans belongs to the span with the
 * lowest part number. So if communication has the highest number, it gets only the moments without
 * computation. */
struct yk_counter_part_span {
    double begin_s;
    double end_s;
    int32_t part; /* number of the part, from 0; YK_COUNTER_UNKNOWN_PART means: ignore readings that
                     overlap this span */
};

enum {
    YK_COUNTER_UNKNOWN_PART = -1,
    YK_COUNTER_MAX_PARTS = 32,
};

/*
 * Groups of parts, for yk_counters_fit_part_groups(). The counters should be about constant during
 * a part: if the layers of a phase differ, the phase should be divided into several parts. The
 * value of a group is the mean of its parts, weighted by time.
 */
struct yk_counter_part_groups {
    const bool *members; /* (group_count, part_count) true if the part is in the group */
    int32_t group_count;
    int32_t part_count;      /* at most YK_COUNTER_MAX_PARTS */
    const int32_t *families; /* (part_count) number of each part's family, 0 to part_count - 1; NULL
                                means: every part is a family of its own */
    double ends_s;           /* maximum error of begin_s and end_s of the readings */
};

/*
 * Estimates the value of every counter for each group, although readings are longer than the parts.
 * A reading is the mean of the parts that ran during it, weighted by time. The fit finds the values
 * of all parts, and a value for the time in which nothing ran, that explain all readings best. It
 * uses bounded least squares: values are at least 0, and fractions are at most 1. The mean of the
 * parts over time equals the average reading.
 *
 * If there are few readings for many parts, priors help: the parts of a family (for example, the
 * layers of one phase) are expected to differ from the mean of the family by about 0.25 for
 * fractions, by 5 % of the average for the clock, and by half of the average for other counters. If
 * there are enough readings, they outweigh the priors.
 *
 * out (group_count, YK_COUNTER_COUNT) is NAN for a group without readings, and also if the 95 %
 * confidence interval is too wide: more than ±0.1 for fractions (±0.05 near 0), ±2 % of the average
 * for the clock, or ±20 % of the average for other counters. seconds (group_count) is the time of
 * each group that the readings cover.
 */
yk_status yk_counters_fit_part_groups(const struct yk_counter_reading *readings,
                                      int32_t reading_count,
                                      const struct yk_counter_part_span *spans, int32_t span_count,
                                      const struct yk_counter_part_groups *groups, double *out,
                                      double *seconds) YK_MUST_USE;

/*
 * Estimates the lag of the driver: the time that must be added to the times of readings to get the
 * times at which they were taken. `out_s` is the lag between -max_s and max_s with which the parts
 * explain the readings best. It is 0 if the improvement could be chance, or if the best lag is at
 * an end of the range. Steps repeat, so `max_s` should be less than half a step. `part_count` is
 * the number of parts in the spans.
 */
yk_status yk_counters_fit_driver_lag(const struct yk_counter_reading *readings,
                                     int32_t reading_count,
                                     const struct yk_counter_part_span *spans, int32_t span_count,
                                     int32_t part_count, double max_s, double *out_s) YK_MUST_USE;

#endif
