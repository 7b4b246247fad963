#include "train/batch_prefetcher.h"

#include "base/arena.h"
#include "base/number.h"
#include "program/program_facts.h"

#include <stdlib.h>
#include <string.h>

struct yk_batch_prefetcher {
    struct yk_arena *arena;
    const struct yk_sampler *sampler;
    struct yk_device_context context;
    void *memory;
    struct yk_micro_batch_share *shares; /* (slices) */
    struct yk_rank_batch batches[YK_BATCH_PREFETCHER_DEPTH];
    int next;
};

void yk_batch_prefetcher_compute_shares(const struct yk_plan *plan, int32_t rank,
                                        struct yk_micro_batch_share *out)
{
    const bool embeds = yk_program_facts_group_member_index(plan, plan->layers[0].group, rank) >= 0;
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        struct yk_micro_batch_share *share = &out[m];
        int64_t end = 0;
        *share = (struct yk_micro_batch_share){0};
        for (int32_t g = 0; g < plan->group_count; g++) {
            for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
                int64_t first = 0;
                const int64_t count = yk_plan_member_sample_range(plan, g, i, m, &first);
                share->all = first + count > share->all ? first + count : share->all;
                if (plan->groups[g].members[i].rank == rank && count > 0) {
                    share->first = end == 0 || first < share->first ? first : share->first;
                    end = first + count > end ? first + count : end;
                }
            }
        }
        share->count = end > 0 ? end - share->first : 0;
        share->embeds = embeds;
    }
}

/* Whether a rank reads only its own samples. */
static bool reads_own(const struct yk_sampler *sampler)
{
    return sampler->all_tokens_have_targets && sampler->max_slice_tokens == 0;
}

static int64_t units_of(const struct yk_batch_prefetcher *prefetcher, int32_t slice)
{
    return prefetcher->sampler->max_slice_tokens > 0 ? 1 : prefetcher->shares[slice].all;
}

/* The tokens, of source or target, that are read for a slice. */
static int64_t rows_of(const struct yk_batch_prefetcher *prefetcher, int32_t slice)
{
    const struct yk_sampler *sampler = prefetcher->sampler;
    return reads_own(sampler) ? prefetcher->shares[slice].count * sampler->sequence
                              : yk_sampler_max_slice_tokens(sampler, prefetcher->shares[slice].all);
}

/* The int32_t numbers of a slice: tokens, lengths, targets, and the decoder's tokens. A slice never
 * has more samples than tokens. */
static int64_t slice_numbers(const struct yk_sampler *sampler, int64_t rows)
{
    return rows * (sampler->target_sequence > 0 ? 4 : 3);
}

/* Whether the rank reads the pixels of a slice, not only the labels. */
static bool reads_pixels(const struct yk_batch_prefetcher *prefetcher, int32_t slice)
{
    return prefetcher->sampler->pixel_bytes > 0 &&
           (prefetcher->shares[slice].embeds || prefetcher->sampler->labels_need_pixels);
}

/* The bytes of the images of a slice, rounded up for copies. An image is one token. */
static size_t slice_pixels(const struct yk_batch_prefetcher *prefetcher, int32_t slice)
{
    const int64_t images = reads_pixels(prefetcher, slice) ? rows_of(prefetcher, slice) : 0;
    const size_t bytes = (size_t)(images * prefetcher->sampler->pixel_bytes);
    return (bytes + YK_BACKEND_ALIGNMENT - 1) / YK_BACKEND_ALIGNMENT * YK_BACKEND_ALIGNMENT;
}

static yk_status allocate(struct yk_batch_prefetcher *prefetcher, int32_t slice_count,
                          const struct yk_micro_batch_share *shares)
{
    const struct yk_device_context *context = &prefetcher->context;
    int64_t numbers = 0;
    size_t pixel_bytes = 0;
    YK_TRY_NEW(prefetcher->arena, prefetcher->shares, slice_count);
    memcpy(prefetcher->shares, shares, (size_t)slice_count * sizeof *shares);
    for (int32_t m = 0; m < slice_count; m++) {
        numbers += slice_numbers(prefetcher->sampler, rows_of(prefetcher, m));
        pixel_bytes += slice_pixels(prefetcher, m);
    }
    YK_TRY(context->backend->allocate_host(
        context->device,
        YK_BATCH_PREFETCHER_DEPTH * (pixel_bytes + (size_t)numbers * sizeof(int32_t)) + 1,
        &prefetcher->memory));
    uint8_t *free_pixels = prefetcher->memory;
    int32_t *free_numbers =
        (int32_t *)(void *)(free_pixels + YK_BATCH_PREFETCHER_DEPTH * pixel_bytes);
    for (int i = 0; i < YK_BATCH_PREFETCHER_DEPTH; i++) {
        struct yk_rank_batch *batch = &prefetcher->batches[i];
        batch->slice_count = slice_count;
        YK_TRY_NEW(prefetcher->arena, batch->slices, slice_count);
        for (int32_t m = 0; m < slice_count; m++) {
            batch->slices[m].memory = free_numbers;
            batch->slices[m].rows = rows_of(prefetcher, m);
            free_numbers += slice_numbers(prefetcher->sampler, batch->slices[m].rows);
            batch->slices[m].pixels = reads_pixels(prefetcher, m) ? free_pixels : NULL;
            free_pixels += slice_pixels(prefetcher, m);
        }
    }
    return YK_OK;
}

