#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

/* (x, y) becomes (x cos − y sin, y cos + x sin); `sign` −1 turns the other way. */
static void rotate_pairs(const float *turns, float sign, int64_t count, float *x, float *y)
{
    for (int64_t i = 0; i < count; i++) {
        const float cosine = turns[2 * i];
        const float sine = sign * turns[2 * i + 1];
        const float was = x[i];
        x[i] = was * cosine - y[i] * sine;
        y[i] = y[i] * cosine + was * sine;
    }
}

static void rotate_head(const struct yk_rotate *op, int64_t start, const float *turns)
{
    const int64_t half = op->head_size / 2;
    const float sign = op->back ? -1.0F : 1.0F;
    if (!yk_cpu_is_half(op->type)) {
        float *head = (float *)op->data + start;
        rotate_pairs(turns, sign, half, head, head + half);
        return;
    }
    float x[YK_CPU_CHUNK];
    float y[YK_CPU_CHUNK];
    for (int64_t first = 0; first < half; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, half - first);
        yk_cpu_load(op->type, op->data, start + first, count, x);
        yk_cpu_load(op->type, op->data, start + half + first, count, y);
        rotate_pairs(turns + 2 * first, sign, count, x, y);
        yk_cpu_store(op->type, x, count, op->data, start + first);
        yk_cpu_store(op->type, y, count, op->data, start + half + first);
    }
}

static void rotate_rows(const void *work, int64_t piece)
{
    const struct yk_rotate *op = work;
    const int64_t rows = yk_cpu_piece_rows(op->heads * op->head_size);
    const int64_t end = yk_cpu_least(op->rows, (piece + 1) * rows);
    for (int64_t row = piece * rows; row < end; row++) {
        /* (sequence, head_size / 2, 2) */
        const float *turns = op->turns + row % op->sequence * (op->head_size / 2 * 2);
        for (int64_t head = 0; head < op->heads; head++) {
            rotate_head(op, row * op->stride + head * op->head_size, turns);
        }
    }
}

void yk_cpu_rotate(int threads, const void *op)
{
    const struct yk_rotate *rotate = op;
    const int64_t rows = yk_cpu_piece_rows(rotate->heads * rotate->head_size);
    yk_cpu_share(threads, yk_cpu_pieces(rotate->rows, rows), rotate_rows, op);
}
