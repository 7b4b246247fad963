/*
 * Attention with an online softmax (Milakov and Gimelshein 2018; Dao et al. 2022). The scores of
 * eight queries are stored as (keys, 8), so that maxima and sums run down the columns. Scores are
 * scaled by log2 e, because powers of two are cheaper than powers of e. One thread processes a tile
 * of queries of one head. It needs sizeof(struct scratch), 261 KiB, of stack.
 */
#include "backend/cpu/attention/attention_head.h"
#include "backend/cpu/attention/tile.h"
#include "backend/cpu/math/convert.h"
#include "backend/cpu/math/simd.h"
#include "backend/cpu/parallel.h"

#include <math.h>
#include <stdbool.h>

enum {
    TILE = YK_CPU_TILE_SIZE
};

/* The state of eight queries between two tiles of keys. */
struct softmax {
    float highest[TILE]; /* score so far */
    float sum[TILE];     /* of 2^(score − highest) */
};

struct scratch {
    float rows[YK_CPU_TILE_ELEMENTS_MAX]; /* keys before transposition, then values (keys, size) */
    float keys[YK_CPU_TILE_ELEMENTS_MAX]; /* (keys / 8, size, 8) */
    float out[YK_CPU_TILE_ELEMENTS_MAX];  /* (queries, size), before the division by sums */
    float query_rows[TILE * YK_CPU_HEAD_SIZE_MAX];
    float queries[TILE * YK_CPU_HEAD_SIZE_MAX]; /* (size, 8) */
    float scores[YK_CPU_TILE_KEYS_MAX * TILE];  /* (keys, 8) */
    struct softmax softmax[YK_CPU_TILE_KEYS_MAX / TILE];
};

/* Sets the scores of invisible keys to −∞. */
static void mask(const struct yk_cpu_attention_head *head, int64_t t, int64_t first, int64_t keys,
                 float *scores)
{
    for (int64_t r = 0; r < TILE; r++) {
        const struct yk_cpu_attention_key_range visible =
            yk_cpu_attention_head_visible_keys(head, t + r, first, keys);
        for (int64_t s = 0; s < visible.begin; s++) {
            scores[s * TILE + r] = -INFINITY;
        }
        for (int64_t s = visible.end; s < keys; s++) {
            scores[s * TILE + r] = -INFINITY;
        }
    }
}

/* Eight queries as two registers. */
struct eight {
    yk_cpu_simd_vector low;
    yk_cpu_simd_vector high;
};

static inline struct eight load_eight(const float *from)
{
    return (struct eight){yk_cpu_simd_load(from), yk_cpu_simd_load(from + YK_CPU_SIMD_WIDTH)};
}

static inline void store_eight(float *to, struct eight value)
{
    yk_cpu_simd_store(to, value.low);
    yk_cpu_simd_store(to + YK_CPU_SIMD_WIDTH, value.high);
}

/* The highest score, or 0 if it is −∞ because no key was visible yet. */
static inline yk_cpu_simd_vector base_of(yk_cpu_simd_vector highest)
{
    return (yk_cpu_simd_vector)((yk_cpu_simd_mask)highest &
                                (yk_cpu_simd_mask)(highest != -INFINITY));
}

/* Replaces the scores (keys, 8) by powers of two. `change` receives the factor for the output so
 * far. Not inlined, so that its constants stay in registers. */
