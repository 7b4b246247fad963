#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

static void cast_piece(const void *work, int64_t piece)
{
    const struct yk_cast *op = work;
    const int64_t end = yk_cpu_least(op->count, (piece + 1) * YK_CPU_PIECE);
    float scratch[YK_CPU_CHUNK];
    for (int64_t first = piece * YK_CPU_PIECE; first < end; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, end - first);
        if (yk_cpu_is_half(op->to_type)) {
            const float *from = yk_cpu_view(op->from_type, op->from, first, count, scratch);
            yk_cpu_store(op->to_type, from, count, op->to, first);
        } else {
            yk_cpu_load(op->from_type, op->from, first, count, (float *)op->to + first);
        }
    }
}

void yk_cpu_cast(int threads, const void *op)
{
    const struct yk_cast *cast = op;
    yk_cpu_share(threads, yk_cpu_pieces(cast->count, YK_CPU_PIECE), cast_piece, op);
}

static void add_piece(const void *work, int64_t piece)
{
    const struct yk_add *op = work;
    const int64_t end = yk_cpu_least(op->count, (piece + 1) * YK_CPU_PIECE);
    float from_scratch[YK_CPU_CHUNK];
    float to_scratch[YK_CPU_CHUNK];
    for (int64_t first = piece * YK_CPU_PIECE; first < end; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, end - first);
        const float *from = yk_cpu_view(op->type, op->from, first, count, from_scratch);
        float *to = yk_cpu_edit(op->type, op->to, first, count, to_scratch);
        for (int64_t i = 0; i < count; i++) {
            to[i] += from[i];
        }
        yk_cpu_keep(op->type, to, count, op->to, first);
    }
}

void yk_cpu_add(int threads, const void *op)
{
    const struct yk_add *add = op;
    yk_cpu_share(threads, yk_cpu_pieces(add->count, YK_CPU_PIECE), add_piece, op);
}
