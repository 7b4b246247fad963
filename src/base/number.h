/*
 * Number: strict reading and exact writing of numbers, in the same form whatever the locale.
 *
 * Reading takes the whole word or fails; writing gives the shortest digits that read back the same.
 */
#ifndef YK_BASE_NUMBER_H
#define YK_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_NUMBER_SIZE = 40
};

/* The whole of the `length` characters at `word` as a finite decimal number. */
bool yk_number_read(const char *word, size_t length, double *out);

/* The whole of the `length` characters at `word` as an integer. */
bool yk_number_read_integer(const char *word, size_t length, int64_t *out);

/* Writes `value` into `out`, zero-terminated. */
void yk_number_format(double value, char out[YK_NUMBER_SIZE]);

/* The greatest common divisor; of 0 and another number, the other. */
static inline int64_t yk_number_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* -1, 0 or 1, for qsort(). */
static inline int yk_number_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static inline void yk_number_fill(int32_t *out, int64_t count, int32_t value)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = value;
    }
}

static inline int64_t yk_number_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t yk_number_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
