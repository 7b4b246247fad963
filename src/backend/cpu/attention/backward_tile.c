#include "backend/cpu/attention/backward_tile.h"

#include "backend/cpu/math/vector.h"

enum {
    TILE = YK_CPU_TILE
};

/* A few queries of one head. */
struct group {
    int64_t first;
    int64_t queries; /* a multiple of 8 */
};

static int64_t group_size(int64_t size)
{
    const int64_t queries = YK_CPU_GROUP_NUMBERS / size / TILE * TILE;
    return queries < YK_CPU_GROUP_QUERIES_MAX ? queries : YK_CPU_GROUP_QUERIES_MAX;
}

/* How many keys of the tile at least one of eight queries sees, in whole tiles of 8. */
static int64_t visible_to_eight(const struct yk_cpu_head *head, int64_t t,
                                const struct yk_cpu_key_tile *tile)
{
    const int64_t last = yk_cpu_head_last_query(head, t + TILE);
    return last < t ? 0
                    : yk_cpu_tile_round_up(
                          yk_cpu_head_visible_keys(head, last, tile->first, tile->keys));
}

void yk_cpu_backward_tile_load_keys(const struct yk_cpu_head *head,
                                    const struct yk_cpu_key_tile *tile,
                                    struct yk_cpu_backward_scratch *scratch)
{
    const struct yk_attention_op *op = head->op;
    const struct yk_cpu_head_rows k = {op->k, op->k_stride, op->keys, head->kv_head, 1.0F};
    const struct yk_cpu_head_rows v = {op->v, op->v_stride, op->keys, head->kv_head, 1.0F};
    yk_cpu_head_load_rows(head, &k, tile->first, tile->keys, scratch->key_rows);
    yk_cpu_head_transpose_rows(scratch->key_rows, tile->keys, head->size, scratch->keys);
    yk_cpu_head_load_rows(head, &v, tile->first, tile->keys, scratch->value_rows);
    yk_cpu_head_transpose_rows(scratch->value_rows, tile->keys, head->size, scratch->values);
}

static void load_queries(const struct yk_cpu_head *head, const void *d_out,
                         const struct group *group, struct yk_cpu_backward_scratch *scratch)
{
    const struct yk_attention_op *op = head->op;
    const int64_t size = head->size;
    const struct yk_cpu_head_rows q = {op->q, op->q_stride, op->queries, head->head,
                                       op->scale * YK_CPU_LOG2_E};
    const struct yk_cpu_head_rows d = {d_out, op->out_stride, op->queries, head->head, 1.0F};
    const struct yk_cpu_head_rows o = {op->out, op->out_stride, op->queries, head->head, 1.0F};
    const float *sums = op->sums + (head->sample * op->heads + head->head) * op->queries;
    yk_cpu_head_load_rows(head, &q, group->first, group->queries, scratch->query_rows);
    yk_cpu_head_transpose_rows(scratch->query_rows, group->queries, size, scratch->queries);
    yk_cpu_head_load_rows(head, &d, group->first, group->queries, scratch->d_out_rows);
    yk_cpu_head_transpose_rows(scratch->d_out_rows, group->queries, size, scratch->d_out);
    yk_cpu_head_load_rows(head, &o, group->first, group->queries, scratch->out_rows);
    for (int64_t r = 0; r < group->queries; r++) {
        yk_cpu_vector product = yk_cpu_vector_broadcast(0);
        for (int64_t c = 0; c < size; c += YK_CPU_VECTOR_WIDTH) {
            product += yk_cpu_vector_load(scratch->d_out_rows + r * size + c) *
                       yk_cpu_vector_load(scratch->out_rows + r * size + c);
        }
        scratch->products[r] = (product[0] + product[1]) + (product[2] + product[3]);
        scratch->bases[r] =
            group->first + r < op->queries ? sums[group->first + r] * YK_CPU_LOG2_E : 0;
    }
}