static __attribute__((noinline)) void exponentiate(struct softmax *softmax, int64_t keys,
                                                   float *scores, float change[TILE])
{
    struct eight highest = load_eight(softmax->highest);
    const struct eight before = highest;
    for (int64_t s = 0; s < keys; s++) {
        const struct eight score = load_eight(scores + s * TILE);
        highest.low = yk_cpu_simd_max(highest.low, score.low);
        highest.high = yk_cpu_simd_max(highest.high, score.high);
    }
    const struct eight base = {base_of(highest.low), base_of(highest.high)};
    struct eight sum = {yk_cpu_simd_broadcast(0), yk_cpu_simd_broadcast(0)};
    for (int64_t s = 0; s < keys; s++) {
        const struct eight score = load_eight(scores + s * TILE);
        const struct eight power = {yk_cpu_simd_exp2(score.low - base.low),
                                    yk_cpu_simd_exp2(score.high - base.high)};
        store_eight(scores + s * TILE, power);
        sum.low += power.low;
        sum.high += power.high;
    }
    const struct eight worth = {yk_cpu_simd_exp2(before.low - base.low),
                                yk_cpu_simd_exp2(before.high - base.high)};
    const struct eight total = load_eight(softmax->sum);
    store_eight(change, worth);
    store_eight(softmax->highest, highest);
    store_eight(softmax->sum, (struct eight){total.low * worth.low + sum.low,
                                             total.high * worth.high + sum.high});
}

static void apply_dropout(const struct yk_cpu_attention_head *head, int64_t t, int64_t first,
                          int64_t keys, float *scores)
{
    float buffer[YK_CPU_TILE_KEYS_MAX + 8];
    for (int64_t r = 0; r < TILE; r++) {
        const float *keep = yk_cpu_attention_head_dropout_factors(head, t + r, first, keys, buffer);
        for (int64_t s = 0; s < keys; s++) {
            scores[s * TILE + r] *= keep[s];
        }
    }
}

/* Computes the scores (keys, 8) of eight queries from t on with the given keys of the tile. */
static void score_keys(const struct yk_cpu_attention_head *head, int64_t t,
                       struct yk_cpu_attention_key_range visible, struct scratch *scratch)
{
    const int64_t size = head->size;
    const struct yk_cpu_attention_head_rows rows = {
        head->op->q, head->op->q_stride, head->op->queries, head->head * head->head_stride,
        head->op->scale * YK_CPU_LOG2_E};
    yk_cpu_attention_head_load_rows(head, &rows, t, TILE, scratch->query_rows);
    yk_cpu_attention_head_transpose_row_tiles(scratch->query_rows, TILE, size, scratch->queries);
    yk_cpu_tile_multiply(&(struct yk_cpu_tile_multiply_arguments){
        .a = scratch->keys + visible.begin * size,
        .a_stride = TILE,
        .a_step = size * TILE,
        .b = scratch->queries,
        .b_stride = TILE,
        .c = scratch->scores,
        .c_stride = TILE,
        .c_step = (int64_t)TILE * TILE,
        .depth = size,
        .count = (visible.end - visible.begin) / TILE,
    });
    if (head->softcap > 0) {
        yk_cpu_attention_head_cap_scores(head, (visible.end - visible.begin) * TILE,
                                         scratch->scores);
    }
}

/* Adds the tile of keys in scratch memory to the output (8, size) of eight queries from t on. If
 * the tile is not to be added, it is the first one and overwrites the output. */
static void run_tile(const struct yk_cpu_attention_head *head, int64_t t, int64_t first,
                     int64_t keys, bool add, struct scratch *scratch, struct softmax *softmax,
                     float *out)
{
    const int64_t size = head->size;
    const struct yk_cpu_attention_key_range visible =
        yk_cpu_attention_head_keys_visible_to_any(head, t, TILE, first, keys);
    const int64_t count = visible.end - visible.begin;
    float change[TILE];
    if (count == 0 && add) {
        return;
    }
    score_keys(head, t, visible, scratch);
    mask(head, t, first + visible.begin, count, scratch->scores);
    exponentiate(softmax, count, scratch->scores, change);
    if (head->op->dropout.rate > 0) {
        apply_dropout(head, t, first + visible.begin, count, scratch->scores);
    }
    for (int64_t r = 0; add && r < TILE; r++) {
        for (int64_t c = 0; c < size; c++) {
            out[r * size + c] *= change[r];
        }
    }
    yk_cpu_tile_multiply(&(struct yk_cpu_tile_multiply_arguments){
        .a = scratch->scores,
        .a_stride = TILE,
        .b = scratch->rows + visible.begin * size,
        .b_stride = size,
        .b_step = TILE,
        .c = out,
        .c_stride = size,
        .c_step = TILE,
        .depth = count,
        .count = size / TILE,
        .add = add,
    });
}

