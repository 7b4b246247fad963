#include "tokenizer/bpe_merges.h"

#include <stdlib.h>

/* Open addressing, at most half full. */
struct slot {
    uint64_t pair; /* the left id above, the right one below */
    struct yk_bpe_merge merge;
};

#define NO_PAIR UINT64_MAX /* ids are not negative */

struct yk_bpe_merges {
    struct slot *slots;
    int shift; /* 64 less the logarithm of the number of slots */
    uint64_t mask;
};

yk_status yk_bpe_merges_create(int32_t count, struct yk_bpe_merges **out)
{
    int logarithm = 4;
    while ((INT64_C(1) << logarithm) < 2 * (int64_t)count) {
        logarithm++;
    }
    struct yk_bpe_merges *merges = calloc(1, sizeof *merges);
    if (!merges) {
        return yk_fail_out_of_memory();
    }
    const size_t slots = (size_t)1 << logarithm;
    merges->slots = malloc(slots * sizeof *merges->slots);
    if (!merges->slots) {
        free(merges);
        return yk_fail_out_of_memory();
    }
    for (size_t i = 0; i < slots; i++) {
        merges->slots[i] = (struct slot){.pair = NO_PAIR};
    }
    merges->shift = 64 - logarithm;
    merges->mask = slots - 1;
    *out = merges;
    return YK_OK;
}

void yk_bpe_merges_destroy(struct yk_bpe_merges *merges)
{
    if (merges) {
        free(merges->slots);
        free(merges);
    }
}

static struct slot *seek(const struct yk_bpe_merges *merges, int32_t left, int32_t right)
{
    const uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    /* 2⁶⁴ over the golden ratio (Knuth): the upper bits depend on all lower ones. The lower half
     * holds the right id alone, so the upper one is folded in first. */
    uint64_t at = ((pair ^ pair >> 29) * UINT64_C(0x9e3779b97f4a7c15)) >> merges->shift;
    while (merges->slots[at].pair != pair && merges->slots[at].pair != NO_PAIR) {
        at = (at + 1) & merges->mask;
    }
    return &merges->slots[at];
}

void yk_bpe_merges_add(struct yk_bpe_merges *merges, int32_t left, int32_t right,
                       struct yk_bpe_merge merge)
{
    *seek(merges, left, right) =
        (struct slot){.pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right, .merge = merge};
}

const struct yk_bpe_merge *yk_bpe_merges_find(const struct yk_bpe_merges *merges, int32_t left,
                                              int32_t right)
{
    const struct slot *slot = seek(merges, left, right);
    return slot->pair == NO_PAIR ? NULL : &slot->merge;
}
