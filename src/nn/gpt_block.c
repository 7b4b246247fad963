/*
 * The block of GPT-2 (Radford et al. 2019): x₂ = x + out(attention(norm x)), then
 * x₂ + down(gelu(up(norm x₂))).
 */
#include "nn/attention.h"
#include "nn/norm.h"
#include "nn/parameters.h"

#include <math.h>

enum {
    NORM1 = 0, /* weight, then bias */
    NORM2 = 2,
};

enum {
    QKV,
    OUT,
    UP,
    DOWN,
};

enum {
    DROP_ATTENTION,
    DROP_OUT,
    DROP_DOWN,
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
        [QKV] = {{"attn.c_attn"}, {3 * C}, C, true, true, config->spread},
        [OUT] = {{"attn.c_proj"}, {C}, C, true, true, residual},
        [UP] = {{"mlp.c_fc"}, {F}, C, true, true, config->spread},
        [DOWN] = {{"mlp.c_proj"}, {C}, F, true, true, residual},
    };
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        yk_parameters_add_site(parameters, module, &sites[i]);
    }
}

/* What is kept from forward to backward, besides the input. */
struct saved {
    void *norm1; /* (rows, C) */
    void *qkv;   /* (rows, 3C) */
    void *attended;
    void *middle; /* x₂ */
    void *norm2;
    void *up; /* (rows, F) before the activation; NULL for ReLU, whose output says as much */
    void *active;
    void *inner[YK_LAYER_SITES];
    float *sums; /* (B, H, T) */
    float *mean1;
    float *rstd1;
    float *mean2;
    float *rstd2;
};

static void carve_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                        struct yk_carver *carver, struct saved *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t C = config->width;
    out->norm1 = yk_carve(carver, rows * C, size);
    out->qkv = yk_carve(carver, rows * 3 * C, size);
    out->attended = yk_carve(carver, rows * C, size);
    out->middle = yk_carve(carver, rows * C, size);
    out->norm2 = yk_carve(carver, rows * C, size);
    out->up = config->relu ? NULL : yk_carve(carver, rows * config->inner, size);
    out->active = yk_carve(carver, rows * config->inner, size);
    for (int32_t s = 0; s < YK_LAYER_SITES; s++) {
        out->inner[s] = yk_site_carve_inner(net, layer, s, rows, carver);
    }
    out->sums = yk_carve(carver, rows * config->heads, sizeof(float));
    out->mean1 = yk_carve(carver, rows, sizeof(float));
    out->rstd1 = yk_carve(carver, rows, sizeof(float));
    out->mean2 = yk_carve(carver, rows, sizeof(float));
    out->rstd2 = yk_carve(carver, rows, sizeof(float));
}

/* Gradients on their way. */
struct work {
    void *wide;    /* (rows, F or 3C): of `up`, later of `qkv` */
    void *narrow;  /* (rows, C): of a norm's output, of `attended` */
    void *dropped; /* (rows, C): of what was dropped from; NULL without dropout */
    void *d_inner;
    void *weights;
};

static void carve_work(const struct yk_net *net, int32_t layer, int64_t rows,
                       struct yk_carver *carver, struct work *out)
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

static void measure(const struct yk_net *net, int32_t layer, int64_t samples, int64_t sequence,
                    struct yk_layer_sizes *out)
{
    struct yk_carver saved_carver = {0};
    struct yk_carver forward_carver = {0};
    struct yk_carver backward_carver = {0};
    struct saved saved;
    struct work work;
    carve_saved(net, layer, samples * sequence, &saved_carver, &saved);
    (void)yk_site_carve_weights(net, layer, &forward_carver);
    carve_work(net, layer, samples * sequence, &backward_carver, &work);
    *out = (struct yk_layer_sizes){saved_carver.used, forward_carver.used, backward_carver.used};
}

static void drop(const struct yk_pass *pass, uint64_t place, const void *from, const void *add,
                 void *to)
{
    pass->store->engine.backend->drop(pass->lane, &(struct yk_drop){
                                                      .rows = pass->samples * pass->sequence,
                                                      .width = pass->net->config->width,
                                                      .sequence = pass->sequence,
                                                      .from = from,
                                                      .to = to,
                                                      .add = add,
                                                      .dropout = yk_pass_dropout(pass, place),
                                                      .type = pass->net->workload.precision,
                                                  });
}

