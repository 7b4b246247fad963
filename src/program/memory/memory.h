/*
 * Program memory: counts the bytes that a program uses on a rank's device. All memory predictions
 * are based on this count.
 *
 * Some bytes are in use permanently: the state of the rank, buffers for blocks and tokens, and the
 * device context. The other bytes are in use during the lifetimes of buffers. The speed of the
 * lanes is not known here. So the peak is the maximum over all combinations of running ops that the
 * waits allow (memory_sweep.h). A device never uses more memory than this peak, whatever its speed.
 */
#ifndef YK_PROGRAM_MEMORY_MEMORY_H
#define YK_PROGRAM_MEMORY_MEMORY_H

#include "program/memory/buffer_lifetimes.h"

enum {
    /* Number of steps whose samples are on the device at the same time. */
    YK_PROGRAM_MEMORY_STEP_SLOTS = 4
};

struct yk_program_memory {
    double permanent_bytes[YK_MEMORY_KIND_COUNT]; /* bytes in use permanently */
    struct yk_buffer_lifetime *lifetimes;
    int32_t lifetime_count;
};

struct yk_memory_peak {
    double bytes;
    double by_kind[YK_MEMORY_KIND_COUNT];
    int32_t compute_op; /* the op of the compute lane that runs at the peak or comes next; −1 means:
                           no op is left */
    int32_t comm_op;
};

/* Returns the bytes of each image that a rank reads; 0 means: the model reads tokens, or the rank
 * does not have the embedding. */
int64_t yk_program_memory_image_bytes(const struct yk_plan *plan,
                                      const struct yk_model_config *config, int32_t rank);

/* Counts the memory of a rank. The result is in `arena`. */
yk_status yk_program_memory_count_for_rank(const struct yk_program *program, int32_t rank,
                                           struct yk_arena *arena,
                                           struct yk_program_memory **out) YK_MUST_USE;

/* Finds the peak of a rank. */
yk_status yk_program_memory_find_peak(const struct yk_program *program, int32_t rank,
                                      const struct yk_program_memory *memory,
                                      struct yk_memory_peak *out) YK_MUST_USE;

#endif
