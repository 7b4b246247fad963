/*
 * The block of Llama (Touvron et al. 2023): x₂ = x + out(attention(norm x)) with positions turned
 * into queries and keys, then x₂ + down(silu(gate(norm x₂)) · up(norm x₂)).
 */
#include "nn/attention.h"
#include "nn/norm.h"
#include "nn/parameters.h"

enum {
    NORM1,
    NORM2,
};

enum {
    QKV,
    OUT,
    GATE_UP,
    DOWN,
};

static void list(struct yk_parameters *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const char *module = parameters->modules[0];
    const int64_t C = config->width;
    const int64_t F = config->inner;
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    const bool bias = config->linear_bias;
    const double spread = config->spread;
    yk_parameters_add_vector(parameters, module, "input_layernorm.weight", C, YK_START_ONE);
    yk_parameters_add_vector(parameters, module, "post_attention_layernorm.weight", C,
                             YK_START_ONE);
    const struct yk_site_names sites[] = {
        [QKV] = {{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                 {Q, K, K},
                 C,
                 bias,
                 false,
                 spread},
        [OUT] = {{"self_attn.o_proj"}, {C}, Q, bias, false, spread},
        [GATE_UP] =
            {{"mlp.gate_proj", "mlp.up_proj"}, {F, F}, C, config->inner_bias, false, spread},
        [DOWN] = {{"mlp.down_proj"}, {C}, F, config->inner_bias, false, spread},
    };
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        yk_parameters_add_site(parameters, module, &sites[i]);
    }
}

/* What is kept from forward to backward, besides the input. */
struct saved {
    void *norm1;    /* (rows, C) */
    void *qkv;      /* (rows, Q + 2K), turned */
    void *attended; /* (rows, Q) */
    void *middle;   /* x₂ */
    void *norm2;
    void *gate_up; /* (rows, 2F) */
    void *active;  /* (rows, F) */
    void *inner[YK_LAYER_SITES];
    float *sums; /* (B, H, T) */
    float *rstd1;
    float *rstd2;
};

static void carve_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                        struct yk_carver *carver, struct saved *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t C = config->width;
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    out->norm1 = yk_carve(carver, rows * C, size);
    out->qkv = yk_carve(carver, rows * (Q + 2 * K), size);
    out->attended = yk_carve(carver, rows * Q, size);
    out->middle = yk_carve(carver, rows * C, size);
    out->norm2 = yk_carve(carver, rows * C, size);
    out->gate_up = yk_carve(carver, rows * 2 * config->inner, size);
    out->active = yk_carve(carver, rows * config->inner, size);
    for (int32_t s = 0; s < YK_LAYER_SITES; s++) {
        out->inner[s] = yk_site_carve_inner(net, layer, s, rows, carver);
    }
    out->sums = yk_carve(carver, rows * config->heads, sizeof(float));
    out->rstd1 = yk_carve(carver, rows, sizeof(float));
    out->rstd2 = yk_carve(carver, rows, sizeof(float));
}

