/*
 * Instruction sampler: a sample is a window of T tokens with one or more instructions
 * (data/instructions.h). The target of a token is the next token if that is part of the loss. A
 * window contains one instruction or, if packed, as many whole ones as first-fit decreasing packs
 * into it; the packing is the same in every epoch. In a packed window positions continue across
 * instructions, and tokens attend to the instructions before their own. The rest is padding.
 *
 * In training, each window occurs exactly once per epoch, in an order that seed and epoch
 * determine. In evaluation (sequential), windows occur in data order.
 */
#ifndef YK_DATA_INSTRUCTION_SAMPLER_H
#define YK_DATA_INSTRUCTION_SAMPLER_H

#include "data/instructions.h"
#include "data/sampler.h"

#include <stdbool.h>

/* Fails if an instruction is longer than T. The instructions must outlive the sampler. */
yk_status yk_instruction_sampler_create(const struct yk_instructions *instructions,
                                        const struct yk_sampler_options *options,
                                        struct yk_sampler **out) YK_MUST_USE;

/*
 * Bin packing of items into windows of equal length by first-fit decreasing (Johnson, 1973), which
 * needs at most 11/9 OPT + 6/9 windows (Dósa, 2007). Items are placed from the longest to the
 * shortest, items of equal length in their order, each into the first window with enough space.
 */
struct yk_instruction_packing {
    int64_t *items;  /* (count) the items of the first window, of the second … */
    int64_t *starts; /* (windows + 1) index in `items` of the first item of each window */
    int64_t windows;
};

/* Packs `count` > 0 items of 1 to `capacity` tokens into windows of `capacity` tokens. */
yk_status yk_instruction_sampler_pack(const int64_t *lengths, int64_t count, int64_t capacity,
                                      struct yk_instruction_packing *out) YK_MUST_USE;

/* Accepts a struct that is {0}. */
void yk_instruction_sampler_packing_free(struct yk_instruction_packing *packing);

#endif
