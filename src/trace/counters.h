/*
 * Counters: readings of hardware counters, and estimates of the counters for each part of a
 * training step. (The caller decides what a part is: for example, a phase, or a layer in a phase.)
 *
 * A reading contains the averages of all counters over a short interval. The times of the interval
 * are on the clock of base/clock.h. If the device does not have a counter, the value is NAN, and is
 * printed as "n/a".
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
    /* Counters of a GPU in other units (a CPU also has YK_COUNTER_MEMORY): */
    YK_COUNTER_CLOCK,  /* clock of the multiprocessors, in Hz */
    YK_COUNTER_POWER,  /* power, in W */
    YK_COUNTER_MEMORY, /* on a GPU: bytes in use; on a CPU: bytes that this process uses */
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

/* The next three functions return the name of a counter in texts for people ("SM active"), its key
 * in files ("sm"), and its unit. */
const char *yk_counter_name(enum yk_counter counter);
const char *yk_counter_json_key(enum yk_counter counter);
enum yk_counter_unit yk_counter_get_unit(enum yk_counter counter);

enum {
    YK_COUNTER_TEXT_SIZE = 32
};

/* Formats a value with its unit: "62.1 %", "1.98GHz", "312GB/s". NAN becomes "n/a". */
void yk_counter_format_value(enum yk_counter counter, double value, char out[YK_COUNTER_TEXT_SIZE]);

/* The averages of all counters over the interval [begin_s, end_s). */
struct yk_counter_reading {
    double begin_s;
    double end_s;
    double values[YK_COUNTER_COUNT]; /* NAN means: unknown */
};

/* An interval in which a part of the step ran. The spans of a device may be unsorted. They may
 * overlap, because lanes run in parallel: a moment in several spans belongs to the span with the
 * lowest part number. So if communication is the part with the highest number, only the moments
 * without computation belong to it. */
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
    const bool *members; /* (group_count, part_count) whether the part is in the group */
    int32_t group_count;
    int32_t part_count;      /* at most YK_COUNTER_MAX_PARTS */
    const int32_t *families; /* (part_count) number of the family of each part, from 0 to
                                part_count - 1; NULL means: every part is a family of its own */
    double ends_s;           /* maximum error of the times begin_s and end_s of a reading */
};

/*
 * Estimates the value of every counter for each group, even if readings are longer than the parts.
 * A reading is the mean of the parts that ran during it, weighted by time. The fit finds one value
 * for each part, and one for the time in which nothing ran, such that these values explain all
 * readings best. It uses least squares with bounds: values are at least 0, and fractions are not
 * above 1. The mean of these values, weighted by time, nearly equals the mean of the readings.
 *
 * The fit also uses priors (bounded_fit.h): the parts of a family (for example, the layers of one
 * phase) are expected to have similar values. Priors matter if there are few readings for many
 * parts. A value is unknown if its 95 % confidence interval is too wide. In this table, the average
 * is the mean of all readings of the counter:
 *
 *   counter         expected difference from the mean   widest confidence interval
 *                   of the family
 *   fraction        0.25                                ±0.1 (±0.05 for averages near 0)
 *   clock           5 % of the average                  ±2 % of the average
 *   other counters  50 % of the average                 ±20 % of the average
 *
 * out[g * YK_COUNTER_COUNT + c] is the value of counter c for group g. It is NAN if the value is
 * unknown or if the group has no readings. `seconds` has one element for each group: the time of
 * the group in all readings.
 */
yk_status yk_counters_fit_part_groups(const struct yk_counter_reading *readings,
                                      int32_t reading_count,
                                      const struct yk_counter_part_span *spans, int32_t span_count,
                                      const struct yk_counter_part_groups *groups, double *out,
                                      double *seconds) YK_MUST_USE;

/*
 * Estimates the lag of the driver: the time that must be added to the times of the readings to get
 * the times at which they were really taken. `out_s` is the lag between -max_s and max_s with which
 * the parts explain the readings best. It is 0 if the best lag could be chance or is near -max_s or
 * max_s. Steps repeat, so `max_s` should be less than half a step. `part_count` is the number of
 * parts in the spans.
 */
yk_status yk_counters_fit_driver_lag(const struct yk_counter_reading *readings,
                                     int32_t reading_count,
                                     const struct yk_counter_part_span *spans, int32_t span_count,
                                     int32_t part_count, double max_s, double *out_s) YK_MUST_USE;

#endif
