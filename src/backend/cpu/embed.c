#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

#include <assert.h>

/* Adds numbers of the table's type, from place `at`, to those of a row. */
static void add_to(const struct yk_embed *op, const void *added, int64_t at, int64_t count,
                   float *row)
{
    float scratch[YK_CPU_CHUNK];
    const float *numbers = yk_cpu_view(op->table_type, added, at, count, scratch);
    for (int64_t i = 0; i < count; i++) {
        row[i] += numbers[i];
    }
}

static void embed_row(const struct yk_embed *op, int64_t row)
{
    float entry_scratch[YK_CPU_CHUNK];
    float out_scratch[YK_CPU_CHUNK];
    const int64_t token = op->tokens[row];
    assert(token >= 0 && token < op->vocabulary);
    for (int64_t first = 0; first < op->width; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, op->width - first);
        const int64_t out_at = row * op->width + first;
        const float *entry =
            yk_cpu_view(op->table_type, op->table, token * op->width + first, count, entry_scratch);
        float *out = yk_cpu_draft(op->out_type, op->out, out_at, out_scratch);
        for (int64_t i = 0; i < count; i++) {
            out[i] = op->scale * entry[i];
        }
        if (op->positions) {
            add_to(op, op->positions, row % op->sequence * op->width + first, count, out);
        }
        if (op->shift) {
            add_to(op, op->shift, first, count, out);
        }
        yk_cpu_keep(op->out_type, out, count, op->out, out_at);
    }
}

static void embed_rows(const void *work, int64_t piece)
{
    const struct yk_embed *op = work;
    const int64_t rows = yk_cpu_piece_rows(op->width);
    const int64_t end = yk_cpu_least(op->rows, (piece + 1) * rows);
    for (int64_t row = piece * rows; row < end; row++) {
        embed_row(op, row);
    }
}

void yk_cpu_embed(int threads, const void *op)
{
    const struct yk_embed *embed = op;
    const int64_t pieces = yk_cpu_pieces(embed->rows, yk_cpu_piece_rows(embed->width));
    yk_cpu_share(threads, pieces, embed_rows, op);
}
