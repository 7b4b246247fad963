/*
 * fp32: stored numbers as fp32. What is stored as fp32 is used in place; 16-bit formats go through
 * scratch memory of the caller, chunk by chunk, so that rows may have any width.
 */
#ifndef YK_BACKEND_CPU_MATH_FP32_H
#define YK_BACKEND_CPU_MATH_FP32_H

#include "backend/cpu/math/numbers.h"

#include <stdbool.h>

enum {
    YK_CPU_FP32_BUFFER = 4096, /* the most numbers at a time: 16 KiB as fp32 */
};

static inline bool yk_cpu_fp32_is_converted(enum yk_precision type)
{
    return type == YK_PRECISION_FP16 || type == YK_PRECISION_BF16;
}

/* Reads one row, chunk by chunk and as often as needed; the chunk read last is not converted
 * again. */
struct yk_cpu_fp32_reader {
    enum yk_precision type;
    const void *base;
    bool holds;   /* a chunk is in `scratch` */
    int64_t held; /* where it begins */
    float scratch[YK_CPU_FP32_BUFFER];
};

/* The row begins at number `first` of `base`. */
static inline void yk_cpu_fp32_reader_set(struct yk_cpu_fp32_reader *reader, enum yk_precision type,
                                          const void *base, int64_t first)
{
    reader->type = type;
    reader->base = base ? yk_cpu_numbers_at(type, base, first) : NULL;
    reader->holds = false;
    reader->held = 0;
}

/* `count` numbers of the row from `first`; chunks with one beginning have one length. */
static inline const float *yk_cpu_fp32_read(struct yk_cpu_fp32_reader *reader, int64_t first,
                                            int64_t count)
{
    if (!yk_cpu_fp32_is_converted(reader->type)) {
        return (const float *)reader->base + first;
    }
    if (!reader->holds || reader->held != first) {
        yk_cpu_numbers_load(reader->type, reader->base, first, count, reader->scratch);
        reader->holds = true;
        reader->held = first;
    }
    return reader->scratch;
}

/* Numbers from place `first` of `from`, once. */
static inline const float *yk_cpu_fp32_view(enum yk_precision type, const void *from, int64_t first,
                                            int64_t count, float *scratch)
{
    if (!yk_cpu_fp32_is_converted(type)) {
        return (const float *)from + first;
    }
    yk_cpu_numbers_load(type, from, first, count, scratch);
    return scratch;
}

/* Where to write numbers for place `first` of `to`; yk_cpu_fp32_store() then stores them. */
static inline float *yk_cpu_fp32_output(enum yk_precision type, void *to, int64_t first,
                                        float *scratch)
{
    return yk_cpu_fp32_is_converted(type) ? scratch : (float *)to + first;
}

/* The same with what is there now. */
static inline float *yk_cpu_fp32_update(enum yk_precision type, void *to, int64_t first,
                                        int64_t count, float *scratch)
{
    if (!yk_cpu_fp32_is_converted(type)) {
        return (float *)to + first;
    }
    yk_cpu_numbers_load(type, to, first, count, scratch);
    return scratch;
}

static inline void yk_cpu_fp32_store(enum yk_precision type, const float *draft, int64_t count,
                                     void *to, int64_t first)
{
    if (yk_cpu_fp32_is_converted(type)) {
        yk_cpu_numbers_store(type, draft, count, to, first);
    }
}

#endif