static void store_out(const struct yk_cpu_attention_head *head, int64_t t,
                      const struct softmax *softmax, float *out)
{
    const struct yk_attention_op *op = head->op;
    for (int64_t r = 0; r < TILE && t + r < op->queries; r++) {
        const float sum = softmax->sum[r];
        const float share = sum == 0.0F ? 0.0F : 1.0F / sum;
        float *row = out + r * head->size;
        for (int64_t c = 0; c < op->head_size; c++) {
            row[c] *= share;
        }
        yk_cpu_convert_array_from_fp32(op->type, row, op->head_size, op->out,
                                       (head->sample * op->queries + t + r) * op->out_stride +
                                           head->head * op->head_size);
        if (op->log_sum_exp) {
            op->log_sum_exp[(head->sample * op->heads + head->head) * op->queries + t + r] =
                (softmax->highest[r] + log2f(sum)) / YK_CPU_LOG2_E;
        }
    }
}

static void run_queries(const struct yk_cpu_attention_head *head, int64_t first_query,
                        int64_t queries)
{
    struct scratch scratch;
    const struct yk_attention_op *op = head->op;
    const int64_t size = head->size;
    const int64_t tile = yk_cpu_attention_head_rows_per_tile(size);
    const int64_t column = head->kv_head * head->head_stride;
    const struct yk_cpu_attention_head_rows k = {op->k, op->k_stride, op->keys, column, 1.0F};
    const struct yk_cpu_attention_head_rows v = {op->v, op->v_stride, op->keys, column, 1.0F};
    const struct yk_cpu_attention_key_range visible =
        yk_cpu_attention_head_keys_visible_to_any(head, first_query, queries, 0, op->keys);
    for (int64_t g = 0; g < queries / TILE; g++) {
        for (int r = 0; r < TILE; r++) {
            scratch.softmax[g].highest[r] = -INFINITY;
            scratch.softmax[g].sum[r] = 0;
        }
    }
    int64_t first = visible.begin;
    do {
        yk_cpu_attention_head_load_rows(head, &k, first, tile, scratch.rows);
        yk_cpu_attention_head_transpose_row_tiles(scratch.rows, tile, size, scratch.keys);
        yk_cpu_attention_head_load_rows(head, &v, first, tile, scratch.rows);
        for (int64_t g = 0; g < queries / TILE; g++) {
            run_tile(head, first_query + g * TILE, first, tile, first > visible.begin, &scratch,
                     &scratch.softmax[g], scratch.out + g * TILE * size);
        }
        first += tile;
    } while (first < visible.end);
    for (int64_t g = 0; g < queries / TILE; g++) {
        store_out(head, first_query + g * TILE, &scratch.softmax[g], scratch.out + g * TILE * size);
    }
}

void yk_cpu_attention(int threads, const void *op)
{
    const struct yk_attention_op *attention = op;
    const int64_t tile =
        yk_cpu_attention_head_rows_per_tile(yk_cpu_tile_round_up(attention->head_size));
    const int64_t tiles = yk_number_ceil_div(attention->queries, tile);
    threads = yk_cpu_parallel_choose_thread_count(
        threads, attention->batch * attention->heads * attention->queries * attention->keys *
                     attention->head_size);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < attention->batch * attention->heads * tiles; i++) {
        const struct yk_cpu_attention_head head = yk_cpu_attention_head_make(
            attention, i / tiles / attention->heads, i / tiles % attention->heads);
        const int64_t first = i % tiles * tile;
        const int64_t rest = yk_cpu_tile_round_up(attention->queries - first);
        run_queries(&head, first, rest < tile ? rest : tile);
    }
}
