/*
 * Pre-norm blocks: x₂ = x + attention(norm(x)), then x₂ + mlp(norm(x₂)). The block of GPT-2
 * (Radford et al. 2019), and that of Llama (Touvron et al. 2023) with rotary positions and a gated
 * MLP.
 */
#include "base/number.h"
#include "nn/layers/mlp.h"
#include "nn/layers/norm.h"
#include "nn/parameter_list.h"

#include <math.h>

static void list_gpt(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const int64_t C = config->width;
    const int64_t F = config->feed_forward_width;
    /* Projections into the residual stream start smaller, by the root of their number. */
    const double residual = config->init_std / sqrt(2 * (double)config->layers);
    yk_parameter_list_add_norm(parameters, parameters->modules[0], "ln_1");
    yk_parameter_list_add_norm(parameters, parameters->modules[0], "ln_2");
    const struct yk_projection_spec specs[YK_MLP_PROJECTION_END] = {
        [YK_ATTENTION_PROJECTION_QKV] = {{"attn.c_attn"}, {3 * C}, C, true, true, config->init_std},
        [YK_ATTENTION_PROJECTION_OUT] = {{"attn.c_proj"}, {C}, C, true, true, residual},
        [YK_MLP_PROJECTION_UP] = {{"mlp.c_fc"}, {F}, C, true, true, config->init_std},
        [YK_MLP_PROJECTION_DOWN] = {{"mlp.c_proj"}, {C}, F, true, true, residual},
    };
    yk_parameter_list_add_projections(parameters, specs, YK_MLP_PROJECTION_END);
}

static void list_llama(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const int64_t C = config->width;
    const int64_t F = config->feed_forward_width;
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    const bool bias = config->linear_bias;
    const bool inner_bias = config->inner_bias;
    const double spread = config->init_std;
    yk_parameter_list_add_norm(parameters, parameters->modules[0], "input_layernorm");
    yk_parameter_list_add_norm(parameters, parameters->modules[0], "post_attention_layernorm");
    const struct yk_projection_spec specs[YK_MLP_PROJECTION_END] = {
        [YK_ATTENTION_PROJECTION_QKV] = {{"self_attn.q_proj", "self_attn.k_proj",
                                          "self_attn.v_proj"},
                                         {Q, K, K},
                                         C,
                                         bias,
                                         false,
                                         spread},
        [YK_ATTENTION_PROJECTION_OUT] = {{"self_attn.o_proj"}, {C}, Q, bias, false, spread},
        [YK_MLP_PROJECTION_UP] =
            {{"mlp.gate_proj", "mlp.up_proj"}, {F, F}, C, inner_bias, false, spread},
        [YK_MLP_PROJECTION_DOWN] = {{"mlp.down_proj"}, {C}, F, inner_bias, false, spread},
    };
    yk_parameter_list_add_projections(parameters, specs, YK_MLP_PROJECTION_END);
}

/* Activations that forward saves for backward, in addition to the input; (rows, C) each. */
struct saved {
    struct yk_norm norm1;
    void *normed1;
    struct yk_attention_saved attention;
    void *middle; /* x₂ */
    void *normed2;
    struct yk_norm norm2;
    struct yk_mlp_saved mlp;
};

static void carve_saved(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                        struct yk_bump_allocator *allocator, struct saved *out)
{
    const struct yk_attention_shape shape = yk_attention_causal_shape(net->config);
    const enum yk_precision type = net->workload.precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    const int64_t rows = batch->samples * batch->sequence;
    const int32_t second = net->config->rms_norm ? 1 : 2; /* after the first norm's parameters */
    out->norm1 = yk_norm_allocate(net, 0, type, rows, allocator);
    out->normed1 = yk_bump_allocate(allocator, rows * net->config->width, size);
    yk_attention_allocate_saved(net, layer, &shape, batch, allocator, &out->attention);
    out->middle = yk_bump_allocate(allocator, rows * net->config->width, size);
    out->normed2 = yk_bump_allocate(allocator, rows * net->config->width, size);
    out->norm2 = yk_norm_allocate(net, second, type, rows, allocator);
    yk_mlp_allocate_saved(net, layer, rows, allocator, &out->mlp);
}

static void carve_workspace(const struct yk_net *net, int32_t layer,
                            const struct yk_batch_shape *batch, struct yk_bump_allocator *allocator,
                            struct yk_backward_workspace *out)
{
    const struct yk_model_config *config = net->config;
    const struct yk_attention_shape shape = yk_attention_causal_shape(config);
    const struct yk_backward_workspace_widths widths = {
        .wide = yk_number_max(config->feed_forward_width, yk_attention_query_row_width(&shape)),
        .narrow = yk_number_max(config->width, config->heads * config->head_size),
    };
    yk_residual_allocate_workspace(net, layer, batch, &widths, allocator, out);
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out)
{
    struct yk_bump_allocator saved_carver = {0};
    struct yk_bump_allocator forward_carver = {0};
    struct yk_bump_allocator backward_carver = {0};
    struct saved saved;
    struct yk_backward_workspace workspace;
    carve_saved(net, layer, batch, &saved_carver, &saved);
    (void)yk_projection_allocate_dequantised(net, layer, &forward_carver);
    carve_workspace(net, layer, batch, &backward_carver, &workspace);
    *out = (struct yk_layer_memory_sizes){saved_carver.used, forward_carver.used,
                                          backward_carver.used};
}

static void forward(const struct yk_layer_pass *pass)
{
    const struct yk_attention_shape shape = yk_attention_causal_shape(pass->net->config);
    struct saved saved;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, &pass->batch, &allocator, &saved);
    void *weights = yk_projection_allocate_dequantised(pass->net, pass->layer, &workspace);
    yk_norm_forward(pass, &saved.norm1, pass->input, saved.normed1);
    yk_attention_forward(pass, &shape, &saved.attention, saved.normed1, pass->input, weights,
                         saved.middle);
    yk_norm_forward(pass, &saved.norm2, saved.middle, saved.normed2);
    yk_mlp_forward(pass, &saved.mlp, saved.normed2, saved.middle, weights, pass->output);
}

static void backward(const struct yk_layer_pass *pass)
{
    const struct yk_attention_shape shape = yk_attention_causal_shape(pass->net->config);
    struct saved saved;
    struct yk_backward_workspace workspace;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace_carver = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, &pass->batch, &allocator, &saved);
    carve_workspace(pass->net, pass->layer, &pass->batch, &workspace_carver, &workspace);
    yk_mlp_backward(pass, &saved.mlp, &workspace, saved.normed2, pass->output_gradient, NULL,
                    workspace.narrow);
    /* The gradient of x₂ is computed in the memory of the input's gradient. */
    yk_norm_backward(pass, &saved.norm2, saved.middle, workspace.narrow, pass->output_gradient,
                     pass->input_gradient);
    yk_attention_backward(pass, &shape, &saved.attention, &workspace, saved.normed1,
                          pass->input_gradient, NULL, workspace.narrow);
    yk_norm_backward(pass, &saved.norm1, pass->input, workspace.narrow, pass->input_gradient,
                     pass->input_gradient);
}

#define PRENORM_BLOCK(name_, list_)                                                                \
    {                                                                                              \
        .name = (name_), .is_block = true, .list = (list_), .measure = measure,                    \
        .forward = forward, .backward = backward,                                                  \
    }

const struct yk_layer_kind yk_layer_kind_gpt_block = PRENORM_BLOCK("gpt-block", list_gpt);
const struct yk_layer_kind yk_layer_kind_llama_block = PRENORM_BLOCK("llama-block", list_llama);