yk_status yk_batch_prefetcher_create(const struct yk_sampler *sampler,
                                     const struct yk_device_context *context, int32_t slice_count,
                                     const struct yk_micro_batch_share *shares,
                                     struct yk_batch_prefetcher **out)
{
    struct yk_batch_prefetcher *prefetcher = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(prefetcher);
    prefetcher->sampler = sampler;
    prefetcher->context = *context;
    YK_TRY_OR_CLEAN_UP(allocate(prefetcher, slice_count, shares),
                       yk_batch_prefetcher_destroy(prefetcher));
    *out = prefetcher;
    return YK_OK;
}

yk_status yk_batch_prefetcher_create_for_plan(const struct yk_plan *plan, int32_t rank,
                                              const struct yk_sampler *sampler,
                                              const struct yk_device_context *context,
                                              struct yk_batch_prefetcher **out)
{
    struct yk_micro_batch_share *shares = calloc((size_t)plan->micro_batches, sizeof *shares);
    YK_TRY_ALLOCATED(shares);
    yk_batch_prefetcher_compute_shares(plan, rank, shares);
    const yk_status status =
        yk_batch_prefetcher_create(sampler, context, plan->micro_batches, shares, out);
    free(shares);
    return status;
}

void yk_batch_prefetcher_destroy(struct yk_batch_prefetcher *prefetcher)
{
    if (prefetcher) {
        prefetcher->context.backend->free_host(prefetcher->context.device, prefetcher->memory);
        yk_arena_destroy(prefetcher->arena);
    }
}

static void reset_slice(const struct yk_batch_prefetcher *prefetcher,
                        struct yk_rank_micro_batch *slice)
{
    slice->all = 0;
    slice->first = 0;
    slice->planned = 0;
    slice->own = (struct yk_sample_slice){
        .tokens = slice->memory,
        .lengths = slice->memory + slice->rows,
        .targets = slice->memory + 2 * slice->rows,
        .pixels = slice->pixels,
        .target_tokens =
            prefetcher->sampler->target_sequence > 0 ? slice->memory + 3 * slice->rows : NULL,
    };
}

/* Reduces a slice that holds the whole micro-batch to the rank's share. */
static void select_share(struct yk_rank_micro_batch *slice,
                         const struct yk_micro_batch_share *planned, int64_t pixel_bytes)
{
    struct yk_sample_slice *own = &slice->own;
    const int64_t begin = yk_rank_micro_batch_actual_sample_index(slice, planned->first);
    const int64_t end =
        yk_rank_micro_batch_actual_sample_index(slice, planned->first + planned->count);
    const int64_t target = own->target_sequence > 0 ? own->target_sequence : own->sequence;
    slice->first = begin;
    own->samples = end - begin;
    own->first_sample += begin;
    own->tokens += begin * own->sequence;
    own->lengths += begin;
    own->targets += begin * target;
    own->pixels = own->pixels ? own->pixels + begin * pixel_bytes : NULL;
    own->target_tokens = own->target_tokens ? own->target_tokens + begin * target : NULL;
}

/* Reads the rank's own samples, of which `left` remain for all ranks. The number of the other
 * ranks' targets is known. */
static yk_status read_own(struct yk_batch_prefetcher *prefetcher, int64_t first, int64_t left,
                          int32_t number, struct yk_rank_micro_batch *slice)
{
    const struct yk_micro_batch_share *planned = &prefetcher->shares[number];
    const int64_t all = yk_number_min(planned->all, left);
    const int64_t begin = yk_number_min(planned->first, all);
    const int64_t end = yk_number_min(planned->first + planned->count, all);
    slice->own.sequence = prefetcher->sampler->sequence;
    if (end > begin) {
        YK_TRY(
            yk_sampler_fetch_slice(prefetcher->sampler, first + begin, end - begin, &slice->own));
    }
    slice->all = all;
    slice->first = begin;
    slice->own.loss_targets = all * prefetcher->sampler->sequence;
    slice->own.token_count = slice->own.loss_targets;
    return YK_OK;
}

/* Reads the whole micro-batch: units from `first` on, of which `left` remain. */
static yk_status read_all(struct yk_batch_prefetcher *prefetcher, int64_t first, int64_t left,
                          int32_t number, struct yk_rank_micro_batch *slice)
{
    const struct yk_micro_batch_share *planned = &prefetcher->shares[number];
    const int64_t units = units_of(prefetcher, number);
    YK_TRY(yk_sampler_fetch_slice(prefetcher->sampler, first, units < left ? units : left,
                                  &slice->own));
    slice->all = slice->own.samples;
    slice->planned = prefetcher->sampler->max_slice_tokens > 0 ? planned->all : 0;
    select_share(slice, planned, prefetcher->sampler->pixel_bytes);
    return YK_OK;
}

yk_status yk_batch_prefetcher_read_batch(struct yk_batch_prefetcher *prefetcher, int64_t first,
                                         int64_t end, const struct yk_rank_batch **out)
{
    struct yk_rank_batch *batch = &prefetcher->batches[prefetcher->next];
    batch->loss_targets = 0;
    batch->unpadded_tokens = 0;
    batch->units = 0;
    for (int32_t m = 0; m < batch->slice_count; m++) {
        struct yk_rank_micro_batch *slice = &batch->slices[m];
        const int64_t at = first + batch->units;
        reset_slice(prefetcher, slice);
        if (at < end && reads_own(prefetcher->sampler)) {
            YK_TRY(read_own(prefetcher, at, end - at, m, slice));
        } else if (at < end) {
            YK_TRY(read_all(prefetcher, at, end - at, m, slice));
        }
        batch->loss_targets += slice->own.loss_targets;
        batch->unpadded_tokens += slice->own.token_count;
        batch->units += units_of(prefetcher, m);
    }
    prefetcher->next = (prefetcher->next + 1) % YK_BATCH_PREFETCHER_DEPTH;
    *out = batch;
    return YK_OK;
}
