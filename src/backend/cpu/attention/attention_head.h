/*
 * Attention head: functions that the forward and the backward pass of attention share. They load
 * the rows of one head into fp32 scratch memory, compute the visible keys of a query, cap scores,
 * and compute dropout factors. In scratch memory, a head is padded with zeros to a multiple of 8
 * elements. Tiles of larger heads have fewer rows, so that scratch memory has a fixed size. Any
 * thread may call these functions.
 */
#ifndef YK_BACKEND_CPU_ATTENTION_ATTENTION_HEAD_H
#define YK_BACKEND_CPU_ATTENTION_ATTENTION_HEAD_H

#include "backend/ops.h"

enum {
    YK_CPU_HEAD_SIZE_MAX = 1024,
    YK_CPU_TILE_KEYS_MAX = 128,         /* maximum number of keys per tile */
    YK_CPU_TILE_ELEMENTS_MAX = 1 << 14, /* maximum number of elements per tile; 64 KiB of fp32 */
};

#define YK_CPU_LOG2_E 1.44269504088896341F

/* One head of one sample. */
struct yk_cpu_attention_head {
    const struct yk_attention_op *op;
    int64_t sample;
    int64_t head;
    int64_t kv_head;
    int64_t size;        /* padded head size */
    int64_t head_stride; /* of q, k, v and their gradients */
    int64_t length;      /* number of valid keys */
    float softcap;       /* in the unit of scaled scores: softcap · log2 e */
};

/* Keys `begin` to `end` − 1. The range is empty if both are equal; `end` is never less. */
struct yk_cpu_attention_key_range {
    int64_t begin;
    int64_t end;
};

struct yk_cpu_attention_head yk_cpu_attention_head_make(const struct yk_attention_op *op,
                                                        int64_t sample, int64_t head);

/* Returns the number of keys or queries per tile for this padded head size. It is a multiple of
 * 8. */
int64_t yk_cpu_attention_head_rows_per_tile(int64_t padded_size);

/* Returns which keys of a tile are visible to query t. The tile has `keys` keys and starts at key
 * `first`; the result is relative to `first`. The range is empty if query t does not exist. */
struct yk_cpu_attention_key_range
yk_cpu_attention_head_visible_keys(const struct yk_cpu_attention_head *head, int64_t t,
                                   int64_t first, int64_t keys);

/* Returns a range that contains the keys of a tile that are visible to any of `count` queries from
 * query t on. It begins and ends at multiples of 8. Neither its begin nor its end decreases from
 * one query to the next. At least query t must exist. */
struct yk_cpu_attention_key_range
yk_cpu_attention_head_keys_visible_to_any(const struct yk_cpu_attention_head *head, int64_t t,
                                          int64_t count, int64_t first, int64_t keys);

/* Replaces scores s, scaled by log2 e, by c · tanh(s / c) with c = head->softcap. */
void yk_cpu_attention_head_cap_scores(const struct yk_cpu_attention_head *head, int64_t count,
                                      float *scores);

/* The rows of one head in a matrix of queries, keys, values or their gradients. */
struct yk_cpu_attention_head_rows {
    const void *from;
    int64_t stride; /* number of elements from one row to the next */
    int64_t length; /* number of rows per sample */
    int64_t column; /* first element of the head in a row */
    float scale;    /* factor by which elements are multiplied when they are loaded */
};

/* Loads `count` rows, starting at row `first`, into `out` and converts them to fp32. The shape of
 * `out` is (count, head->size). If the sample ends earlier, the remaining rows of `out` are filled
 * with zeros. */
void yk_cpu_attention_head_load_rows(const struct yk_cpu_attention_head *head,
                                     const struct yk_cpu_attention_head_rows *rows, int64_t first,
                                     int64_t count, float *out);

/* Transposes each group of 8 rows: `rows` has the shape (count, size), and `out` has the shape
 * (count / 8, size, 8). `count` is a multiple of 8. */
void yk_cpu_attention_head_transpose_row_tiles(const float *rows, int64_t count, int64_t size,
                                               float *out);

/* Computes the dropout factors of query t for `count` keys, starting at key `first`. A factor is 0
 * if the element is dropped, otherwise 1 / (1 − rate). `buffer` must have space for count + 8
 * elements. Returns the address of the first factor in `buffer`. */
const float *yk_cpu_attention_head_dropout_factors(const struct yk_cpu_attention_head *head,
                                                   int64_t t, int64_t first, int64_t count,
                                                   float *buffer);

#endif
