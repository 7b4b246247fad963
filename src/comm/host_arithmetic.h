/*
 * Host arithmetic: adds arrays of numbers in host memory, and converts 16-bit numbers to fp32 and
 * back. Thread-safe.
 */
#ifndef YK_COMM_HOST_ARITHMETIC_H
#define YK_COMM_HOST_ARITHMETIC_H

#include "comm/comm.h"

/* Adds each element of `from` to the element of `to` with the same index. 16-bit numbers are added
 * in fp32, and each sum is rounded to 16 bits. */
void yk_host_arithmetic_add_arrays(enum yk_comm_data_type type, int64_t count, const void *from,
                                   void *to);

/* Converts each element of `from` to fp32 and adds it to the element of `sum` with the same index.
 * `type` must not be fp64. */
void yk_host_arithmetic_add_to_fp32_sum(enum yk_comm_data_type type, int64_t count,
                                        const void *from, float *sum);

/* Convert numbers of `type` to fp32, and fp32 to `type`. 16-bit results are rounded to nearest,
 * ties to even. `type` must not be fp64. */
void yk_host_arithmetic_convert_to_fp32(enum yk_comm_data_type type, int64_t count,
                                        const void *from, float *out);
void yk_host_arithmetic_convert_from_fp32(enum yk_comm_data_type type, int64_t count,
                                          const float *from, void *out);

static inline bool yk_comm_data_type_is_16_bit(enum yk_comm_data_type type)
{
    return type == YK_COMM_BF16 || type == YK_COMM_FP16;
}

/* Returns the type in which numbers are sent and summed: fp32 for 16-bit numbers if `sum_in_fp32`
 * is true, otherwise `type`. */
static inline enum yk_comm_data_type yk_comm_data_type_on_wire(enum yk_comm_data_type type,
                                                               bool sum_in_fp32)
{
    return sum_in_fp32 && yk_comm_data_type_is_16_bit(type) ? YK_COMM_FP32 : type;
}

/* Returns a pointer to element `at` of the array `row`. */
static inline void *yk_comm_data_type_element_pointer(enum yk_comm_data_type type, const void *row,
                                                      int64_t at)
{
    return (char *)(uintptr_t)row + at * (int64_t)yk_comm_data_type_bytes(type);
}

#endif
