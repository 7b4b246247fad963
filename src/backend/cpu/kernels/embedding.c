#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32.h"
#include "backend/cpu/parallel.h"
#include "backend/ops.h"

#include <assert.h>

/* Adds numbers of the table's type, from place `at`, to those of a row. */
static void add_to(const struct yk_embedding_op *op, const void *added, int64_t at, int64_t count,
                   float *row)
{
    float scratch[YK_CPU_FP32_BUFFER];
    const float *numbers = yk_cpu_fp32_view(op->table_type, added, at, count, scratch);
    for (int64_t i = 0; i < count; i++) {
        row[i] += numbers[i];
    }
}

static void embed_row(const struct yk_embedding_op *op, int64_t row)
{
    float entry_scratch[YK_CPU_FP32_BUFFER];
    float out_scratch[YK_CPU_FP32_BUFFER];
    const int64_t token = op->tokens[row];
    assert(token >= 0 && token < op->vocabulary);
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER) {
        const int64_t count = yk_cpu_min(YK_CPU_FP32_BUFFER, op->width - first);
        const int64_t out_at = row * op->width + first;
        const float *entry = yk_cpu_fp32_view(op->table_type, op->table, token * op->width + first,
                                              count, entry_scratch);
        float *out = yk_cpu_fp32_output(op->out_type, op->out, out_at, out_scratch);
        for (int64_t i = 0; i < count; i++) {
            out[i] = op->scale * entry[i];
        }
        if (op->positions) {
            add_to(op, op->positions, row % op->sequence * op->width + first, count, out);
        }
        if (op->shift) {
            add_to(op, op->shift, first, count, out);
        }
        yk_cpu_fp32_store(op->out_type, out, count, op->out, out_at);
    }
}

static void embed_rows(const void *work, int64_t chunk)
{
    const struct yk_embedding_op *op = work;
    const int64_t rows = yk_cpu_chunk_rows(op->width);
    const int64_t end = yk_cpu_min(op->rows, (chunk + 1) * rows);
    for (int64_t row = chunk * rows; row < end; row++) {
        embed_row(op, row);
    }
}

void yk_cpu_embedding(int threads, const void *op)
{
    const struct yk_embedding_op *embedding = op;
    const int64_t chunks = yk_cpu_chunk_count(embedding->rows, yk_cpu_chunk_rows(embedding->width));
    yk_cpu_parallel_for(threads, chunks, embed_rows, op);
}
