/*
 * Attention backward. With P = exp(S − sums), D = the row sums of dO ∘ O and dS = P ∘ (dP − D):
 *     dV = Pᵀ dO,  dP = dO Vᵀ,  dK = scale · dSᵀ Q,  dQ = scale · dS K
 * (Dao et al. 2022). With dropout factors `keep`, dV uses P ∘ keep and dP is dO Vᵀ ∘ keep. With a
 * cap c of the scores S, dS is also multiplied by 1 − tanh² = 1 − (S / c)².
 *
 * With fp32 and enough heads, one thread processes all tiles of keys of a head, in order, and
 * accumulates dQ in memory. Otherwise there are two passes: dK and dV by tiles of keys, then dQ by
 * tiles of queries. (16-bit types need two passes, because partial sums must not be rounded.) The
 * choice depends only on shape and type. A thread needs 676 KiB of stack for scratch memory.
 */
#include "backend/cpu/attention/attention_head.h"
#include "backend/cpu/attention/tile.h"
#include "backend/cpu/math/convert.h"
#include "backend/cpu/math/simd.h"
#include "backend/cpu/parallel.h"

#include <stdbool.h>
#include <string.h>

/* ---- one tile of keys ---- */

enum {
    GROUP_QUERIES_MAX = 32,  /* queries per group */
    GROUP_NUMBERS = 1 << 13, /* elements per group; 32 KiB */
};

/* Flags: the gradients to compute. */
enum {
    GRADIENT_OF_KEYS = 1, /* dK and dV */
    GRADIENT_OF_QUERIES = 2,
};

struct scratch {
    float key_rows[YK_CPU_TILE_ELEMENTS_MAX];   /* (keys, size) */
    float value_rows[YK_CPU_TILE_ELEMENTS_MAX]; /* (keys, size), before transposition */
    float keys[YK_CPU_TILE_ELEMENTS_MAX];       /* (keys / 8, size, 8) */
    float values[YK_CPU_TILE_ELEMENTS_MAX];     /* (keys / 8, size, 8) */
    float d_keys[YK_CPU_TILE_ELEMENTS_MAX];     /* (keys, size), times log2 e */
    float d_values[YK_CPU_TILE_ELEMENTS_MAX];
    float d_queries[YK_CPU_TILE_ELEMENTS_MAX]; /* (queries, size), used by run_query_tile() */
    float query_rows[GROUP_NUMBERS];           /* (queries, size), times scale · log2 e */
    float d_out_rows[GROUP_NUMBERS];
    float out_rows[GROUP_NUMBERS];
    float queries[GROUP_NUMBERS]; /* (queries / 8, size, 8) */
    float d_out[GROUP_NUMBERS];
    float d_group[YK_CPU_TILE_SIZE * YK_CPU_HEAD_SIZE_MAX];   /* dQ of eight queries (8, size) */
    float powers[GROUP_QUERIES_MAX * YK_CPU_TILE_KEYS_MAX];   /* P (queries, keys) */
    float d_scores[GROUP_QUERIES_MAX * YK_CPU_TILE_KEYS_MAX]; /* dP, then dS */
    float d_scores_transposed[YK_CPU_TILE_SIZE * YK_CPU_TILE_KEYS_MAX]; /* (keys, 8) */
    float bases[GROUP_QUERIES_MAX];                                     /* sums · log2 e */
    float products[GROUP_QUERIES_MAX];                                  /* D */
};

struct key_tile {
    int64_t first;
    int64_t keys;
};

enum {
    TILE = YK_CPU_TILE_SIZE
};

struct group {
    int64_t first;
    int64_t queries; /* a multiple of 8 */
};

static int64_t group_size(int64_t size)
{
    const int64_t queries = GROUP_NUMBERS / size / TILE * TILE;
    return queries < GROUP_QUERIES_MAX ? queries : GROUP_QUERIES_MAX;
}

/* A range of keys of the tile that contains all that are visible to any of eight queries. */
static struct yk_cpu_attention_key_range visible_to_eight(const struct yk_cpu_attention_head *head,
                                                          int64_t t, const struct key_tile *tile)
{
    return yk_cpu_attention_head_keys_visible_to_any(head, t, TILE, tile->first, tile->keys);
}

