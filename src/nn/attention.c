#include "nn/attention.h"

#include "nn/norm.h"

#include <math.h>

static void *head(const void *base, int64_t at, const struct yk_pass *pass)
{
    return (char *)(uintptr_t)base + at * yk_precision_bytes(pass->net->workload.precision);
}

static struct yk_attend attend_op(const struct yk_pass *pass, void *qkv, void *out, float *sums)
{
    const struct yk_model_config *config = pass->net->config;
    const int64_t q = config->heads * config->head_size;
    const int64_t kv = config->kv_heads * config->head_size;
    return (struct yk_attend){
        .batch = pass->extent.samples,
        .queries = pass->extent.sequence,
        .keys = pass->extent.sequence,
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
        .dropout = yk_pass_dropout(pass, YK_DROP_ATTENTION),
    };
}

static struct yk_attend_back attend_back_op(const struct yk_pass *pass,
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

void yk_attention_carve(const struct yk_net *net, int32_t layer, int64_t rows, bool with_mean,
                        struct yk_carver *carver, struct yk_attention_saved *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    out->norm = yk_carve(carver, rows * config->width, size);
    out->qkv = yk_carve(carver, rows * (Q + 2 * K), size);
    out->attended = yk_carve(carver, rows * Q, size);
    out->inner_qkv = yk_site_carve_inner(net, layer, YK_ATTENTION_QKV, rows, carver);
    out->inner_out = yk_site_carve_inner(net, layer, YK_ATTENTION_OUT, rows, carver);
    out->sums = yk_carve(carver, rows * config->heads, sizeof(float));
    out->mean = with_mean ? yk_carve(carver, rows, sizeof(float)) : NULL;
    out->rstd = yk_carve(carver, rows, sizeof(float));
}

/* Rotary positions. Queries and keys lie side by side, so that one op turns both. */
static void turn(const struct yk_pass *pass, void *qkv, bool back)
{
    const struct yk_model_config *config = pass->net->config;
    if (config->rope_theta == 0) {
        return;
    }
    pass->store->engine.backend->rotate(
        pass->lane, &(struct yk_rotate){
                        .rows = yk_pass_rows(pass),
                        .sequence = pass->extent.sequence,
                        .heads = config->heads + config->kv_heads,
                        .head_size = config->head_size,
                        .stride = (config->heads + 2 * config->kv_heads) * config->head_size,
                        .data = qkv,
                        .turns = pass->constants.turns,
                        .back = back,
                        .type = pass->net->workload.precision,
                    });
}

void yk_attention_forward(const struct yk_pass *pass, const struct yk_attention_saved *saved,
                          void *weights, void *out)
{
    yk_norm_forward(pass, 0, pass->input, saved->norm, saved->mean, saved->rstd);
    yk_site_forward(
        pass, YK_ATTENTION_QKV,
        &(struct yk_site_forward){
            .x = saved->norm, .y = saved->qkv, .inner = saved->inner_qkv, .weights = weights});
    turn(pass, saved->qkv, false);
    const struct yk_attend attend = attend_op(pass, saved->qkv, saved->attended, saved->sums);
    pass->store->engine.backend->attend(pass->lane, &attend);
    yk_stream_add(pass, YK_ATTENTION_OUT, YK_DROP_OUT, saved->attended, pass->input,
                  saved->inner_out, weights, out);
}

void yk_attention_backward(const struct yk_pass *pass, const struct yk_attention_saved *saved,
                           const struct yk_attention_room *room)
{
    const struct yk_attend attend = attend_op(pass, saved->qkv, saved->attended, saved->sums);
    const struct yk_attend_back back = attend_back_op(pass, &attend, room->narrow, room->wide);
    yk_site_backward(
        pass, YK_ATTENTION_OUT,
        &(struct yk_site_backward){
            .x = saved->attended,
            .dy = yk_stream_back(pass, YK_DROP_OUT, pass->input_gradient, room->dropped),
            .dx = room->narrow,
            .inner = saved->inner_out,
            .d_inner = room->d_inner,
            .weights = room->weights,
        });
    pass->store->engine.backend->attend_back(pass->lane, &back);
    turn(pass, room->wide, true);
    yk_site_backward(pass, YK_ATTENTION_QKV,
                     &(struct yk_site_backward){
                         .x = saved->norm,
                         .dy = room->wide,
                         .dx = room->narrow,
                         .inner = saved->inner_qkv,
                         .d_inner = room->d_inner,
                         .weights = room->weights,
                     });
    yk_norm_backward(pass, 0, pass->input, room->narrow, pass->input_gradient, pass->input_gradient,
                     saved->mean, saved->rstd);
}

static void drop(const struct yk_pass *pass, uint64_t place, const void *from, const void *add,
                 void *to)
{
    pass->store->engine.backend->drop(pass->lane, &(struct yk_drop){
                                                      .rows = yk_pass_rows(pass),
                                                      .width = pass->net->config->width,
                                                      .sequence = pass->extent.sequence,
                                                      .from = from,
                                                      .to = to,
                                                      .add = add,
                                                      .dropout = yk_pass_dropout(pass, place),
                                                      .type = pass->net->workload.precision,
                                                  });
}

/* Llama drops from attention alone. */
static bool drops(const struct yk_pass *pass, uint64_t place)
{
    return pass->net->config->rope_theta == 0 && yk_pass_dropout(pass, place).rate > 0;
}

void yk_stream_add(const struct yk_pass *pass, int32_t site, uint64_t place, const void *x,
                   const void *stream, void *inner, void *weights, void *to)
{
    const bool dropped = drops(pass, place);
    yk_site_forward(
        pass, site,
        &(struct yk_site_forward){
            .x = x, .y = to, .add = dropped ? NULL : stream, .inner = inner, .weights = weights});
    if (dropped) {
        drop(pass, place, to, stream, to);
    }
}

const void *yk_stream_back(const struct yk_pass *pass, uint64_t place, const void *gradient,
                           void *room)
{
    if (!drops(pass, place)) {
        return gradient;
    }
    drop(pass, place, gradient, NULL, room);
    return room;
}
