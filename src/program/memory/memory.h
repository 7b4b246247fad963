/*
 * Program memory: the bytes that a program holds on a rank's device. All predictions of memory use
 * this count.
 *
 * Some bytes are held permanently: the state of the rank and the device context. The others are
 * held during the lifetimes of buffers. The speed of the lanes is not known here. So the peak is
 * the maximum over all states that the waits allow. A device never holds more, whatever its speed.
 */
#ifndef YK_PROGRAM_MEMORY_MEMORY_H
#define YK_PROGRAM_MEMORY_MEMORY_H

#include "program/memory/buffer_lifetimes.h"

struct yk_program_memory {
    double permanent_bytes[YK_MEMORY_KIND_COUNT]; /* held permanently */
    struct yk_buffer_lifetime *lifetimes;
    int32_t lifetime_count;
};

struct yk_memory_peak {
    double bytes;
    double by_kind[YK_MEMORY_KIND_COUNT];
    int32_t compute_op; /* the running or next op of the lane at the peak; −1: after the last op */
    int32_t comm_op;
};

/* Counts the memory of a rank, in `arena`. */
yk_status yk_program_memory_count(const struct yk_program *program, int32_t rank,
                                  struct yk_arena *arena,
                                  struct yk_program_memory **out) YK_MUST_USE;

/* Finds the peak of a rank. */
yk_status yk_program_memory_peak(const struct yk_program *program, int32_t rank,
                                 const struct yk_program_memory *memory,
                                 struct yk_memory_peak *out) YK_MUST_USE;

#endif