static bool is_empty(struct yk_cpu_attention_key_range range)
{
    return range.begin == range.end;
}

static void load_keys(const struct yk_cpu_attention_head *head, const struct key_tile *tile,
                      struct scratch *scratch)
{
    const struct yk_attention_op *op = head->op;
    const int64_t column = head->kv_head * head->head_stride;
    const struct yk_cpu_attention_head_rows k = {op->k, op->k_stride, op->keys, column, 1.0F};
    const struct yk_cpu_attention_head_rows v = {op->v, op->v_stride, op->keys, column, 1.0F};
    yk_cpu_attention_head_load_rows(head, &k, tile->first, tile->keys, scratch->key_rows);
    yk_cpu_attention_head_transpose_row_tiles(scratch->key_rows, tile->keys, head->size,
                                              scratch->keys);
    yk_cpu_attention_head_load_rows(head, &v, tile->first, tile->keys, scratch->value_rows);
    yk_cpu_attention_head_transpose_row_tiles(scratch->value_rows, tile->keys, head->size,
                                              scratch->values);
}

static void load_queries(const struct yk_cpu_attention_head *head, const void *d_out,
                         const struct group *group, struct scratch *scratch)
{
    const struct yk_attention_op *op = head->op;
    const int64_t size = head->size;
    const int64_t q_column = head->head * head->head_stride;
    const int64_t out_column = head->head * op->head_size;
    const struct yk_cpu_attention_head_rows q = {op->q, op->q_stride, op->queries, q_column,
                                                 op->scale * YK_CPU_LOG2_E};
    const struct yk_cpu_attention_head_rows d = {d_out, op->out_stride, op->queries, out_column,
                                                 1.0F};
    const struct yk_cpu_attention_head_rows o = {op->out, op->out_stride, op->queries, out_column,
                                                 1.0F};
    const float *sums = op->log_sum_exp + (head->sample * op->heads + head->head) * op->queries;
    yk_cpu_attention_head_load_rows(head, &q, group->first, group->queries, scratch->query_rows);
    yk_cpu_attention_head_transpose_row_tiles(scratch->query_rows, group->queries, size,
                                              scratch->queries);
    yk_cpu_attention_head_load_rows(head, &d, group->first, group->queries, scratch->d_out_rows);
    yk_cpu_attention_head_transpose_row_tiles(scratch->d_out_rows, group->queries, size,
                                              scratch->d_out);
    yk_cpu_attention_head_load_rows(head, &o, group->first, group->queries, scratch->out_rows);
    for (int64_t r = 0; r < group->queries; r++) {
        yk_cpu_simd_vector product = yk_cpu_simd_broadcast(0);
        for (int64_t c = 0; c < size; c += YK_CPU_SIMD_WIDTH) {
            product += yk_cpu_simd_load(scratch->d_out_rows + r * size + c) *
                       yk_cpu_simd_load(scratch->out_rows + r * size + c);
        }
        scratch->products[r] = (product[0] + product[1]) + (product[2] + product[3]);
        scratch->bases[r] =
            group->first + r < op->queries ? sums[group->first + r] * YK_CPU_LOG2_E : 0;
    }
}

/* Computes P and dS of one query from its scores and dP, for the keys of the range `keys`. Both are
 * 0 for keys that are not in the range `visible`. */
static __attribute__((noinline)) void differentiate(float base, float product,
                                                    struct yk_cpu_attention_key_range visible,
                                                    struct yk_cpu_attention_key_range keys,
                                                    float *powers, float *d_scores)
{
    const int64_t begin = visible.begin - visible.begin % YK_CPU_SIMD_WIDTH;
    for (int64_t s = begin; s < visible.end; s += YK_CPU_SIMD_WIDTH) {
        const yk_cpu_simd_vector power = yk_cpu_simd_exp2(yk_cpu_simd_load(powers + s) - base);
        yk_cpu_simd_store(powers + s, power);
        yk_cpu_simd_store(d_scores + s, power * (yk_cpu_simd_load(d_scores + s) - product));
    }
    for (int64_t s = keys.begin; s < visible.begin; s++) {
        powers[s] = 0;
        d_scores[s] = 0;
    }
    for (int64_t s = visible.end; s < keys.end; s++) {
        powers[s] = 0;
        d_scores[s] = 0;
    }
}

