#include "nn/layers/mlp.h"

#include <assert.h>

enum yk_matmul_epilogue yk_mlp_activation_epilogue(enum yk_activation activation, bool backward)
{
    assert(activation != YK_ACTIVATION_TANH); /* no feed-forward has it */
    switch (activation) {
    case YK_ACTIVATION_GELU_TANH:
        return backward ? YK_EPILOGUE_GELU_BACKWARD : YK_EPILOGUE_GELU;
    case YK_ACTIVATION_GELU:
        return backward ? YK_EPILOGUE_GELU_ERF_BACKWARD : YK_EPILOGUE_GELU_ERF;
    case YK_ACTIVATION_RELU:
        return backward ? YK_EPILOGUE_RELU_BACKWARD : YK_EPILOGUE_RELU;
    case YK_ACTIVATION_RELU_SQUARED:
        return backward ? YK_EPILOGUE_RELU_SQUARED_BACKWARD : YK_EPILOGUE_RELU_SQUARED;
    case YK_ACTIVATION_SILU:
        return backward ? YK_EPILOGUE_SILU_BACKWARD : YK_EPILOGUE_SILU;
    case YK_ACTIVATION_TANH:
        break;
    }
    return YK_EPILOGUE_NONE;
}

/* The backward pass of ReLU needs only the output. */
static bool keeps_up(const struct yk_model_config *config)
{
    return config->gated || config->activation != YK_ACTIVATION_RELU;
}

void yk_mlp_allocate_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                           struct yk_bump_allocator *allocator,
                           struct yk_mlp_saved_activations *out)
{
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const struct yk_projection *up = &net->layers[layer].projections[YK_MLP_PROJECTION_UP];
    const struct yk_projection *down = &net->layers[layer].projections[YK_MLP_PROJECTION_DOWN];
    out->up = keeps_up(net->config) ? yk_bump_allocate(allocator, rows * up->out, size) : NULL;
    out->active = yk_bump_allocate(allocator, rows * down->in, size);
    out->inner_up =
        yk_projection_allocate_lora_inner(net, layer, YK_MLP_PROJECTION_UP, rows, allocator);
    out->inner_down =
        yk_projection_allocate_lora_inner(net, layer, YK_MLP_PROJECTION_DOWN, rows, allocator);
}

static int64_t inner_width(const struct yk_layer_pass *pass)
{
    return pass->net->layers[pass->layer].projections[YK_MLP_PROJECTION_DOWN].in;
}

/* The epilogue of the projection next to the activation. */
static enum yk_matmul_epilogue epilogue(const struct yk_model_config *config, bool backward)
{
    return config->gated ? YK_EPILOGUE_NONE
                         : yk_mlp_activation_epilogue(config->activation, backward);
}

/* Whether the op of the gate adds what the adapters contribute to its inputs, and to the gradient
 * of its output, and computes the gradient of A of the adapter beside down. Then these matrices,
 * the widest of a block, are written and read less often. */
static bool glu_adds_adapters(const struct yk_layer_pass *pass)
{
    const struct yk_net *net = pass->net;
    return net->config->gated &&
           net->layers[pass->layer].projections[YK_MLP_PROJECTION_UP].a >= 0 &&
           yk_ops_glu_supports_lora_terms(net->workload.precision, net->config->activation,
                                          inner_width(pass), net->workload.lora_rank);
}

/* What adapters add to the columns of gate or up, which begin at column `first` of gate_up; nothing
 * if the projection has added it. */
static struct yk_lora_term term_at(const struct yk_layer_pass *pass,
                                   const struct yk_mlp_saved_activations *saved, int64_t first)
{
    return glu_adds_adapters(pass)
               ? yk_projection_get_output_term(pass, YK_MLP_PROJECTION_UP, first, saved->inner_up)
               : (struct yk_lora_term){0};
}

