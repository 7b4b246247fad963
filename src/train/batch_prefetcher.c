#include "train/batch_prefetcher.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct yk_batch_prefetcher {
    struct yk_arena *arena;
    const struct yk_sampler *sampler;
    struct yk_device_context engine;
    void *memory;
    struct yk_batch_share *shares; /* (slices) */
    struct yk_batch batches[YK_BATCH_PREFETCHER_DEPTH];
    int next;
};

void yk_batch_prefetcher_find_shares(const struct yk_plan *plan, int32_t rank,
                                     struct yk_batch_share *out)
{
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        struct yk_batch_share *share = &out[m];
        int64_t end = 0;
        *share = (struct yk_batch_share){0};
        for (int32_t g = 0; g < plan->group_count; g++) {
            for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
                int64_t first = 0;
                const int64_t count = yk_plan_member_samples(plan, g, i, m, &first);
                share->all = first + count > share->all ? first + count : share->all;
                if (plan->groups[g].members[i].rank == rank && count > 0) {
                    share->first = end == 0 || first < share->first ? first : share->first;
                    end = first + count > end ? first + count : end;
                }
            }
        }
        share->count = end > 0 ? end - share->first : 0;
    }
}

/* Whether a rank reads only its own samples. */
static bool reads_own(const struct yk_sampler *sampler)
{
    return sampler->all_tokens_have_targets && sampler->max_slice_tokens == 0;
}

static int64_t units_of(const struct yk_batch_prefetcher *batches, int32_t slice)
{
    return batches->sampler->max_slice_tokens > 0 ? 1 : batches->shares[slice].all;
}

/* The tokens, of source or target, that are read for a slice. */
static int64_t rows_of(const struct yk_batch_prefetcher *batches, int32_t slice)
{
    const struct yk_sampler *sampler = batches->sampler;
    return reads_own(sampler) ? batches->shares[slice].count * sampler->sequence
                              : yk_sampler_max_slice_tokens(sampler, batches->shares[slice].all);
}

/* The int32_t numbers of a slice: tokens, lengths, targets, and the decoder's tokens. A slice never
 * has more samples than tokens. */
static int64_t slice_numbers(const struct yk_sampler *sampler, int64_t rows)
{
    return rows * (sampler->target_sequence > 0 ? 4 : 3);
}

static yk_status allocate(struct yk_batch_prefetcher *batches, int32_t slice_count,
                          const struct yk_batch_share *shares)
{
    const struct yk_device_context *engine = &batches->engine;
    int64_t numbers = 0;
    YK_TRY_NEW(batches->arena, batches->shares, slice_count);
    memcpy(batches->shares, shares, (size_t)slice_count * sizeof *shares);
    for (int32_t m = 0; m < slice_count; m++) {
        numbers += slice_numbers(batches->sampler, rows_of(batches, m));
    }
    YK_TRY(engine->backend->allocate_host(
        engine->device, YK_BATCH_PREFETCHER_DEPTH * (size_t)numbers * sizeof(int32_t) + 1,
        &batches->memory));
    int32_t *free_numbers = batches->memory;
    for (int i = 0; i < YK_BATCH_PREFETCHER_DEPTH; i++) {
        struct yk_batch *batch = &batches->batches[i];
        batch->slice_count = slice_count;
        YK_TRY_NEW(batches->arena, batch->slices, slice_count);
        for (int32_t m = 0; m < slice_count; m++) {
            batch->slices[m].memory = free_numbers;
            batch->slices[m].rows = rows_of(batches, m);
            free_numbers += slice_numbers(batches->sampler, batch->slices[m].rows);
        }
    }
    return YK_OK;
}

yk_status yk_batch_prefetcher_create(const struct yk_sampler *sampler,
                                     const struct yk_device_context *engine, int32_t slice_count,
                                     const struct yk_batch_share *shares,
                                     struct yk_batch_prefetcher **out)
{
    struct yk_batch_prefetcher *batches = NULL;
    YK_TRY_NEW_WITH_ARENA(batches);
    batches->sampler = sampler;
    batches->engine = *engine;
    YK_TRY_OR(allocate(batches, slice_count, shares), yk_batch_prefetcher_destroy(batches));
    *out = batches;
    return YK_OK;
}

