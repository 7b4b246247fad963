/* Attention as blocks use it: queries, keys and values side by side in one row, heads in each. */
#ifndef YK_NN_ATTENTION_H
#define YK_NN_ATTENTION_H

#include "nn/site.h"

/* The op for a causal block; `qkv` is (rows, heads + 2 · kv_heads heads), `out` (rows, heads). */
struct yk_attend yk_attention_op(const struct yk_pass *pass, void *qkv, void *out, float *sums);

/* Its gradient; `d_qkv` is laid out as `qkv`. */
struct yk_attend_back yk_attention_back_op(const struct yk_pass *pass,
                                           const struct yk_attend *forward, const void *d_out,
                                           void *d_qkv);

#endif
