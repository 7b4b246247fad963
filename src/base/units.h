/*
 * Units: what people write ("24GiB", "32GB/s", "10us", "91.1TFLOPS") and what programs count in
 * (bytes, bytes per second, seconds, operations per second).
 */
#ifndef YK_BASE_UNITS_H
#define YK_BASE_UNITS_H

#include "base/status.h"

enum yk_unit {
    YK_UNIT_BYTES,
    YK_UNIT_BYTES_PER_S, /* GB/s, and Gbit/s or GbE for networks */
    YK_UNIT_SECONDS,
    YK_UNIT_FLOPS, /* operations per second */
};

enum {
    YK_UNITS_SIZE = 32
};

/* The value of `word` in the base unit. The unit must be there, and be one of `unit`. */
yk_status yk_units_read(const char *word, enum yk_unit unit, double *out) YK_MUST_USE;

/* A few significant digits and the prefix that suits them: "1.5GiB", "12GB/s", "3.2ms". Returns
 * `out`. */
const char *yk_units_format(double value, enum yk_unit unit, char out[YK_UNITS_SIZE]);

/* The same in memory that lasts as long as the block it is written in. */
#define YK_UNITS_TEXT(value, unit) yk_units_format((value), (unit), (char[YK_UNITS_SIZE]){0})

#endif
