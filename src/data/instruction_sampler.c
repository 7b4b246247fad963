#include "data/instruction_sampler.h"

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Intermediate data of a packing. */
struct packing_work {
    const int64_t *lengths;
    int64_t count;
    int64_t *order;   /* (count) items, longest first */
    int64_t *windows; /* (count) window of each item */
    int64_t *free;  /* (2 leaves) binary tree: leaf `leaves` + w is the free space of window w, node
                       n is the maximum of nodes 2n and 2n + 1, the root is node 1 */
    int64_t leaves; /* a power of two, at least the number of items */
};

void yk_instruction_sampler_packing_free(struct yk_instruction_packing *packing)
{
    free(packing->items);
    free(packing->starts);
    *packing = (struct yk_instruction_packing){0};
}

/* Counting sort of the items by length, longest first. */
static yk_status sort(struct packing_work *work, int64_t capacity)
{
    int64_t *next = calloc((size_t)capacity + 2, sizeof *next);
    YK_TRY_ALLOCATED(next);
    for (int64_t i = 0; i < work->count; i++) {
        assert(work->lengths[i] > 0 && work->lengths[i] <= capacity);
        next[capacity - work->lengths[i] + 1]++;
    }
    for (int64_t i = 0; i < capacity; i++) {
        next[i + 1] += next[i];
    }
    for (int64_t i = 0; i < work->count; i++) {
        work->order[next[capacity - work->lengths[i]]++] = i;
    }
    free(next);
    return YK_OK;
}

/* Places an item in the first window with enough space. Returns the window. */
static int64_t place(struct packing_work *work, int64_t length)
{
    int64_t *capacity = work->free;
    int64_t node = 1;
    while (node < work->leaves) {
        node = 2 * node + (capacity[2 * node] < length);
    }
    const int64_t window = node - work->leaves;
    capacity[node] -= length;
    for (node /= 2; node > 0; node /= 2) {
        capacity[node] = yk_number_max(capacity[2 * node], capacity[2 * node + 1]);
    }
    return window;
}

static yk_status list_windows(const struct packing_work *work, struct yk_instruction_packing *out)
{
    out->items = calloc((size_t)work->count, sizeof *out->items);
    out->starts = calloc((size_t)out->windows + 2, sizeof *out->starts);
    YK_TRY_ALLOCATED(out->items && out->starts);
    /* Shifted by one: filling in the items moves each start to its final value. */
    int64_t *next = out->starts + 1;
    for (int64_t i = 0; i < work->count; i++) {
        if (work->windows[i] + 1 < out->windows) {
            next[work->windows[i] + 1]++;
        }
    }
    for (int64_t w = 1; w < out->windows; w++) {
        next[w] += next[w - 1];
    }
    for (int64_t i = 0; i < work->count; i++) {
        const int64_t item = work->order[i];
        out->items[next[work->windows[item]]++] = item;
    }
    return YK_OK;
}

static yk_status pack(struct packing_work *work, int64_t capacity,
                      struct yk_instruction_packing *out)
{
    work->leaves = 1;
    while (work->leaves < work->count) {
        work->leaves *= 2;
    }
    work->order = calloc((size_t)work->count, sizeof *work->order);
    work->windows = calloc((size_t)work->count, sizeof *work->windows);
    work->free = calloc(2 * (size_t)work->leaves, sizeof *work->free);
    YK_TRY_ALLOCATED(work->order && work->windows && work->free);
    YK_TRY(sort(work, capacity));
    for (int64_t node = 1; node < 2 * work->leaves; node++) {
        work->free[node] = capacity;
    }
    for (int64_t i = 0; i < work->count; i++) {
        const int64_t item = work->order[i];
        const int64_t window = place(work, work->lengths[item]);
        work->windows[item] = window;
        out->windows = yk_number_max(out->windows, window + 1);
    }
    return list_windows(work, out);
}

yk_status yk_instruction_sampler_pack_windows(const int64_t *lengths, int64_t count,
                                              int64_t capacity, struct yk_instruction_packing *out)
{
    assert(count > 0);
    struct packing_work work = {.lengths = lengths, .count = count};
    struct yk_instruction_packing packing = {0};
    const yk_status status = pack(&work, capacity, &packing);
    free(work.order);
    free(work.windows);
    free(work.free);
    YK_TRY_OR_CLEAN_UP(status, yk_instruction_sampler_packing_free(&packing));
    *out = packing;
    return YK_OK;
}

