/*
 * Attention head: functions that the forward and the backward pass of attention share. They load
 * the rows of one head into fp32 scratch memory, compute the visible keys of a query, and compute
 * dropout factors. In scratch memory, a head is padded with zeros to a multiple of 8 elements.
 * Tiles of larger heads have fewer rows, so that scratch memory has a fixed size. Any thread may
 * call these functions.
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
    int64_t size;   /* padded head size */
    int64_t length; /* number of valid keys */
};

struct yk_cpu_attention_head yk_cpu_attention_head_make(const struct yk_attention_op *op,
                                                        int64_t sample, int64_t head);

/* Returns the number of keys or queries per tile for this padded head size. It is a multiple of
 * 8. */
int64_t yk_cpu_attention_head_rows_per_tile(int64_t padded_size);

/* Returns how many keys of a range are visible to query t. The range has `keys` keys and starts at
 * key `first`; its visible keys come before all others. Returns 0 if query t does not exist. */
int64_t yk_cpu_attention_head_count_visible_keys(const struct yk_cpu_attention_head *head,
                                                 int64_t t, int64_t first, int64_t keys);

/* Returns the last query before `end`: min(end, number of queries) − 1. */
int64_t yk_cpu_attention_head_last_query_before(const struct yk_cpu_attention_head *head,
                                                int64_t end);

/* The rows of one head in a matrix of queries, keys, values or their gradients. */
struct yk_cpu_attention_head_rows {
    const void *from;
    int64_t stride; /* number of elements from one row to the next */
    int64_t length; /* number of rows per sample */
    int64_t head;
    float scale; /* factor by which elements are multiplied when they are loaded */
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
