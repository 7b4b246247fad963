/*
 * Counters: what a device's own counters showed while something ran, and what of it belongs to
 * which part of a step.
 *
 * A reading is an average over a short while, by the clock of base/clock.h. What a device has no
 * counter for is NAN, and is written "n/a", never 0.
 */
#ifndef YK_TRACE_COUNTERS_H
#define YK_TRACE_COUNTERS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_counter {
    /* Of a GPU; parts of 1. */
    YK_COUNTER_SM,        /* multiprocessors with work on them, over time */
    YK_COUNTER_OCCUPANCY, /* warps there, of those that there is room for */
    YK_COUNTER_TENSOR,    /* tensor cores at work */
    YK_COUNTER_DRAM,      /* memory's bus at work */
    /* Bytes a second. */
    YK_COUNTER_PCIE_IN, /* to the device */
    YK_COUNTER_PCIE_OUT,
    YK_COUNTER_NVLINK_IN,
    YK_COUNTER_NVLINK_OUT,
    YK_COUNTER_CLOCK,  /* Hz, of the multiprocessors */
    YK_COUNTER_POWER,  /* W */
    YK_COUNTER_MEMORY, /* bytes of the device in use, or of the process on a CPU */
    /* Of this process on a CPU. */
    YK_COUNTER_CORES,        /* cores at work: seconds computed a second */
    YK_COUNTER_CYCLES,       /* a second */
    YK_COUNTER_INSTRUCTIONS, /* a second */
    YK_COUNTER_MISSES_BYTES, /* fetched for misses of the last cache, a second: what the process
                                itself took from memory, prefetching left out */
    YK_COUNTER_COUNT,
};

enum yk_counter_unit {
    YK_COUNTER_PART, /* of 1 */
    YK_COUNTER_PER_SECOND,
    YK_COUNTER_BYTES_PER_S,
    YK_COUNTER_HERTZ,
    YK_COUNTER_WATTS,
    YK_COUNTER_BYTES,
    YK_COUNTER_NUMBER,
};

/* "SM active", and the short "sm" of files. */
const char *yk_counter_name(enum yk_counter counter);
const char *yk_counter_key(enum yk_counter counter);
enum yk_counter_unit yk_counter_unit(enum yk_counter counter);

/* "62.1 %", "1.98GHz", "312GB/s", "n/a". */
enum {
    YK_COUNTER_TEXT_SIZE = 32
};
void yk_counter_format(enum yk_counter counter, double value, char out[YK_COUNTER_TEXT_SIZE]);

/* The average over [begin_s, end_s). */
struct yk_counter_reading {
    double begin_s;
    double end_s;
    double values[YK_COUNTER_COUNT]; /* NAN: no such counter, or it could not be read */
};

/* What ran when: the same clock. Spans of one device need not be in order, and may overlap (lanes
 * run side by side): a moment then belongs to the lowest part of those that run in it, so that
 * parts divide time. Communication, say, comes last: its moments are those that wait for it. */
struct yk_counter_span {
    double begin_s;
    double end_s;
    int32_t part; /* which part of a step it is, from 0; YK_COUNTER_UNKNOWN: nobody knows what
                     ran, and readings that touch it do not count */
};

enum {
    YK_COUNTER_UNKNOWN = -1,
    YK_COUNTER_MAX_PARTS = 32,
};

/*
 * What parts of a step show, from readings that are longer than the parts: a reading is the average
 * of what ran during it, weighted by time, so the parts' values are those that explain all readings
 * best, by least squares over parts and "nothing ran", none below 0 and parts of 1 not above 1.
 * Their mean by time is the average of all readings.
 *
 * Parts may be put together in groups, a mean by time: parts should be as fine as what differs (a
 * phase whose layers differ is no part), groups what is asked for. groups (group_count, part_count)
 * says which parts are in which; out (group_count, YK_COUNTER_COUNT); NAN of a group that no
 * reading saw, and where what they tell is not sure enough: 19 times of 20 within 0.1 of parts of 1
 * (0.05 of what hardly works), within a fiftieth of the average clock, within a fifth of the
 * average of all else. `seconds` (group_count) says for how long each was seen. At most
 * YK_COUNTER_MAX_PARTS parts.
 *
 * Where few readings tell many parts, those of a family (the layers of a phase, say) are taken to
 * be much alike: each differs from the family's mean by about 0.25 of parts of 1, by half of the
 * average of all else. Readings that tell otherwise outweigh this.
 */
struct yk_counter_groups {
    const bool *members;
    int32_t group_count;
    int32_t part_count;
    const int32_t *families; /* (part_count) from 0 up to part_count; NULL: each part for itself */
    double ends_s; /* how far readings may begin and end from where they say, either way */
};

yk_status yk_counters_fit_parts(const struct yk_counter_reading *readings, int32_t reading_count,
                                const struct yk_counter_span *spans, int32_t span_count,
                                const struct yk_counter_groups *groups, double *out,
                                double *seconds) YK_MUST_USE;

/*
 * What is to be added to the times of readings to have those at which they were taken, less than
 * `most_s` either way: a driver may hand out what it saw a while ago. It is what makes the parts
 * (of as many as the spans have) explain the readings best; 0 where they are not explained better
 * than chance would, and where the best is the farthest. Steps that repeat look alike a step later:
 * `most_s` should be less than half a step.
 */
yk_status yk_counters_fit_lag(const struct yk_counter_reading *readings, int32_t reading_count,
                              const struct yk_counter_span *spans, int32_t span_count,
                              int32_t part_count, double max_s, double *out_s) YK_MUST_USE;

#endif
