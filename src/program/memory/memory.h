/*
 * Memory: the one place that counts what a program holds on a rank's device, and when.
 *
 * Some bytes are held always (state that the rank keeps, context), the others for the lifetimes of
 * buffers. Since lanes run side by side and nothing here knows how fast, the peak is over every
 * moment that the waits allow: what a device holds when the program runs, however it runs, is never
 * more.
 */
#ifndef YK_PROGRAM_MEMORY_MEMORY_H
#define YK_PROGRAM_MEMORY_MEMORY_H

#include "program/memory/lifetimes.h"

struct yk_program_memory {
    double always_bytes[YK_MEMORY_KIND_COUNT];
    struct yk_lifetime *lifetimes;
    int32_t lifetime_count;
};

struct yk_memory_peak {
    double bytes;
    double by_kind[YK_MEMORY_KIND_COUNT]; /* at that moment */
    int32_t compute_op;                   /* under way or next at that moment, −1 past the last */
    int32_t comm_op;
};

yk_status yk_program_memory_count(const struct yk_program *program, int32_t rank,
                                  struct yk_arena *arena,
                                  struct yk_program_memory **out) YK_MUST_USE;

yk_status yk_program_memory_peak(const struct yk_program *program, int32_t rank,
                                 const struct yk_program_memory *memory,
                                 struct yk_memory_peak *out) YK_MUST_USE;

#endif
