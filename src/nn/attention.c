#include "nn/attention.h"

#include <math.h>

static void *head(const void *base, int64_t at, const struct yk_pass *pass)
{
    return (char *)(uintptr_t)base + at * yk_precision_bytes(pass->net->workload.precision);
}

struct yk_attend yk_attention_op(const struct yk_pass *pass, void *qkv, void *out, float *sums)
{
    const struct yk_model_config *config = pass->net->config;
    const int64_t q = config->heads * config->head_size;
    const int64_t kv = config->kv_heads * config->head_size;
    return (struct yk_attend){
        .batch = pass->samples,
        .queries = pass->sequence,
        .keys = pass->sequence,
        .heads = config->heads,
        .kv_heads = config->kv_heads,
        .head_size = config->head_size,
        .q = qkv,
        .k = head(qkv, q, pass),
        .v = head(qkv, q + kv, pass),
        .out = out,
        .sums = sums,
        .q_stride = q + 2 * kv,
        .k_stride = q + 2 * kv,
        .v_stride = q + 2 * kv,
        .out_stride = q,
        .type = pass->net->workload.precision,
        .scale = (float)(1 / sqrt((double)config->head_size)),
        .causal = true,
        .dropout = yk_pass_dropout(pass, 0),
    };
}

struct yk_attend_back yk_attention_back_op(const struct yk_pass *pass,
                                           const struct yk_attend *forward, const void *d_out,
                                           void *d_qkv)
{
    const struct yk_model_config *config = pass->net->config;
    const int64_t q = config->heads * config->head_size;
    const int64_t kv = config->kv_heads * config->head_size;
    return (struct yk_attend_back){
        .forward = *forward,
        .d_out = d_out,
        .dq = d_qkv,
        .dk = head(d_qkv, q, pass),
        .dv = head(d_qkv, q + kv, pass),
        .dq_stride = q + 2 * kv,
        .dk_stride = q + 2 * kv,
        .dv_stride = q + 2 * kv,
    };
}