void yk_mlp_forward(const struct yk_layer_pass *pass, const struct yk_mlp_saved_activations *saved,
                    const void *x, const void *stream, void *weights, void *to)
{
    const struct yk_model_config *config = pass->net->config;
    const bool gated = config->gated;
    yk_projection_forward(pass, YK_MLP_PROJECTION_UP,
                          &(struct yk_projection_forward_arguments){
                              .x = x,
                              .y = gated ? saved->up : saved->active,
                              .epilogue = epilogue(config, false),
                              .aux = gated ? NULL : saved->up,
                              .inner = saved->inner_up,
                              .weights = weights,
                              .skip_adapter = glu_adds_adapters(pass),
                          });
    if (gated) {
        pass->store->context.backend->glu(pass->lane,
                                          &(struct yk_glu_op){
                                              .rows = yk_layer_pass_token_count(pass),
                                              .width = inner_width(pass),
                                              .activation = config->activation,
                                              .gate_up = saved->up,
                                              .out = saved->active,
                                              .type = pass->net->workload.precision,
                                              .gate_term = term_at(pass, saved, 0),
                                              .up_term = term_at(pass, saved, inner_width(pass)),
                                          });
    }
    if (to) {
        yk_residual_add_projection_output(pass, YK_MLP_PROJECTION_DOWN, YK_DROPOUT_DOWN,
                                          saved->active, stream, saved->inner_down, weights, to);
    } else if (saved->inner_down) {
        /* Backward needs only `inner` of the last projection. */
        yk_projection_recompute_lora_inner(pass, YK_MLP_PROJECTION_DOWN, saved->active,
                                           saved->inner_down);
    }
}

void yk_mlp_backward(const struct yk_layer_pass *pass, const struct yk_mlp_saved_activations *saved,
                     const struct yk_backward_workspace *workspace, const void *x,
                     const void *gradient, const void *add, void *dx)
{
    const struct yk_model_config *config = pass->net->config;
    const bool gated = config->gated;
    const bool terms = glu_adds_adapters(pass);
    void *up_bias = gated ? NULL : yk_projection_get_bias_gradient(pass, YK_MLP_PROJECTION_UP);
    yk_projection_backward(
        pass, YK_MLP_PROJECTION_DOWN,
        &(struct yk_projection_backward_arguments){
            .x = saved->active,
            .dy = yk_residual_backward(pass, YK_DROPOUT_DOWN, gradient, workspace->branch),
            .dx = workspace->wide,
            .epilogue = epilogue(config, true),
            .aux = gated       ? NULL
                   : saved->up ? saved->up
                               : saved->active,
            .inner = saved->inner_down,
            .d_inner = workspace->d_inner,
            .weights = workspace->weights,
            .dx_sums = up_bias,
            .skip_adapter = terms,
        });
    if (gated) {
        struct yk_glu_backward_op op = {
            .rows = yk_layer_pass_token_count(pass),
            .width = inner_width(pass),
            .activation = config->activation,
            .gate_up = saved->up,
            .d_out = workspace->wide,
            .d_gate_up = saved->up,
            .type = pass->net->workload.precision,
            .gate_term = term_at(pass, saved, 0),
            .up_term = term_at(pass, saved, inner_width(pass)),
        };
        if (terms) {
            op.d_out_term = yk_projection_get_input_gradient_term(pass, YK_MLP_PROJECTION_DOWN,
                                                                  workspace->d_inner);
            op.out = saved->active;
            op.d_factor = yk_projection_get_lora_a_gradient(pass, YK_MLP_PROJECTION_DOWN);
        }
        pass->store->context.backend->glu_backward(pass->lane, &op);
    }
    yk_projection_backward(pass, YK_MLP_PROJECTION_UP,
                           &(struct yk_projection_backward_arguments){
                               .x = x,
                               .dy = gated ? saved->up : workspace->wide,
                               .dx = dx,
                               .add = add,
                               .inner = saved->inner_up,
                               .d_inner = workspace->d_inner,
                               .weights = workspace->weights,
                               .bias_summed = up_bias != NULL,
                           });
}