/* D of one query as the sum of P ∘ dP. All keys must be in the tile. */
static float find_product(float base, struct yk_cpu_attention_key_range visible,
                          const float *scores, const float *d_powers)
{
    float product = 0;
    const int64_t begin = visible.begin - visible.begin % YK_CPU_SIMD_WIDTH;
    for (int64_t s = begin; s < visible.end; s += YK_CPU_SIMD_WIDTH) {
        const yk_cpu_simd_vector power = yk_cpu_simd_exp2(yk_cpu_simd_load(scores + s) - base);
        const yk_cpu_simd_vector part = power * yk_cpu_simd_load(d_powers + s);
        for (int64_t i = 0; i < YK_CPU_SIMD_WIDTH && s + i < visible.end; i++) {
            product += s + i < visible.begin ? 0.0F : part[i];
        }
    }
    return product;
}

static void multiply_row(float *row, const float *factors, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        row[i] *= factors[i];
    }
}

/* Caps scores and stores what the cap multiplies their gradients by in `slopes`. */
static void cap_scores(const struct yk_cpu_attention_head *head, int64_t count, float *scores,
                       float *slopes)
{
    const float inverse = 1.0F / head->softcap;
    yk_cpu_attention_head_cap_scores(head, count, scores);
    for (int64_t i = 0; i < count; i++) {
        const float tangent = scores[i] * inverse;
        slopes[i] = 1.0F - tangent * tangent;
    }
}

/* P and dS of query `at` of the group. `keys` is visible_to_eight() of its eight queries. */
static void differentiate_row(const struct yk_cpu_attention_head *head, const struct key_tile *tile,
                              const struct group *group, int64_t at,
                              struct yk_cpu_attention_key_range keys, struct scratch *scratch)
{
    float buffer[YK_CPU_TILE_KEYS_MAX + 8];
    float slopes[YK_CPU_TILE_KEYS_MAX];
    const float *keep = NULL;
    const int64_t t = group->first + at;
    const struct yk_cpu_attention_key_range mine =
        yk_cpu_attention_head_visible_keys(head, t, tile->first, keys.end);
    const int64_t count = mine.end - mine.begin;
    float *row = scratch->powers + at * YK_CPU_TILE_KEYS_MAX;
    float *d_row = scratch->d_scores + at * YK_CPU_TILE_KEYS_MAX;
    float product = scratch->products[at];
    if (head->softcap > 0) {
        cap_scores(head, count, row + mine.begin, slopes);
    }
    if (head->op->dropout.rate > 0) {
        keep =
            yk_cpu_attention_head_dropout_factors(head, t, tile->first + mine.begin, count, buffer);
        multiply_row(d_row + mine.begin, keep, count);
    }
    /* A 16-bit output was rounded. If all keys are in the tile, D is computed more exactly. */
    if (yk_precision_bytes(head->op->type) < (int64_t)sizeof(float) &&
        head->op->keys <= tile->keys) {
        product = find_product(scratch->bases[at], mine, row, d_row);
    }
    differentiate(scratch->bases[at], product, mine, keys, row, d_row);
    if (head->softcap > 0) {
        multiply_row(d_row + mine.begin, slopes, count);
    }
    if (keep) {
        multiply_row(row + mine.begin, keep, count);
    }
}