/* P and dS of one query from its scores and dP; beyond `visible` both are 0, up to `keys`. */
static __attribute__((noinline)) void differentiate(float base, float product, int64_t visible,
                                                    int64_t keys, float *powers, float *d_scores)
{
    for (int64_t s = 0; s < visible; s += YK_CPU_VECTOR_WIDTH) {
        const yk_cpu_vector power = yk_cpu_vector_exp2(yk_cpu_vector_load(powers + s) - base);
        yk_cpu_vector_store(powers + s, power);
        yk_cpu_vector_store(d_scores + s, power * (yk_cpu_vector_load(d_scores + s) - product));
    }
    for (int64_t s = visible; s < keys; s++) {
        powers[s] = 0;
        d_scores[s] = 0;
    }
}

/* D of one query as the sum of P ∘ dP over all keys, which must be in the tile. */
static float find_product(float base, int64_t visible, const float *scores, const float *d_powers)
{
    float product = 0;
    for (int64_t s = 0; s < visible; s += YK_CPU_VECTOR_WIDTH) {
        const yk_cpu_vector power = yk_cpu_vector_exp2(yk_cpu_vector_load(scores + s) - base);
        const yk_cpu_vector part = power * yk_cpu_vector_load(d_powers + s);
        for (int64_t i = 0; i < YK_CPU_VECTOR_WIDTH && s + i < visible; i++) {
            product += part[i];
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

/* P and dS of query `at` of the group from its scores and dP; `visible` by the eight it is of. */
static void differentiate_row(const struct yk_cpu_head *head, const struct yk_cpu_key_tile *tile,
                              const struct group *group, int64_t at, int64_t visible,
                              struct yk_cpu_backward_scratch *scratch)
{
    float buffer[YK_CPU_TILE_KEYS_MAX + 8];
    const float *keep = NULL;
    const int64_t t = group->first + at;
    const int64_t mine = yk_cpu_head_visible_keys(head, t, tile->first, visible);
    float *row = scratch->powers + at * YK_CPU_TILE_KEYS_MAX;
    float *d_row = scratch->d_scores + at * YK_CPU_TILE_KEYS_MAX;
    float product = scratch->products[at];
    if (head->op->dropout.rate > 0) {
        keep = yk_cpu_head_dropout_factors(head, t, tile->first, visible, buffer);
        multiply_row(d_row, keep, mine);
    }
    /* The output was rounded to 16 bits: better is cheap where all keys are here. */
    if (yk_precision_bytes(head->op->type) < (int64_t)sizeof(float) &&
        head->op->keys <= tile->keys) {
        product = find_product(scratch->bases[at], mine, row, d_row);
    }
    differentiate(scratch->bases[at], product, mine, visible, row, d_row);
    if (keep) {
        multiply_row(row, keep, mine);
    }
}

/* Eight queries of the group, from its query `at`: P and dS with the keys of the tile. */
static void score_eight(const struct yk_cpu_head *head, const struct yk_cpu_key_tile *tile,
                        const struct group *group, int64_t at, int64_t visible,
                        struct yk_cpu_backward_scratch *scratch)
{
    const int64_t size = head->size;
    float *powers = scratch->powers + at * YK_CPU_TILE_KEYS_MAX;
    float *d_scores = scratch->d_scores + at * YK_CPU_TILE_KEYS_MAX;
    struct yk_cpu_tiles product = {
        .a = scratch->queries + at * size,
        .a_stride = TILE,
        .b = scratch->keys,
        .b_stride = TILE,
        .b_step = size * TILE,
        .c = powers,
        .c_stride = YK_CPU_TILE_KEYS_MAX,
        .c_step = TILE,
        .depth = size,
        .count = visible / TILE,
    };
    yk_cpu_tiles_multiply(&product);
    product.a = scratch->d_out + at * size;
    product.b = scratch->values;
    product.c = d_scores;
    yk_cpu_tiles_multiply(&product);
    for (int64_t r = 0; r < TILE; r++) {
        differentiate_row(head, tile, group, at + r, visible, scratch);
    }
}

/* What the keys of the tile add to dQ of eight queries; to (8 rows of `stride`). */
static void find_d_queries(const struct yk_cpu_head *head, int64_t at, int64_t visible,
                           struct yk_cpu_backward_scratch *scratch, int64_t rows, float *to,
                           int64_t stride)
{
    const int64_t size = head->size;
    for (int64_t s = 0; s < visible; s += TILE) {
        yk_cpu_tile_transpose(scratch->d_scores + at * YK_CPU_TILE_KEYS_MAX + s,
                              YK_CPU_TILE_KEYS_MAX, scratch->d_scores_transposed + s * TILE, TILE);
    }
    yk_cpu_tiles_multiply(&(struct yk_cpu_tiles){
        .a = scratch->d_scores_transposed,
        .a_stride = TILE,
        .b = scratch->key_rows,
        .b_stride = size,
        .b_step = TILE,
        .c = scratch->d_group,
        .c_stride = size,
        .c_step = TILE,
        .depth = visible,
        .count = size / TILE,
    });
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < head->op->head_size; c++) {
            to[r * stride + c] += head->op->scale * scratch->d_group[r * size + c];
        }
    }
}

/* What the group adds to dK and dV. A key of the tile is seen by the last queries of the group. */
static void find_d_keys(const struct yk_cpu_head *head, const struct yk_cpu_key_tile *tile,
                        const struct group *group, struct yk_cpu_backward_scratch *scratch)
{
    const int64_t size = head->size;
    int64_t from = 0; /* the first of the group that sees the eight keys */
    for (int64_t s = 0; s < tile->keys; s += TILE) {
        while (from < group->queries && visible_to_eight(head, group->first + from, tile) <= s) {
            from += TILE;
        }
        if (from == group->queries) {
            return;
        }
        struct yk_cpu_tiles product = {
            .a = scratch->powers + from * YK_CPU_TILE_KEYS_MAX + s,
            .a_stride = YK_CPU_TILE_KEYS_MAX,
            .b = scratch->d_out_rows + from * size,
            .b_stride = size,
            .b_step = TILE,
            .c = scratch->d_values + s * size,
            .c_stride = size,
            .c_step = TILE,
            .depth = group->queries - from,
            .count = size / TILE,
            .add = true,
        };
        yk_cpu_tiles_multiply(&product);
        product.a = scratch->d_scores + from * YK_CPU_TILE_KEYS_MAX + s;
        product.b = scratch->query_rows + from * size;
        product.c = scratch->d_keys + s * size;
        yk_cpu_tiles_multiply(&product);
    }
}

void yk_cpu_backward_tile_pass(const struct yk_cpu_head *head, const void *d_out,
                               const struct yk_cpu_key_tile *tile, int64_t first, int64_t end,
                               int find, struct yk_cpu_backward_scratch *scratch, float *d_queries,
                               int64_t d_stride)
{
    const int64_t most = group_size(head->size);
    int64_t start = first;
    while (start < end && visible_to_eight(head, start, tile) == 0) {
        start += TILE;
    }
    for (int64_t t = start; t < end; t += most) {
        const int64_t rest = yk_cpu_tile_round_up(end - t);
        const struct group group = {t, rest < most ? rest : most};
        load_queries(head, d_out, &group, scratch);
        for (int64_t at = 0; at < group.queries; at += TILE) {
            const int64_t visible = visible_to_eight(head, t + at, tile);
            score_eight(head, tile, &group, at, visible, scratch);
            if (find & YK_CPU_GRADIENT_OF_QUERIES) {
                const int64_t rows = end - t - at < TILE ? end - t - at : TILE;
                find_d_queries(head, at, visible, scratch, rows,
                               d_queries + (t + at - first) * d_stride, d_stride);
            }
        }
        if (find & YK_CPU_GRADIENT_OF_KEYS) {
            find_d_keys(head, tile, &group, scratch);
        }
    }
}
