/*
 * Instruction sampler: a sample is a window of T tokens with one or more instructions
 * (data/instructions.h). The target of a token is the next token, if the next token is part of the
 * loss; otherwise the token has no target. Without packing, each window contains one instruction.
 * With packing, a window contains one or more whole instructions (struct yk_instruction_packing),
 * and the packing is the same in every epoch. In a packed window, positions continue from one
 * instruction to the next, and tokens also attend to the earlier instructions of the window. The
 * end of a window is padded.
 *
 * In training, each window occurs exactly once per epoch. The seed and the epoch determine the
 * order. In evaluation (sequential), windows occur in the order of their numbers, which without
 * packing is the order of the data.
 */
#ifndef YK_DATA_INSTRUCTION_SAMPLER_H
#define YK_DATA_INSTRUCTION_SAMPLER_H

#include "data/instructions.h"
#include "data/sampler.h"

#include <stdbool.h>

/* Creates a sampler. Fails if an instruction is longer than T. The instructions must outlive the
 * sampler. */
yk_status yk_instruction_sampler_create(const struct yk_instructions *instructions,
                                        const struct yk_sampler_options *options,
                                        struct yk_sampler **out) YK_MUST_USE;

/*
 * The result of packing items into windows of equal length with the algorithm first-fit decreasing
 * (Johnson, 1973): the items are placed from the longest to the shortest, each into the first
 * window with enough space. Items of equal length keep their order. If the minimum number of
 * windows is m, the algorithm needs at most (11m + 6) / 9 windows (Dósa, 2007).
 */
struct yk_instruction_packing {
    int64_t *items;  /* (count) numbers of the items, sorted by their window */
    int64_t *starts; /* (windows + 1) index in `items` of the first item of each window */
    int64_t windows;
};

/* Packs `count` > 0 items of 1 to `capacity` tokens into windows of `capacity` tokens. */
yk_status yk_instruction_sampler_pack_windows(const int64_t *lengths, int64_t count,
                                              int64_t capacity,
                                              struct yk_instruction_packing *out) YK_MUST_USE;

/* Accepts a struct that is {0}. */
void yk_instruction_sampler_packing_free(struct yk_instruction_packing *packing);

#endif