/* P and dS of eight queries of the group, from query `at` on, with the keys of the tile. */
static void score_eight(const struct yk_cpu_attention_head *head, const struct key_tile *tile,
                        const struct group *group, int64_t at,
                        struct yk_cpu_attention_key_range visible, struct scratch *scratch)
{
    const int64_t size = head->size;
    float *powers = scratch->powers + at * YK_CPU_TILE_KEYS_MAX + visible.begin;
    float *d_scores = scratch->d_scores + at * YK_CPU_TILE_KEYS_MAX + visible.begin;
    struct yk_cpu_tile_multiply_arguments product = {
        .a = scratch->queries + at * size,
        .a_stride = TILE,
        .b = scratch->keys + visible.begin * size,
        .b_stride = TILE,
        .b_step = size * TILE,
        .c = powers,
        .c_stride = YK_CPU_TILE_KEYS_MAX,
        .c_step = TILE,
        .depth = size,
        .count = (visible.end - visible.begin) / TILE,
    };
    yk_cpu_tile_multiply(&product);
    product.a = scratch->d_out + at * size;
    product.b = scratch->values + visible.begin * size;
    product.c = d_scores;
    yk_cpu_tile_multiply(&product);
    for (int64_t r = 0; r < TILE; r++) {
        differentiate_row(head, tile, group, at + r, visible, scratch);
    }
}

/* Adds the part of the tile to dQ of eight queries: `to` has `rows` rows, `stride` apart. */
static void find_d_queries(const struct yk_cpu_attention_head *head, int64_t at,
                           struct yk_cpu_attention_key_range visible, struct scratch *scratch,
                           int64_t rows, float *to, int64_t stride)
{
    const int64_t size = head->size;
    for (int64_t s = visible.begin; s < visible.end; s += TILE) {
        yk_cpu_tile_transpose(scratch->d_scores + at * YK_CPU_TILE_KEYS_MAX + s,
                              YK_CPU_TILE_KEYS_MAX, scratch->d_scores_transposed + s * TILE, TILE);
    }
    yk_cpu_tile_multiply(&(struct yk_cpu_tile_multiply_arguments){
        .a = scratch->d_scores_transposed + visible.begin * TILE,
        .a_stride = TILE,
        .b = scratch->key_rows + visible.begin * size,
        .b_stride = size,
        .b_step = TILE,
        .c = scratch->d_group,
        .c_stride = size,
        .c_step = TILE,
        .depth = visible.end - visible.begin,
        .count = size / TILE,
    });
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < head->op->head_size; c++) {
            to[r * stride + c] += head->op->scale * scratch->d_group[r * size + c];
        }
    }
}

/* Adds the part of the group to dK and dV. visible[i] is visible_to_eight() of queries 8 · i to
 * 8 · i + 7 of the group. Consecutive queries see a key, because ranges only move forwards. */
static void find_d_keys(const struct yk_cpu_attention_head *head, const struct key_tile *tile,
                        const struct group *group, const struct yk_cpu_attention_key_range *visible,
                        struct scratch *scratch)
{
    const int64_t size = head->size;
    int64_t from = 0; /* queries `from` to `to` − 1 of the group see the eight keys */
    int64_t to = 0;
    for (int64_t s = 0; s < tile->keys; s += TILE) {
        while (from < group->queries && visible[from / TILE].end <= s) {
            from += TILE;
        }
        while (to < group->queries && visible[to / TILE].begin <= s) {
            to += TILE;
        }
        if (from == group->queries) {
            return;
        }
        if (to <= from) {
            continue;
        }
        struct yk_cpu_tile_multiply_arguments product = {
            .a = scratch->powers + from * YK_CPU_TILE_KEYS_MAX + s,
            .a_stride = YK_CPU_TILE_KEYS_MAX,
            .b = scratch->d_out_rows + from * size,
            .b_stride = size,
            .b_step = TILE,
            .c = scratch->d_values + s * size,
            .c_stride = size,
            .c_step = TILE,
            .depth = to - from,
            .count = size / TILE,
            .add = true,
        };
        yk_cpu_tile_multiply(&product);
        product.a = scratch->d_scores + from * YK_CPU_TILE_KEYS_MAX + s;
        product.b = scratch->query_rows + from * size;
        product.c = scratch->d_keys + s * size;
        yk_cpu_tile_multiply(&product);
    }
}

/*
 * Processes queries `first` to `end` − 1 of one head with the tile of keys in scratch memory.
 * `first` is a multiple of 8. `find` says which gradients to add to: d_keys and d_values in scratch
 * memory, d_queries, or both. The first row of d_queries belongs to query `first`.
 */
