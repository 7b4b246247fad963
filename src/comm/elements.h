/*
 * Elements: rows of a comm's numbers added, and 16-bit ones converted to fp32 and back. Memory of
 * the host alone; any thread.
 */
#ifndef YK_COMM_ELEMENTS_H
#define YK_COMM_ELEMENTS_H

#include "comm/comm.h"

/* to += from; 16-bit numbers are added in fp32 and rounded. */
void yk_comm_elements_add(enum yk_comm_type type, int64_t count, const void *from, void *to);

/* sum += from, 16-bit numbers or fp32, in fp32. */
void yk_comm_elements_add_fp32(enum yk_comm_type type, int64_t count, const void *from, float *sum);

/* fp32, bf16 or fp16 as fp32, and back: to nearest, ties to even. */
void yk_comm_elements_to_fp32(enum yk_comm_type type, int64_t count, const void *from, float *out);
void yk_comm_elements_from_fp32(enum yk_comm_type type, int64_t count, const float *from,
                                void *out);

static inline bool yk_comm_type_is_half(enum yk_comm_type type)
{
    return type == YK_COMM_BF16 || type == YK_COMM_FP16;
}

/* Where number `at` of a row is. */
static inline void *yk_comm_elements_at(enum yk_comm_type type, const void *row, int64_t at)
{
    return (char *)(uintptr_t)row + at * (int64_t)yk_comm_type_bytes(type);
}

#endif
