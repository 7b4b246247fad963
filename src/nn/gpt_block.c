/*
 * The block of GPT-2 (Radford et al. 2019): x₂ = x + out(attention(norm x)), then
 * x₂ + down(gelu(up(norm x₂))).
 */
#include "nn/attention.h"
#include "nn/norm.h"
#include "nn/parameters.h"

#include <math.h>

enum {
    NORM2 = 2, /* weight, then bias, after those of the first norm */
};

enum {
    UP = YK_ATTENTION_OUT + 1,
    DOWN,
};

static void list(struct yk_parameters *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const char *module = parameters->modules[0];
    const int64_t C = config->width;
    const int64_t F = config->inner;
    /* What is added to the residual stream starts smaller, by the number of times it is. */
    const double residual = config->spread / sqrt(2 * (double)config->layers);
    yk_parameters_add_vector(parameters, module, "ln_1.weight", C, YK_START_ONE);
    yk_parameters_add_vector(parameters, module, "ln_1.bias", C, YK_START_ZERO);
    yk_parameters_add_vector(parameters, module, "ln_2.weight", C, YK_START_ONE);
    yk_parameters_add_vector(parameters, module, "ln_2.bias", C, YK_START_ZERO);
    const struct yk_site_names sites[] = {
        [YK_ATTENTION_QKV] = {{"attn.c_attn"}, {3 * C}, C, true, true, config->spread},
        [YK_ATTENTION_OUT] = {{"attn.c_proj"}, {C}, C, true, true, residual},
        [UP] = {{"mlp.c_fc"}, {F}, C, true, true, config->spread},
        [DOWN] = {{"mlp.c_proj"}, {C}, F, true, true, residual},
    };
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        yk_parameters_add_site(parameters, module, &sites[i]);
    }
}

/* What is kept from forward to backward, besides the input. */
struct saved {
    struct yk_attention_saved attention;
    void *middle; /* x₂ */
    void *norm2;
    void *up; /* (rows, F) before the activation; NULL for ReLU, whose output says as much */
    void *active;
    void *inner_up;
    void *inner_down;
    float *mean2;
    float *rstd2;
};

static void carve_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                        struct yk_carver *carver, struct saved *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    yk_attention_carve(net, layer, rows, true, carver, &out->attention);
    out->middle = yk_carve(carver, rows * config->width, size);
    out->norm2 = yk_carve(carver, rows * config->width, size);
    out->up = config->relu ? NULL : yk_carve(carver, rows * config->inner, size);
    out->active = yk_carve(carver, rows * config->inner, size);
    out->inner_up = yk_site_carve_inner(net, layer, UP, rows, carver);
    out->inner_down = yk_site_carve_inner(net, layer, DOWN, rows, carver);
    out->mean2 = yk_carve(carver, rows, sizeof(float));
    out->rstd2 = yk_carve(carver, rows, sizeof(float));
}

/* `wide` is that of `up`, too. */
static void carve_room(const struct yk_net *net, int32_t layer, int64_t rows,
                       struct yk_carver *carver, struct yk_attention_room *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t C = config->width;
    out->wide = yk_carve(carver, rows * (config->inner > 3 * C ? config->inner : 3 * C), size);
    out->narrow = yk_carve(carver, rows * C, size);
    out->dropped = net->settings.dropout > 0 ? yk_carve(carver, rows * C, size) : NULL;
    out->d_inner = yk_site_carve_d_inner(net, layer, rows, carver);
    out->weights = yk_site_carve_weights(net, layer, carver);
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_extent *extent,
                    struct yk_layer_sizes *out)
{
    struct yk_carver saved_carver = {0};
    struct yk_carver forward_carver = {0};
    struct yk_carver backward_carver = {0};
    struct saved saved;
    struct yk_attention_room room;
    carve_saved(net, layer, extent->samples * extent->sequence, &saved_carver, &saved);
    (void)yk_site_carve_weights(net, layer, &forward_carver);
    carve_room(net, layer, extent->samples * extent->sequence, &backward_carver, &room);
    *out = (struct yk_layer_sizes){saved_carver.used, forward_carver.used, backward_carver.used};
}

static enum yk_ending ending(const struct yk_model_config *config, bool back)
{
    if (config->relu) {
        return back ? YK_ENDING_RELU_BACK : YK_ENDING_RELU;
    }
    if (config->gelu_erf) {
        return back ? YK_ENDING_GELU_ERF_BACK : YK_ENDING_GELU_ERF;
    }
    return back ? YK_ENDING_GELU_BACK : YK_ENDING_GELU;
}

static void forward(const struct yk_pass *pass)
{
    const int64_t rows = yk_pass_rows(pass);
    struct saved saved;
    struct yk_carver room = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, rows, &(struct yk_carver){.base = pass->saved}, &saved);
    void *weights = yk_site_carve_weights(pass->net, pass->layer, &room);
    yk_attention_forward(pass, &saved.attention, weights, saved.middle);
    yk_norm_forward(pass, NORM2, saved.middle, saved.norm2, saved.mean2, saved.rstd2);
    yk_site_forward(pass, UP,
                    &(struct yk_site_forward){.x = saved.norm2,
                                              .y = saved.active,
                                              .ending = ending(pass->net->config, false),
                                              .aux = saved.up,
                                              .inner = saved.inner_up,
                                              .weights = weights});
    if (pass->output) {
        yk_stream_add(pass, DOWN, YK_DROP_DOWN, saved.active, saved.middle, saved.inner_down,
                      weights, pass->output);
    } else if (saved.inner_down) {
        /* Recomputation: of the last product only the adapter's inside is wanted. */
        yk_site_recall_inner(pass, DOWN, saved.active, saved.inner_down);
    }
}

/* Leaves the gradient of x₂ in the input's. */
static void feed_forward_back(const struct yk_pass *pass, const struct saved *saved,
                              const struct yk_attention_room *room)
{
    yk_site_backward(
        pass, DOWN,
        &(struct yk_site_backward){
            .x = saved->active,
            .dy = yk_stream_back(pass, YK_DROP_DOWN, pass->output_gradient, room->dropped),
            .dx = room->wide,
            .ending = ending(pass->net->config, true),
            .aux = saved->up ? saved->up : saved->active,
            .inner = saved->inner_down,
            .d_inner = room->d_inner,
            .weights = room->weights,
        });
    yk_site_backward(pass, UP,
                     &(struct yk_site_backward){
                         .x = saved->norm2,
                         .dy = room->wide,
                         .dx = room->narrow,
                         .inner = saved->inner_up,
                         .d_inner = room->d_inner,
                         .weights = room->weights,
                     });
    yk_norm_backward(pass, NORM2, saved->middle, room->narrow, pass->output_gradient,
                     pass->input_gradient, saved->mean2, saved->rstd2);
}

static void backward(const struct yk_pass *pass)
{
    const int64_t rows = yk_pass_rows(pass);
    struct saved saved;
    struct yk_attention_room room;
    carve_saved(pass->net, pass->layer, rows, &(struct yk_carver){.base = pass->saved}, &saved);
    carve_room(pass->net, pass->layer, rows, &(struct yk_carver){.base = pass->workspace}, &room);
    feed_forward_back(pass, &saved, &room);
    yk_attention_backward(pass, &saved.attention, &room);
}

const struct yk_layer_kind yk_layer_gpt_block = {
    .name = "gpt-block",
    .is_block = true,
    .needs_input = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