static void pass_tile(const struct yk_cpu_attention_head *head, const void *d_out,
                      const struct key_tile *tile, int64_t first, int64_t end, int find,
                      struct scratch *scratch, float *d_queries, int64_t d_stride)
{
    const int64_t most = group_size(head->size);
    int64_t start = first;
    while (start < end && is_empty(visible_to_eight(head, start, tile))) {
        start += TILE;
    }
    if (head->op->window > 0) { /* otherwise all later queries see some of the keys */
        int64_t stop = start;
        while (stop < end && !is_empty(visible_to_eight(head, stop, tile))) {
            stop += TILE;
        }
        end = stop < end ? stop : end;
    }
    for (int64_t t = start; t < end; t += most) {
        const int64_t rest = yk_cpu_tile_round_up(end - t);
        const struct group group = {t, rest < most ? rest : most};
        struct yk_cpu_attention_key_range visible[GROUP_QUERIES_MAX / TILE];
        load_queries(head, d_out, &group, scratch);
        for (int64_t at = 0; at < group.queries; at += TILE) {
            const struct yk_cpu_attention_key_range keys = visible_to_eight(head, t + at, tile);
            visible[at / TILE] = keys;
            score_eight(head, tile, &group, at, keys, scratch);
            if (find & GRADIENT_OF_QUERIES) {
                const int64_t rows = end - t - at < TILE ? end - t - at : TILE;
                find_d_queries(head, at, keys, scratch, rows,
                               d_queries + (t + at - first) * d_stride, d_stride);
            }
        }
        if (find & GRADIENT_OF_KEYS) {
            find_d_keys(head, tile, &group, visible, scratch);
        }
    }
}

/* ---- which tiles ---- */

enum {
    FEW_HEADS = 8 /* with fewer heads, threads would be idle */
};

/* Writes rows of dK or dV, multiplied by `scale`. */
static void store_rows(const struct yk_cpu_attention_head *head, const struct key_tile *tile,
                       float scale, float *rows, void *to, int64_t stride)
{
    const struct yk_attention_op *op = head->op;
    for (int64_t s = 0; s < tile->keys && tile->first + s < op->keys; s++) {
        float *row = rows + s * head->size;
        for (int64_t c = 0; c < op->head_size; c++) {
            row[c] *= scale;
        }
        yk_cpu_convert_array_from_fp32(op->type, row, op->head_size, to,
                                       (head->sample * op->keys + tile->first + s) * stride +
                                           head->kv_head * head->head_stride);
    }
}

/* dK and dV of one tile of keys. With GRADIENT_OF_QUERIES, also adds its part to dQ (fp32). */
static void run_key_tile(const struct yk_attention_backward_op *op, int64_t sample, int64_t kv_head,
                         const struct key_tile *tile, int find, struct scratch *scratch)
{
    const struct yk_attention_op *forward = &op->forward;
    const int64_t heads = forward->heads / forward->kv_heads;
    struct yk_cpu_attention_head head =
        yk_cpu_attention_head_make(forward, sample, kv_head * heads);
    const size_t bytes = (size_t)(tile->keys * head.size) * sizeof(float);
    memset(scratch->d_keys, 0, bytes);
    memset(scratch->d_values, 0, bytes);
    if (tile->first < head.length) {
        load_keys(&head, tile, scratch);
        for (int64_t h = 0; h < heads; h++) {
            head = yk_cpu_attention_head_make(forward, sample, kv_head * heads + h);
            float *d_queries = (float *)op->dq + sample * forward->queries * op->dq_stride +
                               head.head * head.head_stride;
            pass_tile(&head, op->d_out, tile, 0, forward->queries, find, scratch,
                      find & GRADIENT_OF_QUERIES ? d_queries : NULL, op->dq_stride);
        }
    }
    /* d_keys contains the factor log2 e of the queries. */
    store_rows(&head, tile, 1.0F / YK_CPU_LOG2_E, scratch->d_keys, op->dk, op->dk_stride);
    store_rows(&head, tile, 1.0F, scratch->d_values, op->dv, op->dv_stride);
}

