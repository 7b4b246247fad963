#include "data/instruction_sampler.h"

#include "data/packing.h"
#include "data/permutation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct instruction_sampler {
    struct yk_sampler base;
    const struct yk_instructions *instructions;
    struct yk_packing packing; /* {0}: a window for each instruction */
    uint64_t seed;
    bool sequential;
};

static void destroy(struct yk_sampler *base)
{
    struct instruction_sampler *sampler = (struct instruction_sampler *)base;
    yk_packing_free(&sampler->packing);
    free(sampler);
}

static int64_t window_of(const struct instruction_sampler *sampler, int64_t number)
{
    const int64_t windows = sampler->base.epoch_units;
    if (sampler->sequential) {
        return number % windows;
    }
    const uint64_t key = yk_permutation_mix(sampler->seed, (uint64_t)(number / windows));
    return yk_permutation_at(key, windows, number % windows);
}

/* An instruction, at the beginning of what is left of a window. Its last token has no target: what
 * may follow is the first token of another, which bears no loss. */
static void write(const struct yk_instruction *instruction, int32_t *tokens, int32_t *targets)
{
    const int64_t count = instruction->count;
    memcpy(tokens, instruction->tokens, (size_t)count * sizeof *tokens);
    for (int64_t i = 0; i + 1 < count; i++) {
        targets[i] = instruction->bears[i + 1] ? instruction->tokens[i + 1] : YK_SAMPLER_NO_TARGET;
    }
    targets[count - 1] = YK_SAMPLER_NO_TARGET;
}

static yk_status fetch_sample(const struct yk_sampler *base, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *out)
{
    const struct instruction_sampler *sampler = (const struct instruction_sampler *)base;
    const int64_t T = base->sequence;
    const int64_t window = window_of(sampler, number);
    const struct yk_packing *packing = &sampler->packing;
    const int64_t first = packing->items ? packing->starts[window] : window;
    const int64_t end = packing->items ? packing->starts[window + 1] : window + 1;
    const int32_t padding = yk_instructions_padding_id(sampler->instructions);
    int64_t there = 0;
    for (int64_t i = first; i < end; i++) {
        const int64_t item = packing->items ? packing->items[i] : i;
        const struct yk_instruction instruction = yk_instructions_at(sampler->instructions, item);
        write(&instruction, tokens + there, targets + there);
        there += instruction.count;
    }
    for (int64_t i = there; i < T; i++) {
        tokens[i] = padding;
        targets[i] = YK_SAMPLER_NO_TARGET;
    }
    *out = there;
    return YK_OK;
}

static const struct yk_sampler_kind instructions_kind = {.destroy = destroy,
                                                         .fetch_sample = fetch_sample};

static yk_status pack(struct instruction_sampler *sampler)
{
    const int64_t count = yk_instructions_count(sampler->instructions);
    int64_t *lengths = calloc((size_t)count, sizeof *lengths);
    if (!lengths) {
        return yk_fail_out_of_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        lengths[i] = yk_instructions_at(sampler->instructions, i).count;
    }
    const yk_status status =
        yk_packing_compute(lengths, count, sampler->base.sequence, &sampler->packing);
    free(lengths);
    return status;
}

yk_status yk_instruction_sampler_create(const struct yk_instructions *instructions,
                                        const struct yk_instruction_sampler_options *sampling,
                                        struct yk_sampler **out)
{
    const int64_t longest = yk_instructions_totals(instructions).longest;
    if (longest > sampling->sequence) {
        return yk_fail(YK_ERROR_INPUT,
                       "a context of %" PRId64 " tokens, but the longest instruction has %" PRId64
                       "; use a longer context, or leave longer instructions out",
                       sampling->sequence, longest);
    }
    struct instruction_sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler) {
        return yk_fail_out_of_memory();
    }
    sampler->base = (struct yk_sampler){
        .kind = &instructions_kind,
        .epoch_units = yk_instructions_count(instructions),
        .sequence = sampling->sequence,
    };
    sampler->instructions = instructions;
    sampler->seed = sampling->seed;
    sampler->sequential = sampling->sequential;
    if (sampling->packed) {
        const yk_status status = pack(sampler);
        if (status != YK_OK) {
            destroy(&sampler->base);
            return status;
        }
        sampler->base.epoch_units = sampler->packing.windows;
    }
    *out = &sampler->base;
    return YK_OK;
}