/* Gradients on their way. */
struct work {
    void *wide;   /* (rows, F or Q + 2K): of `active`, later of `qkv` */
    void *narrow; /* (rows, C or Q): of a norm's output, of `attended` */
    void *d_inner;
    void *weights;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void carve_work(const struct yk_net *net, int32_t layer, int64_t rows,
                       struct yk_carver *carver, struct work *out)
{
    const struct yk_model_config *config = net->config;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    out->wide = yk_carve(carver, rows * larger(config->inner, Q + 2 * K), size);
    out->narrow = yk_carve(carver, rows * larger(config->width, Q), size);
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

/* Queries and keys lie side by side, so that one op turns both. */
static void turn(const struct yk_pass *pass, void *qkv, bool back)
{
    const struct yk_model_config *config = pass->net->config;
    pass->store->engine.backend->rotate(
        pass->lane, &(struct yk_rotate){
                        .rows = pass->samples * pass->sequence,
                        .sequence = pass->sequence,
                        .heads = config->heads + config->kv_heads,
                        .head_size = config->head_size,
                        .stride = (config->heads + 2 * config->kv_heads) * config->head_size,
                        .data = qkv,
                        .turns = pass->turns,
                        .back = back,
                        .type = pass->net->workload.precision,
                    });
}

static void feed_forward(const struct yk_pass *pass, const struct saved *saved, void *weights)
{
    yk_site_forward(pass, GATE_UP,
                    &(struct yk_site_forward){.x = saved->norm2,
                                              .y = saved->gate_up,
                                              .inner = saved->inner[GATE_UP],
                                              .weights = weights});
    pass->store->engine.backend->gate(pass->lane, &(struct yk_gate){
                                                      .rows = pass->samples * pass->sequence,
                                                      .width = pass->net->config->inner,
                                                      .gate_up = saved->gate_up,
                                                      .out = saved->active,
                                                      .type = pass->net->workload.precision,
                                                  });
    if (pass->output) {
        yk_site_forward(pass, DOWN,
                        &(struct yk_site_forward){.x = saved->active,
                                                  .y = pass->output,
                                                  .add = saved->middle,
                                                  .inner = saved->inner[DOWN],
                                                  .weights = weights});
    } else if (saved->inner[DOWN]) {
        /* Recomputation: of the last product only the adapter's inside is wanted. */
        yk_site_recall_inner(pass, DOWN, saved->active, saved->inner[DOWN]);
    }
}

static void forward(const struct yk_pass *pass)
{
    const int64_t rows = pass->samples * pass->sequence;
    struct saved saved;
    struct yk_carver room = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, rows, &(struct yk_carver){.base = pass->saved}, &saved);
    void *weights = yk_site_carve_weights(pass->net, pass->layer, &room);
    yk_norm_forward(pass, NORM1, pass->input, saved.norm1, NULL, saved.rstd1);
    yk_site_forward(
        pass, QKV,
        &(struct yk_site_forward){
            .x = saved.norm1, .y = saved.qkv, .inner = saved.inner[QKV], .weights = weights});
    turn(pass, saved.qkv, false);
    const struct yk_attend attend = yk_attention_op(pass, saved.qkv, saved.attended, saved.sums);
    pass->store->engine.backend->attend(pass->lane, &attend);
    yk_site_forward(pass, OUT,
                    &(struct yk_site_forward){.x = saved.attended,
                                              .y = saved.middle,
                                              .add = pass->input,
                                              .inner = saved.inner[OUT],
                                              .weights = weights});
    yk_norm_forward(pass, NORM2, saved.middle, saved.norm2, NULL, saved.rstd2);
    feed_forward(pass, &saved, weights);
}

/* Leaves the gradient of x₂ in the input's, and that of `gate_up` where `gate_up` was. */
static void feed_forward_back(const struct yk_pass *pass, const struct saved *saved,
                              const struct work *work)
{
    yk_site_backward(pass, DOWN,
                     &(struct yk_site_backward){
                         .x = saved->active,
                         .dy = pass->output_gradient,
                         .dx = work->wide,
                         .inner = saved->inner[DOWN],
                         .d_inner = work->d_inner,
                         .weights = work->weights,
                     });
    pass->store->engine.backend->gate_back(pass->lane, &(struct yk_gate_back){
                                                           .rows = pass->samples * pass->sequence,
                                                           .width = pass->net->config->inner,
                                                           .gate_up = saved->gate_up,
                                                           .d_out = work->wide,
                                                           .d_gate_up = saved->gate_up,
                                                           .type = pass->net->workload.precision,
                                                       });
    yk_site_backward(pass, GATE_UP,
                     &(struct yk_site_backward){
                         .x = saved->norm2,
                         .dy = saved->gate_up,
                         .dx = work->narrow,
                         .inner = saved->inner[GATE_UP],
                         .d_inner = work->d_inner,
                         .weights = work->weights,
                     });
    yk_norm_backward(pass, NORM2, saved->middle, work->narrow, pass->output_gradient,
                     pass->input_gradient, NULL, saved->rstd2);
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
                         .dy = pass->input_gradient,
                         .dx = work->narrow,
                         .inner = saved->inner[OUT],
                         .d_inner = work->d_inner,
                         .weights = work->weights,
                     });
    pass->store->engine.backend->attend_back(pass->lane, &back);
    turn(pass, work->wide, true);
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
                     pass->input_gradient, NULL, saved->rstd1);
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

const struct yk_layer_kind yk_layer_llama_block = {
    .name = "llama-block",
    .is_block = true,
    .needs_input = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
