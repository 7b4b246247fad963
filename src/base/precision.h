/*
 * Precision: the number formats of weights and computations, and their names in the command line,
 * in files and in tables.
 */
#ifndef YK_BASE_PRECISION_H
#define YK_BASE_PRECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_precision {
    YK_PRECISION_FP32,
    YK_PRECISION_TF32, /* for matrix products only; stored as fp32 */
    YK_PRECISION_FP16,
    YK_PRECISION_BF16,
    YK_PRECISION_COUNT,
};

/* Returns "fp32", "tf32", "fp16" or "bf16". */
const char *yk_precision_name(enum yk_precision precision);

/* Finds a precision by its name. Returns false if no precision has this name. */
bool yk_precision_find(const char *name, enum yk_precision *out);

/* Returns the bytes of one stored number: 4 or 2. */
int64_t yk_precision_bytes(enum yk_precision precision);

/* Returns the address of a number in an array. */
void *yk_precision_element_address(enum yk_precision precision, const void *base, int64_t index);

#endif