yk_status yk_batch_prefetcher_create_for_plan(const struct yk_plan *plan, int32_t rank,
                                              const struct yk_sampler *sampler,
                                              const struct yk_device_context *engine,
                                              struct yk_batch_prefetcher **out)
{
    struct yk_batch_share *shares = calloc((size_t)plan->micro_batches, sizeof *shares);
    YK_TRY_MEMORY(shares);
    yk_batch_prefetcher_find_shares(plan, rank, shares);
    const yk_status status =
        yk_batch_prefetcher_create(sampler, engine, plan->micro_batches, shares, out);
    free(shares);
    return status;
}

void yk_batch_prefetcher_destroy(struct yk_batch_prefetcher *batches)
{
    if (batches) {
        batches->engine.backend->free_host(batches->engine.device, batches->memory);
        yk_arena_destroy(batches->arena);
    }
}

static void reset_slice(const struct yk_batch_prefetcher *batches, struct yk_batch_slice *slice)
{
    slice->all = 0;
    slice->first = 0;
    slice->planned = 0;
    slice->own = (struct yk_sample_slice){
        .tokens = slice->memory,
        .lengths = slice->memory + slice->rows,
        .targets = slice->memory + 2 * slice->rows,
        .target_tokens =
            batches->sampler->target_sequence > 0 ? slice->memory + 3 * slice->rows : NULL,
    };
}

/* Reduces a slice that holds the whole micro-batch to the rank's share. */
static void select_share(struct yk_batch_slice *slice, const struct yk_batch_share *planned)
{
    struct yk_sample_slice *own = &slice->own;
    const int64_t begin = yk_batch_slice_sample_at(slice, planned->first);
    const int64_t end = yk_batch_slice_sample_at(slice, planned->first + planned->count);
    const int64_t target = own->target_sequence > 0 ? own->target_sequence : own->sequence;
    slice->first = begin;
    own->samples = end - begin;
    own->first_sample += begin;
    own->tokens += begin * own->sequence;
    own->lengths += begin;
    own->targets += begin * target;
    own->target_tokens = own->target_tokens ? own->target_tokens + begin * target : NULL;
}

/* Reads the rank's own samples. The number of the other ranks' targets is known. */
static yk_status read_own(struct yk_batch_prefetcher *batches, int64_t first, int32_t number,
                          struct yk_batch_slice *slice)
{
    const struct yk_batch_share *planned = &batches->shares[number];
    YK_TRY(yk_sampler_fetch_slice(batches->sampler, first + planned->first, planned->count,
                                  &slice->own));
    slice->all = planned->all;
    slice->first = planned->first;
    slice->own.loss_targets = planned->all * batches->sampler->sequence;
    slice->own.token_count = slice->own.loss_targets;
    return YK_OK;
}

/* Reads the whole micro-batch: units from `first` on, of which `left` remain. */
static yk_status read_all(struct yk_batch_prefetcher *batches, int64_t first, int64_t left,
                          int32_t number, struct yk_batch_slice *slice)
{
    const struct yk_batch_share *planned = &batches->shares[number];
    const int64_t units = units_of(batches, number);
    YK_TRY(
        yk_sampler_fetch_slice(batches->sampler, first, units < left ? units : left, &slice->own));
    slice->all = slice->own.samples;
    slice->planned = batches->sampler->max_slice_tokens > 0 ? planned->all : 0;
    select_share(slice, planned);
    return YK_OK;
}

yk_status yk_batch_prefetcher_next(struct yk_batch_prefetcher *batches, int64_t first, int64_t end,
                                   const struct yk_batch **out)
{
    struct yk_batch *batch = &batches->batches[batches->next];
    batch->loss_targets = 0;
    batch->unpadded_tokens = 0;
    batch->units = 0;
    for (int32_t m = 0; m < batch->slice_count; m++) {
        struct yk_batch_slice *slice = &batch->slices[m];
        const int64_t at = first + batch->units;
        reset_slice(batches, slice);
        if (at < end && reads_own(batches->sampler)) {
            YK_TRY(read_own(batches, at, m, slice));
        } else if (at < end) {
            YK_TRY(read_all(batches, at, end - at, m, slice));
        }
        batch->loss_targets += slice->own.loss_targets;
        batch->unpadded_tokens += slice->own.token_count;
        batch->units += units_of(batches, m);
    }
    batches->next = (batches->next + 1) % YK_BATCH_PREFETCHER_DEPTH;
    *out = batch;
    return YK_OK;
}
