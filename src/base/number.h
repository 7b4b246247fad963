/*
 * Number: converts between numbers and text, independently of the locale, and has small functions
 * for integers.
 *
 * Parsing accepts only a complete number. Formatting writes the smallest number of digits that
 * parse to the same value.
 */
#ifndef YK_BASE_NUMBER_H
#define YK_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_NUMBER_BUFFER_SIZE = 40
};

/* Parses `length` characters as a finite decimal number. Returns false if they are not exactly one
 * number. */
bool yk_number_parse(const char *word, size_t length, double *out);

/* Parses `length` characters as an integer. Returns false if they are not exactly one integer. */
bool yk_number_parse_integer(const char *word, size_t length, int64_t *out);

/* Formats `value` into `out`, zero-terminated. */
void yk_number_format(double value, char out[YK_NUMBER_BUFFER_SIZE]);

/* Returns the greatest common divisor. The greatest common divisor of 0 and n is n. */
static inline int64_t yk_number_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Divides `total` into `count` parts as evenly as possible, larger parts first. Returns the size of
 * part `index`. */
static inline int64_t yk_number_even_part_size(int64_t total, int64_t count, int64_t index)
{
    return total / count + (index < total % count ? 1 : 0);
}

/* Returns -1, 0 or 1, as a comparison function of qsort() must. */
static inline int yk_number_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Compares two elements of an array of int32_t. A comparison function for qsort(). */
static inline int yk_number_qsort_compare_int32(const void *a, const void *b)
{
    return yk_number_compare(*(const int32_t *)a, *(const int32_t *)b);
}

static inline void yk_number_fill_int32_array(int32_t *out, int64_t count, int32_t value)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = value;
    }
}

/* Returns the index of the last element of the ascending list `starts` that is at most `value`, or
 * 0 if all elements are larger. */
static inline int64_t yk_number_find_interval(const int64_t *starts, int64_t count, int64_t value)
{
    int64_t low = 0;
    int64_t high = count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (starts[middle] <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static inline int64_t yk_number_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t yk_number_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns ⌈a / b⌉, for a ≥ 0 and b > 0. */
static inline int64_t yk_number_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Returns the smallest multiple of `step` that is at least `value`. */
static inline int64_t yk_number_round_up(int64_t value, int64_t step)
{
    return yk_number_ceil_div(value, step) * step;
}

#endif
