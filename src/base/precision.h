/*
 * Precision: the number formats that weights are stored and work is done in, by one name each on
 * the command line, in files and in tables.
 */
#ifndef YK_BASE_PRECISION_H
#define YK_BASE_PRECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_precision {
    YK_PRECISION_FP32,
    YK_PRECISION_TF32, /* products only: stored as fp32 */
    YK_PRECISION_FP16,
    YK_PRECISION_BF16,
    YK_PRECISION_COUNT,
};

/* "fp32", "tf32", "fp16", "bf16". */
const char *yk_precision_name(enum yk_precision precision);

/* False when no precision has that name. */
bool yk_precision_find(const char *name, enum yk_precision *out);

/* The bytes of one stored number: 4 or 2. */
int64_t yk_precision_bytes(enum yk_precision precision);

#endif
