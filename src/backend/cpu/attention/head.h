/*
 * Head: what attention forward and backward share: tiles of queries and keys, which keys a query
 * sees, and rows of heads in fp32 scratch. A head is padded with zeros there to a multiple of 8
 * numbers, up to YK_CPU_HEAD_SIZE_MAX. Tiles are smaller for large heads, so that scratch has one
 * size.
 */
#ifndef YK_BACKEND_CPU_ATTENTION_HEAD_H
#define YK_BACKEND_CPU_ATTENTION_HEAD_H

#include "backend/ops.h"

enum {
    YK_CPU_HEAD_SIZE_MAX = 1024,
    YK_CPU_TILE_KEYS_MAX = 128,        /* in a tile */
    YK_CPU_TILE_KEY_NUMBERS = 1 << 14, /* numbers of the keys of a tile; 64 KiB */
};

#define YK_CPU_LOG2_E 1.44269504088896341F

/* One head of one sample. */
struct yk_cpu_head {
    const struct yk_attention_op *op;
    int64_t sample;
    int64_t head;
    int64_t kv_head;
    int64_t size;   /* of a head, padded */
    int64_t length; /* keys that count */
};

struct yk_cpu_head yk_cpu_head(const struct yk_attention_op *op, int64_t sample, int64_t head);

/* How many keys or queries of this size make a tile; a multiple of 8. */
int64_t yk_cpu_head_tile_rows(int64_t padded_size);

/* How many of the `keys` keys from `first` query t sees, from the first on; none for a query that
 * does not exist. */
int64_t yk_cpu_head_visible_keys(const struct yk_cpu_head *head, int64_t t, int64_t first,
                                 int64_t keys);

/* The last query before `end` that exists. */
int64_t yk_cpu_head_last_query(const struct yk_cpu_head *head, int64_t end);

/* Rows `first` … of head `head` of a matrix whose samples have `length` rows, times `scale`, to
 * (rows, size); rows beyond the last are zero. */
struct yk_cpu_head_rows {
    const void *from;
    int64_t stride;
    int64_t length;
    int64_t head;
    float scale;
};

void yk_cpu_head_load_rows(const struct yk_cpu_head *head, const struct yk_cpu_head_rows *rows,
                           int64_t first, int64_t count, float *out);

/* (rows, size), rows a multiple of 8, becomes (rows / 8, size, 8). */
void yk_cpu_head_transpose_rows(const float *rows, int64_t count, int64_t size, float *out);

/* For query t and `count` keys from `first`: 0 where dropped, 1 / (1 − rate) elsewhere. The buffer
 * has room for `count` + 8; where the numbers begin in it is returned. */
const float *yk_cpu_head_dropout_factors(const struct yk_cpu_head *head, int64_t t, int64_t first,
                                         int64_t count, float *buffer);

#endif
