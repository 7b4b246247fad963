/*
 * The block of GPT-2 (Radford et al. 2019): x₂ = x + out(attention(norm x)), then
 * x₂ + down(gelu(up(norm x₂))).
 */
#include "nn/layers/mlp.h"
#include "nn/parameter_list.h"

#include <math.h>

enum {
    NORM2 = 2, /* weight, then bias, after those of the first norm */
};

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const char *module = parameters->modules[0];
    const int64_t C = config->width;
    const int64_t F = config->inner;
    /* What is added to the residual stream starts smaller, by the number of times it is. */
    const double residual = config->spread / sqrt(2 * (double)config->layers);
    yk_parameter_list_add_norm(parameters, module, "ln_1");
    yk_parameter_list_add_norm(parameters, module, "ln_2");
    const struct yk_projection_spec projections[] = {
        [YK_ATTENTION_QKV] = {{"attn.c_attn"}, {3 * C}, C, true, true, config->spread},
        [YK_ATTENTION_OUT] = {{"attn.c_proj"}, {C}, C, true, true, residual},
        [YK_MLP_UP] = {{"mlp.c_fc"}, {F}, C, true, true, config->spread},
        [YK_MLP_DOWN] = {{"mlp.c_proj"}, {C}, F, true, true, residual},
    };
    for (size_t i = 0; i < sizeof projections / sizeof projections[0]; i++) {
        yk_parameter_list_add_projection(parameters, module, &projections[i]);
    }
}

/* What is kept from forward to backward, besides the input. */
struct saved {
    struct yk_prenorm_attention_saved attention;
    void *middle; /* x₂ */
    void *normed;
    struct yk_norm norm;
    struct yk_mlp_saved feed;
};

static void carve_saved(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                        struct yk_carver *carver, struct saved *out)
{
    const enum yk_precision type = net->workload.precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    const int64_t rows = batch->samples * batch->sequence;
    yk_prenorm_attention_carve(net, layer, batch, carver, &out->attention);
    out->middle = yk_carve(carver, rows * net->config->width, size);
    out->normed = yk_carve(carver, rows * net->config->width, size);
    out->norm = yk_norm_carve(net, NORM2, type, rows, carver);
    yk_mlp_carve(net, layer, rows, carver, &out->feed);
}

static void carve_room(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                       struct yk_carver *carver, struct yk_residual_workspace *out)
{
    const int64_t C = net->config->width;
    const int64_t F = net->config->inner;
    yk_residual_carve_workspace(
        net, layer, batch, &(struct yk_residual_widths){.wide = F > 3 * C ? F : 3 * C, .narrow = C},
        carver, out);
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_sizes *out)
{
    struct yk_carver saved_carver = {0};
    struct yk_carver forward_carver = {0};
    struct yk_carver backward_carver = {0};
    struct saved saved;
    struct yk_residual_workspace room;
    carve_saved(net, layer, batch, &saved_carver, &saved);
    (void)yk_projection_carve_weights(net, layer, &forward_carver);
    carve_room(net, layer, batch, &backward_carver, &room);
    *out = (struct yk_layer_sizes){saved_carver.used, forward_carver.used, backward_carver.used};
}

static void forward(const struct yk_pass *pass)
{
    struct saved saved;
    struct yk_carver carver = {.base = pass->saved};
    struct yk_carver room = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, &pass->batch, &carver, &saved);
    void *weights = yk_projection_carve_weights(pass->net, pass->layer, &room);
    yk_prenorm_attention_forward(pass, &saved.attention, weights, saved.middle);
    yk_norm_forward(pass, &saved.norm, saved.middle, saved.normed);
    yk_mlp_forward(pass, &saved.feed, saved.normed, saved.middle, weights, pass->output);
}

static void backward(const struct yk_pass *pass)
{
    struct saved saved;
    struct yk_residual_workspace room;
    struct yk_carver carver = {.base = pass->saved};
    struct yk_carver room_carver = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, &pass->batch, &carver, &saved);
    carve_room(pass->net, pass->layer, &pass->batch, &room_carver, &room);
    yk_mlp_backward(pass, &saved.feed, &room, saved.normed, pass->output_gradient, NULL,
                    room.narrow);
    /* The gradient of x₂ goes where the input's belongs. */
    yk_norm_backward(pass, &saved.norm, saved.middle, room.narrow, pass->output_gradient,
                     pass->input_gradient);
    yk_prenorm_attention_backward(pass, &saved.attention, &room);
}

const struct yk_layer_kind yk_layer_gpt_block = {
    .name = "gpt-block",
    .is_block = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
