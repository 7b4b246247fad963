/*
 * Number: conversion between numbers and text, independent of the locale.
 *
 * Parsing accepts only a complete number. Formatting writes the shortest digits that parse to the
 * same value.
 */
#ifndef YK_BASE_NUMBER_H
#define YK_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_NUMBER_BUFFER_SIZE = 40
};

/* Parses `length` characters as a finite decimal number. Returns false if any character is not part
 * of it. */
bool yk_number_parse(const char *word, size_t length, double *out);

/* Parses `length` characters as an integer. Returns false if any character is not part of it. */
bool yk_number_parse_integer(const char *word, size_t length, int64_t *out);

/* Formats `value` into `out`, zero-terminated. */
void yk_number_format(double value, char out[YK_NUMBER_BUFFER_SIZE]);

/* The greatest common divisor. That of 0 and n is n. */
static inline int64_t yk_number_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Part `index` of `total`, divided into `count` parts as evenly as possible, the larger ones first.
 */
static inline int64_t yk_number_even_part(int64_t total, int64_t count, int64_t index)
{
    return total / count + (index < total % count ? 1 : 0);
}

/* -1, 0 or 1, for qsort(). */
static inline int yk_number_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* The same for two elements of an array of int32_t. */
static inline int yk_number_compare_elements(const void *a, const void *b)
{
    return yk_number_compare(*(const int32_t *)a, *(const int32_t *)b);
}

static inline void yk_number_fill(int32_t *out, int64_t count, int32_t value)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = value;
    }
}

/* The last index whose element of an ascending list is at most `value`; 0 if there is none. */
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

#endif
