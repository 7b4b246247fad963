#include "train/batches.h"

#include <stdlib.h>

struct yk_batches {
    const struct yk_sampler *sampler;
    struct yk_engine engine;
    void *memory;
    int64_t *units; /* (pieces) of each */
    struct yk_batch batches[2];
    int next;
};

/* Numbers that a piece takes: tokens, lengths, targets, and what a decoder reads. A piece has no
 * more samples than tokens. */
static int64_t piece_numbers(const struct yk_sampler *sampler, int64_t rows)
{
    return rows * (sampler->target_sequence > 0 ? 4 : 3);
}

static void lay_out(const struct yk_batches *batches, struct yk_piece *piece, int64_t rows,
                    int32_t **numbers)
{
    piece->tokens = *numbers;
    piece->lengths = piece->tokens + rows;
    piece->targets = piece->lengths + rows;
    piece->target_tokens = batches->sampler->target_sequence > 0 ? piece->targets + rows : NULL;
    *numbers += piece_numbers(batches->sampler, rows);
}

static yk_status fill(struct yk_batches *batches, int32_t piece_count)
{
    const struct yk_engine *engine = &batches->engine;
    const struct yk_sampler *sampler = batches->sampler;
    int64_t numbers = 0;
    for (int32_t m = 0; m < piece_count; m++) {
        numbers += piece_numbers(sampler, yk_sampler_rows(sampler, batches->units[m]));
    }
    YK_TRY(engine->backend->take_host(engine->device, 2 * (size_t)numbers * sizeof(int32_t),
                                      &batches->memory));
    int32_t *free_numbers = batches->memory;
    for (int i = 0; i < 2; i++) {
        struct yk_batch *batch = &batches->batches[i];
        batch->piece_count = piece_count;
        batch->pieces = calloc((size_t)piece_count, sizeof *batch->pieces);
        if (!batch->pieces) {
            return yk_fail_out_of_memory();
        }
        for (int32_t m = 0; m < piece_count; m++) {
            lay_out(batches, &batch->pieces[m], yk_sampler_rows(sampler, batches->units[m]),
                    &free_numbers);
        }
    }
    return YK_OK;
}

yk_status yk_batches_create(const struct yk_sampler *sampler, const struct yk_engine *engine,
                            int32_t piece_count, const int64_t *samples, struct yk_batches **out)
{
    struct yk_batches *batches = calloc(1, sizeof *batches);
    int64_t *units = calloc((size_t)piece_count, sizeof *units);
    if (!batches || !units) {
        free(batches);
        free(units);
        return yk_fail_out_of_memory();
    }
    *batches = (struct yk_batches){.sampler = sampler, .engine = *engine, .units = units};
    for (int32_t m = 0; m < piece_count; m++) {
        units[m] = sampler->piece_rows > 0 ? 1 : samples[m];
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
        batches->engine.backend->give_back_host(batches->engine.device, batches->memory);
        free(batches->batches[0].pieces);
        free(batches->batches[1].pieces);
        free(batches->units);
        free(batches);
    }
}

yk_status yk_batches_take(struct yk_batches *batches, int64_t first, const struct yk_batch **out)
{
    struct yk_batch *batch = &batches->batches[batches->next];
    batch->counted = 0;
    batch->present = 0;
    batch->units = 0;
    for (int32_t m = 0; m < batch->piece_count; m++) {
        struct yk_piece *piece = &batch->pieces[m];
        YK_TRY(yk_sampler_take(batches->sampler, first + batch->units, batches->units[m], piece));
        batch->counted += piece->counted;
        batch->present += piece->present;
        batch->units += batches->units[m];
    }
    batches->next = 1 - batches->next;
    *out = batch;
    return YK_OK;
}
