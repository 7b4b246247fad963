/*
 * The block of Llama (Touvron et al. 2023): x₂ = x + out(attention(norm x)) with positions turned
 * into queries and keys, then x₂ + down(silu(gate(norm x₂)) · up(norm x₂)).
 */
#include "nn/layers/attention.h"
#include "nn/parameter_list.h"

enum {
    NORM2 = 1, /* after the first norm's weight */
};

enum {
    GATE_UP = YK_ATTENTION_END,
    DOWN,
};

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const char *module = parameters->modules[0];
    const int64_t C = config->width;
    const int64_t F = config->inner;
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    const bool bias = config->linear_bias;
    const double spread = config->spread;
    yk_parameter_list_add_norm(parameters, module, "input_layernorm");
    yk_parameter_list_add_norm(parameters, module, "post_attention_layernorm");
    const struct yk_projection_spec projections[] = {
        [YK_ATTENTION_QKV] = {{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                              {Q, K, K},
                              C,
                              bias,
                              false,
                              spread},
        [YK_ATTENTION_OUT] = {{"self_attn.o_proj"}, {C}, Q, bias, false, spread},
        [GATE_UP] =
            {{"mlp.gate_proj", "mlp.up_proj"}, {F, F}, C, config->inner_bias, false, spread},
        [DOWN] = {{"mlp.down_proj"}, {C}, F, config->inner_bias, false, spread},
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
    void *gate_up; /* (rows, 2F) */
    void *active;  /* (rows, F) */
    void *inner_gate_up;
    void *inner_down;
};

static void carve_saved(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                        struct yk_carver *carver, struct saved *out)
{
    const struct yk_model_config *config = net->config;
    const enum yk_precision type = net->workload.precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    const int64_t rows = batch->samples * batch->sequence;
    yk_prenorm_attention_carve(net, layer, batch, carver, &out->attention);
    out->middle = yk_carve(carver, rows * config->width, size);
    out->normed = yk_carve(carver, rows * config->width, size);
    out->norm = yk_norm_carve(net, NORM2, type, rows, carver);
    out->gate_up = yk_carve(carver, rows * 2 * config->inner, size);
    out->active = yk_carve(carver, rows * config->inner, size);
    out->inner_gate_up = yk_projection_carve_inner(net, layer, GATE_UP, rows, carver);
    out->inner_down = yk_projection_carve_inner(net, layer, DOWN, rows, carver);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void carve_room(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                       struct yk_carver *carver, struct yk_residual_workspace *out)
{
    const struct yk_model_config *config = net->config;
    const struct yk_attention_shape shape = yk_attention_causal(config);
    const struct yk_residual_widths widths = {
        .wide = larger(config->inner, yk_attention_width(&shape)),
        .narrow = larger(config->width, config->heads * config->head_size),
    };
    yk_residual_carve_workspace(net, layer, batch, &widths, carver, out);
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

static void feed_forward(const struct yk_pass *pass, const struct saved *saved, void *weights)
{
    yk_projection_forward(pass, GATE_UP,
                          &(struct yk_projection_forward){.x = saved->normed,
                                                          .y = saved->gate_up,
                                                          .inner = saved->inner_gate_up,
                                                          .weights = weights});
    pass->store->engine.backend->swiglu(pass->lane, &(struct yk_swiglu_op){
                                                        .rows = yk_pass_rows(pass),
                                                        .width = pass->net->config->inner,
                                                        .gate_up = saved->gate_up,
                                                        .out = saved->active,
                                                        .type = pass->net->workload.precision,
                                                    });
    if (pass->output) {
        yk_projection_forward(pass, DOWN,
                              &(struct yk_projection_forward){.x = saved->active,
                                                              .y = pass->output,
                                                              .add = saved->middle,
                                                              .inner = saved->inner_down,
                                                              .weights = weights});
    } else if (saved->inner_down) {
        /* Recomputation: of the last product only the adapter's inside is wanted. */
        yk_projection_recompute_inner(pass, DOWN, saved->active, saved->inner_down);
    }
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
    feed_forward(pass, &saved, weights);
}

/* Leaves the gradient of x₂ in the input's, and that of `gate_up` where `gate_up` was. */
static void feed_forward_back(const struct yk_pass *pass, const struct saved *saved,
                              const struct yk_residual_workspace *room)
{
    yk_projection_backward(pass, DOWN,
                           &(struct yk_projection_backward){
                               .x = saved->active,
                               .dy = pass->output_gradient,
                               .dx = room->wide,
                               .inner = saved->inner_down,
                               .d_inner = room->d_inner,
                               .weights = room->weights,
                           });
    pass->store->engine.backend->swiglu_backward(pass->lane,
                                                 &(struct yk_swiglu_backward_op){
                                                     .rows = yk_pass_rows(pass),
                                                     .width = pass->net->config->inner,
                                                     .gate_up = saved->gate_up,
                                                     .d_out = room->wide,
                                                     .d_gate_up = saved->gate_up,
                                                     .type = pass->net->workload.precision,
                                                 });
    yk_projection_backward(pass, GATE_UP,
                           &(struct yk_projection_backward){
                               .x = saved->normed,
                               .dy = saved->gate_up,
                               .dx = room->narrow,
                               .inner = saved->inner_gate_up,
                               .d_inner = room->d_inner,
                               .weights = room->weights,
                           });
    yk_norm_backward(pass, &saved->norm, saved->middle, room->narrow, pass->output_gradient,
                     pass->input_gradient);
}

static void backward(const struct yk_pass *pass)
{
    struct saved saved;
    struct yk_residual_workspace room;
    struct yk_carver carver = {.base = pass->saved};
    struct yk_carver room_carver = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, &pass->batch, &carver, &saved);
    carve_room(pass->net, pass->layer, &pass->batch, &room_carver, &room);
    feed_forward_back(pass, &saved, &room);
    yk_prenorm_attention_backward(pass, &saved.attention, &room);
}

const struct yk_layer_kind yk_layer_llama_block = {
    .name = "llama-block",
    .is_block = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
