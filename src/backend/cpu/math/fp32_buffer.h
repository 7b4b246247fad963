/*
 * fp32 buffer: gives kernels access to stored elements as fp32. Elements that are stored as fp32
 * are used in place. 16-bit elements are converted to fp32 in a buffer of the caller (`scratch`),
 * at most YK_CPU_FP32_BUFFER_SIZE elements at a time, so that rows may have any width.
 */
#ifndef YK_BACKEND_CPU_MATH_FP32_BUFFER_H
#define YK_BACKEND_CPU_MATH_FP32_BUFFER_H

#include "backend/cpu/math/convert.h"

#include <stdbool.h>

enum {
    YK_CPU_FP32_BUFFER_SIZE = 4096, /* in elements; 16 KiB of fp32 */
};

static inline bool yk_cpu_fp32_needs_conversion(enum yk_precision type)
{
    return type == YK_PRECISION_FP16 || type == YK_PRECISION_BF16;
}

/* Reads one row in chunks. A chunk may be read several times. The last chunk that was read stays
 * converted in `scratch`. */
struct yk_cpu_fp32_row_reader {
    enum yk_precision type;
    const void *base;
    int64_t held; /* the chunk in `scratch` starts at this element of the row; -1 means: no chunk */
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
};

/* Prepares to read the row that starts at element `first` of `base`. `base` may be NULL if the row
 * is never read. */
static inline void yk_cpu_fp32_row_reader_init(struct yk_cpu_fp32_row_reader *reader,
                                               enum yk_precision type, const void *base,
                                               int64_t first)
{
    reader->type = type;
    reader->base = base ? yk_precision_element_address(type, base, first) : NULL;
    reader->held = -1;
}

/* Returns `count` elements of the row as fp32, starting at element `first`. Calls with the same
 * `first` must have the same `count`. */
static inline const float *yk_cpu_fp32_row_reader_read_chunk(struct yk_cpu_fp32_row_reader *reader,
                                                             int64_t first, int64_t count)
{
    if (!yk_cpu_fp32_needs_conversion(reader->type)) {
        return (const float *)reader->base + first;
    }
    if (reader->held < 0 || reader->held != first) {
        yk_cpu_convert_array_to_fp32(reader->type, reader->base, first, count, reader->scratch);
        reader->held = first;
    }
    return reader->scratch;
}

/* Returns `count` elements of `from` as fp32, starting at element `first`. Uses `scratch` only if
 * the elements must be converted. */
static inline const float *yk_cpu_fp32_buffer_for_reading(enum yk_precision type, const void *from,
                                                          int64_t first, int64_t count,
                                                          float *scratch)
{
    if (!yk_cpu_fp32_needs_conversion(type)) {
        return (const float *)from + first;
    }
    yk_cpu_convert_array_to_fp32(type, from, first, count, scratch);
    return scratch;
}

/* Returns a buffer for new elements of `to`, starting at element `first`. After writing to the
 * buffer, call yk_cpu_fp32_buffer_store_back(). */
static inline float *yk_cpu_fp32_buffer_for_writing(enum yk_precision type, void *to, int64_t first,
                                                    float *scratch)
{
    return yk_cpu_fp32_needs_conversion(type) ? scratch : (float *)to + first;
}

/* Like yk_cpu_fp32_buffer_for_writing(), but the buffer already holds the elements of `to`. */
static inline float *yk_cpu_fp32_buffer_for_update(enum yk_precision type, void *to, int64_t first,
                                                   int64_t count, float *scratch)
{
    return (float *)(uintptr_t)yk_cpu_fp32_buffer_for_reading(type, to, first, count, scratch);
}

/* Converts a buffer of yk_cpu_fp32_buffer_for_writing() or yk_cpu_fp32_buffer_for_update() to
 * `type` and stores it in `to`. Does nothing for fp32. */
static inline void yk_cpu_fp32_buffer_store_back(enum yk_precision type, const float *buffer,
                                                 int64_t count, void *to, int64_t first)
{
    if (yk_cpu_fp32_needs_conversion(type)) {
        yk_cpu_convert_array_from_fp32(type, buffer, count, to, first);
    }
}

/* to[first + i] += scale · x[i], computed in fp32 and rounded once. `count` must be at most
 * YK_CPU_FP32_BUFFER_SIZE. */
static inline void yk_cpu_fp32_add_scaled(enum yk_precision type, float scale, const float *x,
                                          int64_t count, void *to, int64_t first)
{
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    float *sum = yk_cpu_fp32_buffer_for_update(type, to, first, count, scratch);
    for (int64_t i = 0; i < count; i++) {
        sum[i] += scale * x[i];
    }
    yk_cpu_fp32_buffer_store_back(type, sum, count, to, first);
}

#endif
