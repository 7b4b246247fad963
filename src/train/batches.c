#include "train/batches.h"

#include <stdlib.h>

struct yk_batches {
    const struct yk_sampler *sampler;
    struct yk_engine engine;
    void *memory;
    struct yk_batch_share *cuts; /* (pieces) */
    struct yk_batch batches[YK_BATCHES_PREFETCH];
    int next;
};

void yk_batches_find_shares(const struct yk_plan *plan, int32_t rank, struct yk_batch_share *out)
{
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        struct yk_batch_share *cut = &out[m];
        int64_t end = 0;
        *cut = (struct yk_batch_share){0};
        for (int32_t g = 0; g < plan->group_count; g++) {
            for (int32_t i = 0; i < plan->groups[g].member_count; i++) {
                int64_t first = 0;
                const int64_t count = yk_plan_samples(plan, g, i, m, &first);
                cut->all = first + count > cut->all ? first + count : cut->all;
                if (plan->groups[g].members[i].rank == rank && count > 0) {
                    cut->first = end == 0 || first < cut->first ? first : cut->first;
                    end = first + count > end ? first + count : end;
                }
            }
        }
        cut->count = end > 0 ? end - cut->first : 0;
    }
}

/* True when a rank reads what it takes itself, and nothing else. */
static bool reads_own(const struct yk_sampler *sampler)
{
    return sampler->even && sampler->slice_rows == 0;
}

static int64_t units_of(const struct yk_batches *batches, int32_t piece)
{
    return batches->sampler->slice_rows > 0 ? 1 : batches->cuts[piece].all;
}

/* Tokens of either side that are read for a piece. */
static int64_t rows_of(const struct yk_batches *batches, int32_t piece)
{
    const struct yk_sampler *sampler = batches->sampler;
    return reads_own(sampler) ? batches->cuts[piece].count * sampler->sequence
                              : yk_sampler_rows(sampler, batches->cuts[piece].all);
}

/* Numbers that a piece takes: tokens, lengths, targets, and what a decoder reads. A piece has no
 * more samples than tokens. */
static int64_t piece_numbers(const struct yk_sampler *sampler, int64_t rows)
{
    return rows * (sampler->target_sequence > 0 ? 4 : 3);
}

static void lay_out(const struct yk_batches *batches, struct yk_batch_slice *piece, int64_t rows,
                    int32_t **numbers)
{
    piece->memory = *numbers;
    piece->rows = rows;
    *numbers += piece_numbers(batches->sampler, rows);
}

static yk_status fill(struct yk_batches *batches, int32_t piece_count)
{
    const struct yk_engine *engine = &batches->engine;
    int64_t numbers = 0;
    for (int32_t m = 0; m < piece_count; m++) {
        numbers += piece_numbers(batches->sampler, rows_of(batches, m));
    }
    YK_TRY(engine->backend->allocate_host(
        engine->device, YK_BATCHES_PREFETCH * (size_t)numbers * sizeof(int32_t) + 1,
        &batches->memory));
    int32_t *free_numbers = batches->memory;
    for (int i = 0; i < YK_BATCHES_PREFETCH; i++) {
        struct yk_batch *batch = &batches->batches[i];
        batch->piece_count = piece_count;
        batch->pieces = calloc((size_t)piece_count, sizeof *batch->pieces);
        if (!batch->pieces) {
            return yk_fail_out_of_memory();
        }
        for (int32_t m = 0; m < piece_count; m++) {
            lay_out(batches, &batch->pieces[m], rows_of(batches, m), &free_numbers);
        }
    }
    return YK_OK;
}

yk_status yk_batches_create(const struct yk_sampler *sampler, const struct yk_engine *engine,
                            int32_t piece_count, const struct yk_batch_share *cuts,
                            struct yk_batches **out)
{
    struct yk_batches *batches = calloc(1, sizeof *batches);
    struct yk_batch_share *kept = calloc((size_t)piece_count, sizeof *kept);
    if (!batches || !kept) {
        free(batches);
        free(kept);
        return yk_fail_out_of_memory();
    }
    *batches = (struct yk_batches){.sampler = sampler, .engine = *engine, .cuts = kept};
    for (int32_t m = 0; m < piece_count; m++) {
        kept[m] = cuts[m];
    }
    const yk_status status = fill(batches, piece_count);
    if (status != YK_OK) {
        yk_batches_destroy(batches);
        return status;
    }
    *out = batches;
    return YK_OK;
}

