/*
 * Instruction sampler: samples are windows of T tokens that hold instructions (data/instructions.h)
 * and, for each token, the next one where that bears loss. A window holds one instruction; or,
 * packed, as many whole ones as first-fit decreasing packs into it, the same in each
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

/* Refuses instructions of which one is longer than T. They must outlive the sampler. */
yk_status yk_instruction_sampler_create(const struct yk_instructions *instructions,
                                        const struct yk_sampler_options *options,
                                        struct yk_sampler **out) YK_MUST_USE;

/*
 * Items of different lengths in few windows of one length: first-fit decreasing (Johnson, 1973),
 * which needs at most 11/9 of the fewest windows possible, and 6/9 more (Dósa, 2007). The longest
 * item comes first, items of one length in their order; each goes into the first window that has
 * space.
 */
struct yk_instruction_packing {
    int64_t *items;  /* (count) those of the first window, of the second … */
    int64_t *starts; /* (windows + 1) in `items` */
    int64_t windows;
};

/* `count` > 0 lengths from 1 to `capacity`. */
yk_status yk_instruction_sampler_pack(const int64_t *lengths, int64_t count, int64_t capacity,
                                      struct yk_instruction_packing *out) YK_MUST_USE;

/* Also of one that is {0}. */
void yk_instruction_sampler_packing_free(struct yk_instruction_packing *packing);

#endif