/* dQ of queries `first` to `end` − 1 of one head. */
static void run_query_tile(const struct yk_attention_backward_op *op,
                           const struct yk_cpu_attention_head *head, int64_t first, int64_t end,
                           struct scratch *scratch)
{
    const struct yk_attention_op *forward = &op->forward;
    const int64_t keys = yk_cpu_attention_head_rows_per_tile(head->size);
    const struct yk_cpu_attention_key_range visible =
        yk_cpu_attention_head_keys_visible_to_any(head, first, end - first, 0, forward->keys);
    memset(scratch->d_queries, 0, (size_t)((end - first) * head->size) * sizeof(float));
    for (int64_t s = visible.begin; s < visible.end; s += keys) {
        const struct key_tile tile = {s, keys};
        load_keys(head, &tile, scratch);
        pass_tile(head, op->d_out, &tile, first, end, GRADIENT_OF_QUERIES, scratch,
                  scratch->d_queries, head->size);
    }
    for (int64_t t = first; t < end; t++) {
        yk_cpu_convert_array_from_fp32(forward->type, scratch->d_queries + (t - first) * head->size,
                                       forward->head_size, op->dq,
                                       (head->sample * forward->queries + t) * op->dq_stride +
                                           head->head * head->head_stride);
    }
}

/* All gradients of one head of keys and values. */
static void run_whole(const struct yk_attention_backward_op *op, int64_t sample, int64_t kv_head,
                      int64_t tile_keys)
{
    struct scratch scratch;
    const struct yk_attention_op *forward = &op->forward;
    const int64_t heads = forward->heads / forward->kv_heads;
    const int64_t head_stride =
        forward->head_stride > 0 ? forward->head_stride : forward->head_size;
    for (int64_t t = 0; t < forward->queries; t++) {
        float *dq = (float *)op->dq + (sample * forward->queries + t) * op->dq_stride;
        for (int64_t h = kv_head * heads; h < (kv_head + 1) * heads; h++) {
            memset(dq + h * head_stride, 0, (size_t)forward->head_size * sizeof(float));
        }
    }
    for (int64_t s = 0; s < forward->keys; s += tile_keys) {
        const struct key_tile tile = {s, tile_keys};
        run_key_tile(op, sample, kv_head, &tile, GRADIENT_OF_KEYS | GRADIENT_OF_QUERIES, &scratch);
    }
}

static void run_keys(const struct yk_attention_backward_op *op, int64_t chunk, int64_t tile_keys)
{
    struct scratch scratch;
    const int64_t tiles = yk_number_ceil_div(op->forward.keys, tile_keys);
    const struct key_tile tile = {chunk % tiles * tile_keys, tile_keys};
    run_key_tile(op, chunk / tiles / op->forward.kv_heads, chunk / tiles % op->forward.kv_heads,
                 &tile, GRADIENT_OF_KEYS, &scratch);
}

static void run_queries(const struct yk_attention_backward_op *op, int64_t chunk,
                        int64_t tile_queries)
{
    struct scratch scratch;
    const struct yk_attention_op *forward = &op->forward;
    const int64_t tiles = yk_number_ceil_div(forward->queries, tile_queries);
    const struct yk_cpu_attention_head head = yk_cpu_attention_head_make(
        forward, chunk / tiles / forward->heads, chunk / tiles % forward->heads);
    const int64_t first = chunk % tiles * tile_queries;
    const int64_t end = first + tile_queries;
    run_query_tile(op, &head, first, end < forward->queries ? end : forward->queries, &scratch);
}

void yk_cpu_attention_backward(int threads, const void *op)
{
    const struct yk_attention_backward_op *back = op;
    const struct yk_attention_op *forward = &back->forward;
    const int64_t tile =
        yk_cpu_attention_head_rows_per_tile(yk_cpu_tile_round_up(forward->head_size));
    const int64_t kv_heads = forward->batch * forward->kv_heads;
    const int64_t key_tiles = yk_number_ceil_div(forward->keys, tile);
    const int64_t query_tiles = yk_number_ceil_div(forward->queries, tile);
    threads = yk_cpu_parallel_choose_thread_count(threads, forward->batch * forward->heads *
                                                               forward->queries * forward->keys *
                                                               forward->head_size);
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
