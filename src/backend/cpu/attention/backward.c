/*
 * Attention backward: who computes what. All tiles of keys of one head of keys are one thread's
 * work, in order, and dQ is added up in memory. Where that cannot be (sums must not be rounded to
 * 16 bits in between) or leaves threads idle, dK and dV are found by tiles of keys and dQ in a
 * second pass by tiles of queries. Which way is taken is a matter of shape and type only.
 */
#include "backend/cpu/attention/backward_tile.h"
#include "backend/cpu/kernels/kernels.h"
#include "backend/cpu/math/numbers.h"
#include "backend/cpu/parallel.h"

#include <string.h>

enum {
    FEW_HEADS = 8 /* fewer leave threads idle */
};

/* Rows of dK or dV, times `scale`, from scratch to where they belong. */
static void store_rows(const struct yk_cpu_head *head, const struct yk_cpu_key_tile *tile,
                       float scale, float *rows, void *to, int64_t stride)
{
    const struct yk_attention_op *op = head->op;
    for (int64_t s = 0; s < tile->keys && tile->first + s < op->keys; s++) {
        float *row = rows + s * head->size;
        for (int64_t c = 0; c < op->head_size; c++) {
            row[c] *= scale;
        }
        yk_cpu_numbers_store(op->type, row, op->head_size, to,
                             (head->sample * op->keys + tile->first + s) * stride +
                                 head->kv_head * op->head_size);
    }
}

/* dK and dV of one tile of keys, and, where asked for, what it adds to dQ in memory (fp32). */
static void run_key_tile(const struct yk_attention_backward_op *op, int64_t sample, int64_t kv_head,
                         const struct yk_cpu_key_tile *tile, int find,
                         struct yk_cpu_backward_scratch *scratch)
{
    const struct yk_attention_op *forward = &op->forward;
    const int64_t heads = forward->heads / forward->kv_heads;
    struct yk_cpu_head head = yk_cpu_head(forward, sample, kv_head * heads);
    const size_t bytes = (size_t)(tile->keys * head.size) * sizeof(float);
    memset(scratch->d_keys, 0, bytes);
    memset(scratch->d_values, 0, bytes);
    if (tile->first < head.length) {
        yk_cpu_backward_tile_load_keys(&head, tile, scratch);
        for (int64_t h = 0; h < heads; h++) {
            head = yk_cpu_head(forward, sample, kv_head * heads + h);
            float *d_queries = (float *)op->dq + sample * forward->queries * op->dq_stride +
                               head.head * forward->head_size;
            yk_cpu_backward_tile_pass(&head, op->d_out, tile, 0, forward->queries, find, scratch,
                                      find & YK_CPU_GRADIENT_OF_QUERIES ? d_queries : NULL,
                                      op->dq_stride);
        }
    }
    /* The queries were scaled by log2 e as well. */
    store_rows(&head, tile, 1.0F / YK_CPU_LOG2_E, scratch->d_keys, op->dk, op->dk_stride);
    store_rows(&head, tile, 1.0F, scratch->d_values, op->dv, op->dv_stride);
}

/* dQ of some queries of one head. */
static void run_query_tile(const struct yk_attention_backward_op *op,
                           const struct yk_cpu_head *head, int64_t first, int64_t end,
                           struct yk_cpu_backward_scratch *scratch)
{
    const struct yk_attention_op *forward = &op->forward;
    const int64_t keys = yk_cpu_head_tile_rows(head->size);
    const int64_t visible = yk_cpu_head_visible_keys(head, end - 1, 0, forward->keys);
    memset(scratch->d_queries, 0, (size_t)((end - first) * head->size) * sizeof(float));
    for (int64_t s = 0; s < visible; s += keys) {
        const struct yk_cpu_key_tile tile = {s, keys};
        yk_cpu_backward_tile_load_keys(head, &tile, scratch);
        yk_cpu_backward_tile_pass(head, op->d_out, &tile, first, end, YK_CPU_GRADIENT_OF_QUERIES,
                                  scratch, scratch->d_queries, head->size);
    }
    for (int64_t t = first; t < end; t++) {
        yk_cpu_numbers_store(forward->type, scratch->d_queries + (t - first) * head->size,
                             forward->head_size, op->dq,
                             (head->sample * forward->queries + t) * op->dq_stride +
                                 head->head * forward->head_size);
    }
}

/* One head of keys with all that look at it. */
static void run_whole(const struct yk_attention_backward_op *op, int64_t sample, int64_t kv_head,
                      int64_t tile_keys)
{
    struct yk_cpu_backward_scratch scratch;
    const struct yk_attention_op *forward = &op->forward;
    const int64_t width = forward->heads / forward->kv_heads * forward->head_size;
    for (int64_t t = 0; t < forward->queries; t++) {
        memset((float *)op->dq + (sample * forward->queries + t) * op->dq_stride + kv_head * width,
               0, (size_t)width * sizeof(float));
    }
    for (int64_t s = 0; s < forward->keys; s += tile_keys) {
        const struct yk_cpu_key_tile tile = {s, tile_keys};
        run_key_tile(op, sample, kv_head, &tile,
                     YK_CPU_GRADIENT_OF_KEYS | YK_CPU_GRADIENT_OF_QUERIES, &scratch);
    }
}

static void run_keys(const struct yk_attention_backward_op *op, int64_t chunk, int64_t tile_keys)
{
    struct yk_cpu_backward_scratch scratch;
    const int64_t tiles = (op->forward.keys + tile_keys - 1) / tile_keys;
    const struct yk_cpu_key_tile tile = {chunk % tiles * tile_keys, tile_keys};
    run_key_tile(op, chunk / tiles / op->forward.kv_heads, chunk / tiles % op->forward.kv_heads,
                 &tile, YK_CPU_GRADIENT_OF_KEYS, &scratch);
}

static void run_queries(const struct yk_attention_backward_op *op, int64_t chunk,
                        int64_t tile_queries)
{
    struct yk_cpu_backward_scratch scratch;
    const struct yk_attention_op *forward = &op->forward;
    const int64_t tiles = (forward->queries + tile_queries - 1) / tile_queries;
    const struct yk_cpu_head head =
        yk_cpu_head(forward, chunk / tiles / forward->heads, chunk / tiles % forward->heads);
    const int64_t first = chunk % tiles * tile_queries;
    const int64_t end = first + tile_queries;
    run_query_tile(op, &head, first, end < forward->queries ? end : forward->queries, &scratch);
}

void yk_cpu_attention_backward(int threads, const void *op)
{
    const struct yk_attention_backward_op *back = op;
    const struct yk_attention_op *forward = &back->forward;
    const int64_t tile = yk_cpu_head_tile_rows(yk_cpu_tile_round_up(forward->head_size));
    const int64_t kv_heads = forward->batch * forward->kv_heads;
    const int64_t key_tiles = (forward->keys + tile - 1) / tile;
    const int64_t query_tiles = (forward->queries + tile - 1) / tile;
    threads = yk_cpu_parallel_threads(threads, forward->batch * forward->heads * forward->queries *
                                                   forward->keys * forward->head_size);
    (void)threads;
    if (yk_precision_bytes(forward->type) == (int64_t)sizeof(float) &&
        (kv_heads >= FEW_HEADS || key_tiles == 1)) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t i = 0; i < kv_heads; i++) {
            run_whole(back, i / forward->kv_heads, i % forward->kv_heads, tile);
        }
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < kv_heads * key_tiles; i++) {
        run_keys(back, i, tile);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < forward->batch * forward->heads * query_tiles; i++) {
        run_queries(back, i, tile);
    }
}