struct instruction_sampler {
    struct yk_sampler base;
    const struct yk_instructions *instructions;
    struct yk_instruction_packing packing; /* {0} means: one window per instruction */
    uint64_t seed;
    bool sequential;
};

static void destroy(struct yk_sampler *base)
{
    struct instruction_sampler *sampler = (struct instruction_sampler *)base;
    yk_instruction_sampler_packing_free(&sampler->packing);
    free(sampler);
}

static int64_t window_of(const struct instruction_sampler *sampler, int64_t number)
{
    const int64_t windows = sampler->base.epoch_units;
    if (sampler->sequential) {
        return number % windows;
    }
    const uint64_t key =
        yk_sampler_hash_seed_and_number(sampler->seed, (uint64_t)(number / windows));
    return yk_sampler_permuted_index(key, windows, number % windows);
}

/* Writes an instruction into a window. Its last token has no target: the next token, if any, begins
 * another instruction and is not part of the loss. */
static void write(const struct yk_instruction *instruction, int32_t *tokens, int32_t *targets)
{
    const int64_t count = instruction->count;
    memcpy(tokens, instruction->tokens, (size_t)count * sizeof *tokens);
    for (int64_t i = 0; i + 1 < count; i++) {
        targets[i] =
            instruction->has_loss[i + 1] ? instruction->tokens[i + 1] : YK_SAMPLER_NO_TARGET;
    }
    targets[count - 1] = YK_SAMPLER_NO_TARGET;
}

static yk_status fetch_sample(const struct yk_sampler *base, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *out)
{
    const struct instruction_sampler *sampler = (const struct instruction_sampler *)base;
    const int64_t T = base->sequence;
    const int64_t window = window_of(sampler, number);
    const struct yk_instruction_packing *packing = &sampler->packing;
    const int64_t first = packing->items ? packing->starts[window] : window;
    const int64_t end = packing->items ? packing->starts[window + 1] : window + 1;
    int64_t there = 0;
    for (int64_t i = first; i < end; i++) {
        const int64_t item = packing->items ? packing->items[i] : i;
        const struct yk_instruction instruction = yk_instructions_at(sampler->instructions, item);
        write(&instruction, tokens + there, targets + there);
        there += instruction.count;
    }
    yk_number_fill_int32_array(tokens + there, T - there, sampler->instructions->padding_id);
    yk_number_fill_int32_array(targets + there, T - there, YK_SAMPLER_NO_TARGET);
    *out = there;
    return YK_OK;
}

static const struct yk_sampler_callbacks instructions_kind = {.destroy = destroy,
                                                              .fetch_sample = fetch_sample};

static yk_status pack_instructions(struct instruction_sampler *sampler)
{
    const int64_t count = sampler->instructions->count;
    int64_t *lengths = calloc((size_t)count, sizeof *lengths);
    YK_TRY_ALLOCATED(lengths);
    for (int64_t i = 0; i < count; i++) {
        lengths[i] = yk_instructions_at(sampler->instructions, i).count;
    }
    const yk_status status = yk_instruction_sampler_pack_windows(
        lengths, count, sampler->base.sequence, &sampler->packing);
    free(lengths);
    return status;
}

yk_status yk_instruction_sampler_create(const struct yk_instructions *instructions,
                                        const struct yk_sampler_options *options,
                                        struct yk_sampler **out)
{
    const int64_t longest = yk_instructions_compute_totals(instructions).longest;
    if (longest > options->sequence) {
        return yk_fail(YK_ERROR_INPUT,
                       "a context of %" PRId64 " tokens, but the longest instruction has %" PRId64
                       "; use a longer context, or leave longer instructions out",
                       options->sequence, longest);
    }
    struct instruction_sampler *sampler = calloc(1, sizeof *sampler);
    YK_TRY_ALLOCATED(sampler);
    sampler->base = (struct yk_sampler){
        .kind = &instructions_kind,
        .epoch_units = instructions->count,
        .sequence = options->sequence,
    };
    sampler->instructions = instructions;
    sampler->seed = options->seed;
    sampler->sequential = options->sequential;
    if (options->packed) {
        YK_TRY_OR_CLEAN_UP(pack_instructions(sampler), destroy(&sampler->base));
        sampler->base.epoch_units = sampler->packing.windows;
    }
    *out = &sampler->base;
    return YK_OK;
}
