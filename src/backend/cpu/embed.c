#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

#include <assert.h>

static void embed_row(const struct yk_embed *op, int64_t row)
{
    float entry_scratch[YK_CPU_CHUNK];
    float position_scratch[YK_CPU_CHUNK];
    const int64_t token = op->tokens[row];
    assert(token >= 0 && token < op->vocabulary);
    for (int64_t first = 0; first < op->width; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, op->width - first);
        const float *entry =
            yk_cpu_view(op->table_type, op->table, token * op->width + first, count, entry_scratch);
        if (op->positions) {
            const int64_t at = row % op->sequence * op->width + first;
            const float *position =
                yk_cpu_view(op->table_type, op->positions, at, count, position_scratch);
            for (int64_t i = 0; i < count; i++) {
                position_scratch[i] = entry[i] + position[i];
            }
            entry = position_scratch;
        }
        yk_cpu_store(op->out_type, entry, count, op->out, row * op->width + first);
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
