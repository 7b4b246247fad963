/*
 * Chunks: stretches of stored numbers as fp32. What is stored as fp32 is used where it lies; the
 * 16-bit formats go through scratch memory of the caller, so that rows of any width do with little.
 */
#ifndef YK_BACKEND_CPU_CHUNK_H
#define YK_BACKEND_CPU_CHUNK_H

#include "backend/cpu/numbers.h"

#include <stdbool.h>

enum {
    YK_CPU_CHUNK = 4096, /* the most numbers at a time: 16 KiB as fp32 */
};

static inline bool yk_cpu_is_half(enum yk_precision type)
{
    return type == YK_PRECISION_FP16 || type == YK_PRECISION_BF16;
}

/* Reads one row, chunk by chunk and as often as needed; the chunk read last is not converted
 * again. */
struct yk_cpu_reader {
    enum yk_precision type;
    const void *base;
    bool holds;   /* a chunk is in `scratch` */
    int64_t held; /* where it begins */
    float scratch[YK_CPU_CHUNK];
};

/* The row begins at number `first` of `base`. */
static inline void yk_cpu_reader_set(struct yk_cpu_reader *reader, enum yk_precision type,
                                     const void *base, int64_t first)
{
    reader->type = type;
    reader->base = base ? yk_cpu_at(type, base, first) : NULL;
    reader->holds = false;
    reader->held = 0;
}

/* `count` numbers of the row from `first`; chunks with one beginning have one length. */
static inline const float *yk_cpu_read(struct yk_cpu_reader *reader, int64_t first, int64_t count)
{
    if (!yk_cpu_is_half(reader->type)) {
        return (const float *)reader->base + first;
    }
    if (!reader->holds || reader->held != first) {
        yk_cpu_load(reader->type, reader->base, first, count, reader->scratch);
        reader->holds = true;
        reader->held = first;
    }
    return reader->scratch;
}

/* Numbers from place `first` of `from`, once. */
static inline const float *yk_cpu_view(enum yk_precision type, const void *from, int64_t first,
                                       int64_t count, float *scratch)
{
    if (!yk_cpu_is_half(type)) {
        return (const float *)from + first;
    }
    yk_cpu_load(type, from, first, count, scratch);
    return scratch;
}

/* Where to write what shall be stored at place `first` of `to`; then yk_cpu_keep() stores it. */
static inline float *yk_cpu_draft(enum yk_precision type, void *to, int64_t first, float *scratch)
{
    return yk_cpu_is_half(type) ? scratch : (float *)to + first;
}

/* The same with what is there now. */
static inline float *yk_cpu_edit(enum yk_precision type, void *to, int64_t first, int64_t count,
                                 float *scratch)
{
    if (!yk_cpu_is_half(type)) {
        return (float *)to + first;
    }
    yk_cpu_load(type, to, first, count, scratch);
    return scratch;
}

static inline void yk_cpu_keep(enum yk_precision type, const float *draft, int64_t count, void *to,
                               int64_t first)
{
    if (yk_cpu_is_half(type)) {
        yk_cpu_store(type, draft, count, to, first);
    }
}

#endif
