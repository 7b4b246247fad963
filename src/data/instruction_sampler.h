/*
 * Instruction sampler: samples are windows of T tokens that hold instructions (data/instructions.h)
 * and, for each token, the next one where that bears loss. A window holds one instruction; or,
 * packed, as many whole ones as first-fit decreasing (data/packing.h) puts there, the same in each
 * epoch. Positions go on through a packed window, and its tokens attend to those of the
 * instructions before them. The rest of a window is padding.
 *
 * In training each window comes exactly once an epoch, in an order that follows from seed and
 * epoch. In evaluation (sequential) windows come in their order.
 */
#ifndef YK_DATA_INSTRUCTION_SAMPLER_H
#define YK_DATA_INSTRUCTION_SAMPLER_H

#include "data/instructions.h"
#include "data/sampler.h"

#include <stdbool.h>

struct yk_instruction_sampler_options {
    int64_t sequence; /* T */
    uint64_t seed;
    bool packed;
    bool sequential;
};

/* Refuses instructions of which one is longer than T. They must outlive the sampler. */
yk_status yk_instruction_sampler_create(const struct yk_instructions *instructions,
                                        const struct yk_instruction_sampler_options *sampling,
                                        struct yk_sampler **out) YK_MUST_USE;

#endif
