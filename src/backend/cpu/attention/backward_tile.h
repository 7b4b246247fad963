/*
 * Attention backward, one tile of keys: queries go by it in groups, and what they give to dK and dV
 * stays in scratch. With P = exp(S − sums), D = the rows' sums of dO ∘ O and dS = P ∘ (dP − D):
 *     dV = Pᵀ dO,  dP = dO Vᵀ,  dK = scale · dSᵀ Q,  dQ = scale · dS K
 * (Dao et al. 2022). Where probabilities were dropped, dV has P ∘ keep and dP has dO Vᵀ ∘ keep.
 *
 * Scratch belongs to the thread that computes, on its stack: 676 KiB.
 */
#ifndef YK_BACKEND_CPU_ATTENTION_BACKWARD_TILE_H
#define YK_BACKEND_CPU_ATTENTION_BACKWARD_TILE_H

#include "backend/cpu/attention/head.h"
#include "backend/cpu/attention/tile.h"

enum {
    YK_CPU_GROUP_QUERIES_MAX = 32,  /* queries at a time */
    YK_CPU_GROUP_NUMBERS = 1 << 13, /* numbers of them; 32 KiB */
};

/* What is to be found. */
enum {
    YK_CPU_GRADIENT_OF_KEYS = 1, /* dK and dV */
    YK_CPU_GRADIENT_OF_QUERIES = 2,
};

struct yk_cpu_backward_scratch {
    float key_rows[YK_CPU_TILE_KEY_NUMBERS];   /* (keys, size) */
    float value_rows[YK_CPU_TILE_KEY_NUMBERS]; /* (keys, size), only to be turned */
    float keys[YK_CPU_TILE_KEY_NUMBERS];       /* (keys / 8, size, 8) */
    float values[YK_CPU_TILE_KEY_NUMBERS];     /* (keys / 8, size, 8) */
    float d_keys[YK_CPU_TILE_KEY_NUMBERS];     /* (keys, size), times log2 e */
    float d_values[YK_CPU_TILE_KEY_NUMBERS];
    float d_queries[YK_CPU_TILE_KEY_NUMBERS]; /* (queries, size), for the caller */
    float query_rows[YK_CPU_GROUP_NUMBERS];   /* (queries, size), times scale · log2 e */
    float d_out_rows[YK_CPU_GROUP_NUMBERS];
    float out_rows[YK_CPU_GROUP_NUMBERS];
    float queries[YK_CPU_GROUP_NUMBERS]; /* (queries / 8, size, 8) */
    float d_out[YK_CPU_GROUP_NUMBERS];
    float d_group[YK_CPU_TILE * YK_CPU_HEAD_SIZE_MAX]; /* dQ of eight queries (8, size) */
    float powers[YK_CPU_GROUP_QUERIES_MAX * YK_CPU_TILE_KEYS_MAX];   /* P (queries, keys) */
    float d_scores[YK_CPU_GROUP_QUERIES_MAX * YK_CPU_TILE_KEYS_MAX]; /* dP, then dS */
    float d_scores_transposed[YK_CPU_TILE * YK_CPU_TILE_KEYS_MAX];   /* (keys, 8) */
    float bases[YK_CPU_GROUP_QUERIES_MAX];                           /* sums · log2 e */
    float products[YK_CPU_GROUP_QUERIES_MAX];                        /* D */
};

/* A tile of keys that queries go by. */
struct yk_cpu_key_tile {
    int64_t first;
    int64_t keys;
};

/* Brings the keys and values of the tile into scratch. */
void yk_cpu_backward_tile_load_keys(const struct yk_cpu_head *head,
                                    const struct yk_cpu_key_tile *tile,
                                    struct yk_cpu_backward_scratch *scratch);

/*
 * Queries `first` to `end` − 1 of one head, `first` a multiple of 8, go by the tile that is in
 * scratch. `find` says whether d_keys and d_values are added to, and whether the tile's part of dQ
 * is added to d_queries, whose first row, of `d_stride`, is that of query `first`.
 */
void yk_cpu_backward_tile_pass(const struct yk_cpu_head *head, const void *d_out,
                               const struct yk_cpu_key_tile *tile, int64_t first, int64_t end,
                               int find, struct yk_cpu_backward_scratch *scratch, float *d_queries,
                               int64_t d_stride);

#endif