void yk_batches_destroy(struct yk_batches *batches)
{
    if (batches) {
        batches->engine.backend->free_host(batches->engine.device, batches->memory);
        for (int i = 0; i < YK_BATCHES_PREFETCH; i++) {
            free(batches->batches[i].pieces);
        }
        free(batches->cuts);
        free(batches);
    }
}

static void point(const struct yk_batches *batches, struct yk_batch_slice *piece)
{
    struct yk_slice *own = &piece->own;
    *own = (struct yk_slice){
        .tokens = piece->memory,
        .lengths = piece->memory + piece->rows,
        .targets = piece->memory + 2 * piece->rows,
        .target_tokens =
            batches->sampler->target_sequence > 0 ? piece->memory + 3 * piece->rows : NULL,
    };
}

/* The samples of `piece`, which has all of the micro-batch, from the rank's first on. */
static void cut(struct yk_batch_slice *piece, const struct yk_batch_share *planned)
{
    struct yk_slice *own = &piece->own;
    const int64_t begin = yk_batch_slice_at(piece, planned->first);
    const int64_t end = yk_batch_slice_at(piece, planned->first + planned->count);
    const int64_t target = own->target_sequence > 0 ? own->target_sequence : own->sequence;
    piece->first = begin;
    own->samples = end - begin;
    own->first_sample += begin;
    own->tokens += begin * own->sequence;
    own->lengths += begin;
    own->targets += begin * target;
    own->target_tokens = own->target_tokens ? own->target_tokens + begin * target : NULL;
}

/* Only what the rank takes itself is read; how much the others take is known. */
static yk_status take_own(struct yk_batches *batches, int64_t first, int32_t number,
                          struct yk_batch_slice *piece)
{
    const struct yk_batch_share *planned = &batches->cuts[number];
    YK_TRY(yk_sampler_fetch(batches->sampler, first + planned->first, planned->count, &piece->own));
    piece->all = planned->all;
    piece->first = planned->first;
    piece->own.counted = planned->all * batches->sampler->sequence;
    piece->own.present = piece->own.counted;
    return YK_OK;
}

/* `left` units are there from `first` on. */
static yk_status take_all(struct yk_batches *batches, int64_t first, int64_t left, int32_t number,
                          struct yk_batch_slice *piece)
{
    const struct yk_batch_share *planned = &batches->cuts[number];
    const int64_t units = units_of(batches, number);
    YK_TRY(yk_sampler_fetch(batches->sampler, first, units < left ? units : left, &piece->own));
    piece->all = piece->own.samples;
    piece->planned = batches->sampler->slice_rows > 0 ? planned->all : 0;
    cut(piece, planned);
    return YK_OK;
}

yk_status yk_batches_next(struct yk_batches *batches, int64_t first, int64_t end,
                          const struct yk_batch **out)
{
    struct yk_batch *batch = &batches->batches[batches->next];
    batch->counted = 0;
    batch->present = 0;
    batch->units = 0;
    for (int32_t m = 0; m < batch->piece_count; m++) {
        struct yk_batch_slice *piece = &batch->pieces[m];
        const int64_t at = first + batch->units;
        point(batches, piece);
        piece->all = 0;
        piece->first = 0;
        piece->planned = 0;
        if (at < end && reads_own(batches->sampler)) {
            YK_TRY(take_own(batches, at, m, piece));
        } else if (at < end) {
            YK_TRY(take_all(batches, at, end - at, m, piece));
        }
        batch->counted += piece->own.counted;
        batch->present += piece->own.present;
        batch->units += units_of(batches, m);
    }
    batches->next = (batches->next + 1) % YK_BATCHES_PREFETCH;
    *out = batch;
    return YK_OK;
}
