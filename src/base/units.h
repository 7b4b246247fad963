/*
 * Units: converts between quantities as people write them ("24GiB", "32GB/s", "10us", "91.1TFLOPS")
 * and numbers in base units (bytes, bytes per second, seconds, operations per second).
 */
#ifndef YK_BASE_UNITS_H
#define YK_BASE_UNITS_H

#include "base/status.h"

enum yk_unit {
    YK_UNIT_BYTES,
    YK_UNIT_BYTES_PER_S, /* "GB/s"; for networks also "Gbit/s" or "GbE" */
    YK_UNIT_SECONDS,
    YK_UNIT_FLOPS, /* operations per second */
};

enum {
    YK_UNITS_BUFFER_SIZE = 32
};

/* Parses a quantity, which must contain a unit of the kind `unit`. The result is in the base unit.
 */
yk_status yk_units_parse(const char *word, enum yk_unit unit, double *out) YK_MUST_USE;

/* Formats a value with a few significant digits and a suitable unit: "1.5GiB", "12GB/s", "3.2ms".
 * Returns `out`. */
const char *yk_units_format(double value, enum yk_unit unit, char out[YK_UNITS_BUFFER_SIZE]);

/* Calls yk_units_format() with a temporary buffer, which is valid until the end of the enclosing
 * block. */
#define YK_UNITS_FORMAT_TEMPORARY(value, unit)                                                     \
    yk_units_format((value), (unit), (char[YK_UNITS_BUFFER_SIZE]){0})

#endif