/* A product whose output is dropped from and added to the residual stream. */
static void add_to_stream(const struct yk_pass *pass, int32_t site, uint64_t place, const void *x,
                          const void *stream, void *inner, void *weights, void *to)
{
    const bool drops = yk_pass_dropout(pass, place).rate > 0;
    yk_site_forward(
        pass, site,
        &(struct yk_site_forward){
            .x = x, .y = to, .add = drops ? NULL : stream, .inner = inner, .weights = weights});
    if (drops) {
        drop(pass, place, to, stream, to);
    }
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
    const struct yk_backend *backend = pass->store->engine.backend;
    const int64_t rows = pass->samples * pass->sequence;
    struct saved saved;
    struct yk_carver room = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, rows, &(struct yk_carver){.base = pass->saved}, &saved);
    void *weights = yk_site_carve_weights(pass->net, pass->layer, &room);
    yk_norm_forward(pass, NORM1, pass->input, saved.norm1, saved.mean1, saved.rstd1);
    yk_site_forward(
        pass, QKV,
        &(struct yk_site_forward){
            .x = saved.norm1, .y = saved.qkv, .inner = saved.inner[QKV], .weights = weights});
    const struct yk_attend attend = yk_attention_op(pass, saved.qkv, saved.attended, saved.sums);
    backend->attend(pass->lane, &attend);
    add_to_stream(pass, OUT, DROP_OUT, saved.attended, pass->input, saved.inner[OUT], weights,
                  saved.middle);
    yk_norm_forward(pass, NORM2, saved.middle, saved.norm2, saved.mean2, saved.rstd2);
    yk_site_forward(pass, UP,
                    &(struct yk_site_forward){.x = saved.norm2,
                                              .y = saved.active,
                                              .ending = ending(pass->net->config, false),
                                              .aux = saved.up,
                                              .inner = saved.inner[UP],
                                              .weights = weights});
    if (pass->output) {
        add_to_stream(pass, DOWN, DROP_DOWN, saved.active, saved.middle, saved.inner[DOWN], weights,
                      pass->output);
    } else if (saved.inner[DOWN]) {
        /* Recomputation: of the last product only the adapter's inside is wanted. */
        yk_site_recall_inner(pass, DOWN, saved.active, saved.inner[DOWN]);
    }
}

/* The gradient of what a product made before some of it was dropped. */
static const void *undrop(const struct yk_pass *pass, uint64_t place, const void *gradient,
                          void *room)
{
    if (yk_pass_dropout(pass, place).rate == 0) {
        return gradient;
    }
    drop(pass, place, gradient, NULL, room);
    return room;
}

/* Leaves the gradient of x₂ in the input's. */
static void feed_forward_back(const struct yk_pass *pass, const struct saved *saved,
                              const struct work *work)
{
    yk_site_backward(pass, DOWN,
                     &(struct yk_site_backward){
                         .x = saved->active,
                         .dy = undrop(pass, DROP_DOWN, pass->output_gradient, work->dropped),
                         .dx = work->wide,
                         .ending = ending(pass->net->config, true),
                         .aux = saved->up ? saved->up : saved->active,
                         .inner = saved->inner[DOWN],
                         .d_inner = work->d_inner,
                         .weights = work->weights,
                     });
    yk_site_backward(pass, UP,
                     &(struct yk_site_backward){
                         .x = saved->norm2,
                         .dy = work->wide,
                         .dx = work->narrow,
                         .inner = saved->inner[UP],
                         .d_inner = work->d_inner,
                         .weights = work->weights,
                     });
    yk_norm_backward(pass, NORM2, saved->middle, work->narrow, pass->output_gradient,
                     pass->input_gradient, saved->mean2, saved->rstd2);
}

static void attention_back(const struct yk_pass *pass, const struct saved *saved,
                           const struct work *work)
{
    const struct yk_attend attend = yk_attention_op(pass, saved->qkv, saved->attended, saved->sums);
    const struct yk_attend_back back =
        yk_attention_back_op(pass, &attend, work->narrow, work->wide);
    yk_site_backward(pass, OUT,
                     &(struct yk_site_backward){
                         .x = saved->attended,
                         .dy = undrop(pass, DROP_OUT, pass->input_gradient, work->dropped),
                         .dx = work->narrow,
                         .inner = saved->inner[OUT],
                         .d_inner = work->d_inner,
                         .weights = work->weights,
                     });
    pass->store->engine.backend->attend_back(pass->lane, &back);
    yk_site_backward(pass, QKV,
                     &(struct yk_site_backward){
                         .x = saved->norm1,
                         .dy = work->wide,
                         .dx = work->narrow,
                         .inner = saved->inner[QKV],
                         .d_inner = work->d_inner,
                         .weights = work->weights,
                     });
    yk_norm_backward(pass, NORM1, pass->input, work->narrow, pass->input_gradient,
                     pass->input_gradient, saved->mean1, saved->rstd1);
}

static void backward(const struct yk_pass *pass)
{
    const int64_t rows = pass->samples * pass->sequence;
    struct saved saved;
    struct work work;
    carve_saved(pass->net, pass->layer, rows, &(struct yk_carver){.base = pass->saved}, &saved);
    carve_work(pass->net, pass->layer, rows, &(struct yk_carver){.base = pass->workspace}, &work);
    feed_forward_back(pass, &saved, &work);
    attention_back(pass, &saved, &work);
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
