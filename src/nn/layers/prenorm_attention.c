#include "nn/layers/prenorm_attention.h"

void yk_prenorm_attention_carve(const struct yk_net *net, int32_t layer,
                                const struct yk_batch_shape *batch, struct yk_carver *carver,
                                struct yk_prenorm_attention_saved *out)
{
    const enum yk_precision type = net->workload.precision;
    const int64_t rows = batch->samples * batch->sequence;
    const struct yk_attention_shape shape = yk_attention_causal(net->config);
    out->norm = yk_norm_carve(net, 0, type, rows, carver);
    out->normed = yk_carve(carver, rows * net->config->width, (size_t)yk_precision_bytes(type));
    yk_attention_carve(net, layer, &shape, batch, carver, &out->attention);
}

void yk_prenorm_attention_forward(const struct yk_pass *pass,
                                  const struct yk_prenorm_attention_saved *saved, void *weights,
                                  void *out)
{
    const struct yk_attention_shape shape = yk_attention_causal(pass->net->config);
    yk_norm_forward(pass, &saved->norm, pass->input, saved->normed);
    yk_attention_forward(pass, &shape, &saved->attention, saved->normed, pass->input, weights, out);
}

void yk_prenorm_attention_backward(const struct yk_pass *pass,
                                   const struct yk_prenorm_attention_saved *saved,
                                   const struct yk_residual_workspace *room)
{
    const struct yk_attention_shape shape = yk_attention_causal(pass->net->config);
    yk_attention_backward(pass, &shape, &saved->attention, room, saved->normed,
                          pass->input_gradient, NULL, room->narrow);
    yk_norm_backward(pass, &saved->norm, pass->input, room->narrow, pass->input_gradient,
                     pass->input_gradient);
}
