/*
 * Blocks: the transformer blocks of all architectures. A block is a chain of sublayers:
 * self-attention, in a decoder also cross-attention to the encoder's output, and an MLP. Each
 * sublayer f has a norm and adds to the residual stream x:
 *
 *   pre-norm    x + f(norm(x))   GPT-2 (Radford et al. 2019), Llama (Touvron et al. 2023)
 *   post-norm   norm(x + f(x))   BERT (Devlin et al. 2019), the Transformer (Vaswani et al. 2017)
 *                                with the parameter names of Marian
 *
 * Struct yk_block_spec describes everything else in which the kinds of blocks differ.
 */
#include "base/number.h"
#include "nn/layers/mlp.h"
#include "nn/layers/norm.h"
#include "nn/parameter_list.h"

#include <math.h>

/* In the order of the norms' parameters, which are the first of the layer. */
enum sublayer_kind {
    SELF_ATTENTION,
    MLP,
    CROSS_ATTENTION,
    MAX_SUBLAYERS,
};

enum {
    CROSS_Q = YK_MLP_PROJECTION_END,
    CROSS_KV,
    CROSS_OUT,
};

struct yk_block_spec {
    const char *norms[MAX_SUBLAYERS]; /* the norm of each sublayer */
    const char *qkv[3]; /* the linears of queries, keys and values, or one linear for all three */
    const char *out;
    const char *up[2]; /* the gate and the up projection of a gated MLP, or the up projection */
    const char *down;
    bool transposed;  /* weights are stored as (in, out) */
    bool scaled_init; /* projections into the residual stream start smaller */
    bool encoder;     /* the block belongs to the encoder of an encoder–decoder */
    bool causal;
    bool cross; /* has cross-attention */
};

static const struct yk_block_spec gpt_block = {
    .norms = {[SELF_ATTENTION] = "ln_1", [MLP] = "ln_2"},
    .qkv = {"attn.c_attn"},
    .out = "attn.c_proj",
    .up = {"mlp.c_fc"},
    .down = "mlp.c_proj",
    .transposed = true,
    .scaled_init = true,
    .causal = true,
};

static const struct yk_block_spec llama_block = {
    .norms = {[SELF_ATTENTION] = "input_layernorm", [MLP] = "post_attention_layernorm"},
    .qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
    .out = "self_attn.o_proj",
    .up = {"mlp.gate_proj", "mlp.up_proj"},
    .down = "mlp.down_proj",
    .causal = true,
};

static const struct yk_block_spec bert_block = {
    .norms = {[SELF_ATTENTION] = "attention.output.LayerNorm", [MLP] = "output.LayerNorm"},
    .qkv = {"attention.self.query", "attention.self.key", "attention.self.value"},
    .out = "attention.output.dense",
    .up = {"intermediate.dense"},
    .down = "output.dense",
};

#define MARIAN_NAMES                                                                               \
    .norms = {[SELF_ATTENTION] = "self_attn_layer_norm",                                           \
              [MLP] = "final_layer_norm",                                                          \
              [CROSS_ATTENTION] = "encoder_attn_layer_norm"},                                      \
    .qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},                           \
    .out = "self_attn.out_proj", .up = {"fc1"}, .down = "fc2"

static const struct yk_block_spec encoder_block = {MARIAN_NAMES, .encoder = true};
static const struct yk_block_spec decoder_block = {MARIAN_NAMES, .causal = true, .cross = true};

static struct yk_attention_config attention_shape(const struct yk_model_config *config,
                                                  const struct yk_block_spec *block, bool cross)
{
    const bool causal = block->causal && !cross;
    return (struct yk_attention_config){
        .queries = cross ? CROSS_Q : YK_ATTENTION_PROJECTION_QKV,
        .memory = cross ? CROSS_KV : -1,
        .out = cross ? CROSS_OUT : YK_ATTENTION_PROJECTION_OUT,
        .drop_attention = cross ? YK_DROPOUT_CROSS_ATTENTION : YK_DROPOUT_ATTENTION,
        .drop_out = cross ? YK_DROPOUT_CROSS_OUT : YK_DROPOUT_OUT,
        .heads = block->encoder ? config->encoder_heads : config->heads,
        .kv_heads = block->encoder ? config->encoder_heads : config->kv_heads,
        .head_size = block->encoder ? config->width / config->encoder_heads : config->head_size,
        .causal = causal,
        .measured = !causal, /* padding comes last, so a causal mask hides it */
    };
}

static void list_cross_attention(struct yk_parameter_list *parameters)
{
    const int64_t C = parameters->config->width;
    const double spread = parameters->config->init_std;
    const struct yk_projection_spec projections[] = {
        {{"encoder_attn.q_proj"}, {C}, C, true, false, spread},
        {{"encoder_attn.k_proj", "encoder_attn.v_proj"}, {C, C}, C, true, false, spread},
        {{"encoder_attn.out_proj"}, {C}, C, true, false, spread},
    };
    yk_parameter_list_add_projections(parameters, projections,
                                      sizeof projections / sizeof projections[0]);
}

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const struct yk_block_spec *block = parameters->kind->block;
    const struct yk_attention_config shape = attention_shape(config, block, false);
    const int64_t C = config->width;
    const int64_t F = block->encoder ? config->encoder_inner : config->feed_forward_width;
    const int64_t Q = shape.heads * shape.head_size;
    const int64_t K = shape.kv_heads * shape.head_size;
    const double spread = config->init_std;
    /* The divisor is the root of the number of projections into the residual stream. */
    const double residual = block->scaled_init ? spread / sqrt(2 * (double)config->layers) : spread;
    const struct yk_projection_spec projections[YK_MLP_PROJECTION_END] = {
        [YK_ATTENTION_PROJECTION_QKV] = {.parts = {block->qkv[0], block->qkv[1], block->qkv[2]},
                                         .out = {block->qkv[1] ? Q : Q + 2 * K, K, K},
                                         .in = C,
                                         .bias = config->linear_bias,
                                         .transposed = block->transposed,
                                         .spread = spread},
        [YK_ATTENTION_PROJECTION_OUT] =
            {{block->out}, {C}, Q, config->linear_bias, block->transposed, residual},
        [YK_MLP_PROJECTION_UP] = {.parts = {block->up[0], block->up[1]},
                                  .out = {F, F},
                                  .in = C,
                                  .bias = config->inner_bias,
                                  .transposed = block->transposed,
                                  .spread = spread},
        [YK_MLP_PROJECTION_DOWN] =
            {{block->down}, {C}, F, config->inner_bias, block->transposed, residual},
    };
    for (int i = 0; i < (block->cross ? MAX_SUBLAYERS : CROSS_ATTENTION); i++) {
        yk_parameter_list_add_norm(parameters, parameters->modules[0], block->norms[i]);
    }
    yk_parameter_list_add_projections(parameters, projections, YK_MLP_PROJECTION_END);
    if (block->cross) {
        list_cross_attention(parameters);
    }
}

/* A sublayer with the activations that forward saves for backward, in addition to its input. */
struct sublayer {
    enum sublayer_kind kind;
    struct yk_attention_config shape;
    struct yk_attention_saved_activations attention;
    struct yk_mlp_saved_activations mlp;
    struct yk_norm norm;
    void *sum;    /* (rows, C) x + f; NULL for the last sublayer if that is the layer's output */
    void *normed; /* (rows, C) output of the norm; NULL as for `sum` */
};

struct sublayers {
    struct sublayer items[MAX_SUBLAYERS];
    int32_t count;
};

static void allocate_saved(const struct yk_net *net, int32_t layer,
                           const struct yk_batch_shape *batch, struct yk_bump_allocator *allocator,
                           struct sublayers *out)
{
    const struct yk_block_spec *block = net->layers[layer].kind->block;
    const enum sublayer_kind kinds[] = {SELF_ATTENTION, block->cross ? CROSS_ATTENTION : MLP, MLP};
    const enum yk_precision type = net->workload.precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    const int64_t rows = batch->samples * batch->sequence;
    const int64_t numbers = rows * net->config->width;
    const int32_t count = block->cross ? 3 : 2;
    *out = (struct sublayers){.count = count};
    for (int32_t i = 0; i < count; i++) {
        struct sublayer *sublayer = &out->items[i];
        const bool last = i + 1 == count;
        const int32_t norm_weight = (int32_t)kinds[i] * (net->config->rms_norm ? 1 : 2);
        sublayer->kind = kinds[i];
        if (kinds[i] == MLP) {
            yk_mlp_allocate_saved(net, layer, rows, allocator, &sublayer->mlp);
        } else {
            sublayer->shape = attention_shape(net->config, block, kinds[i] == CROSS_ATTENTION);
            yk_attention_allocate_saved(net, layer, &sublayer->shape, batch, allocator,
                                        &sublayer->attention);
        }
        sublayer->norm = yk_norm_allocate_statistics(net, norm_weight, type, rows, allocator);
        if (!last || net->config->post_norm) {
            sublayer->sum = yk_bump_allocate(allocator, numbers, size);
        }
        if (!last || !net->config->post_norm) {
            sublayer->normed = yk_bump_allocate(allocator, numbers, size);
        }
    }
}

/* The workspace of forward. */
struct forward_workspace {
    void *weights; /* dequantised weights */
    void *output;  /* the output of a recomputation; NULL if norms come first, because then it is
                      not computed */
};

static struct forward_workspace allocate_forward(const struct yk_net *net, int32_t layer,
                                                 int64_t rows, struct yk_bump_allocator *allocator)
{
    struct forward_workspace workspace = {
        .weights = yk_projection_allocate_dequantised_weights(net, layer, allocator)};
    if (net->config->post_norm) {
        workspace.output = yk_bump_allocate(allocator, rows * net->config->width,
                                            (size_t)yk_precision_bytes(net->workload.precision));
    }
    return workspace;
}

static void allocate_backward(const struct yk_net *net, int32_t layer,
                              const struct yk_batch_shape *batch,
                              struct yk_bump_allocator *allocator,
                              struct yk_backward_workspace *out)
{
    const struct yk_net_layer *at = &net->layers[layer];
    const struct yk_projection *projections = at->projections;
    const struct yk_backward_workspace_widths widths = {
        .wide = yk_number_max(projections[YK_MLP_PROJECTION_DOWN].in,
                              projections[YK_ATTENTION_PROJECTION_QKV].out),
        .narrow = yk_number_max(net->config->width, projections[YK_ATTENTION_PROJECTION_OUT].in),
        .memory = at->kind->block->cross ? projections[CROSS_KV].out : 0,
    };
    yk_residual_allocate_backward_workspace(net, layer, batch, &widths, allocator, out);
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out)
{
    struct yk_bump_allocator saved = {0};
    struct yk_bump_allocator forward = {0};
    struct yk_bump_allocator backward = {0};
    struct sublayers sublayers;
    struct yk_backward_workspace workspace;
    allocate_saved(net, layer, batch, &saved, &sublayers);
    (void)allocate_forward(net, layer, batch->samples * batch->sequence, &forward);
    allocate_backward(net, layer, batch, &backward, &workspace);
    *out = (struct yk_layer_memory_sizes){saved.used, forward.used, backward.used};
}

/* Computes to = stream + f(x). */
static void sublayer_forward(const struct yk_layer_pass *pass, const struct sublayer *sublayer,
                             const void *x, const void *stream, void *weights, void *to)
{
    if (sublayer->kind == MLP) {
        yk_mlp_forward(pass, &sublayer->mlp, x, stream, weights, to);
    } else {
        yk_attention_forward(pass, &sublayer->shape, &sublayer->attention, x, stream, weights, to);
    }
}

static void forward(const struct yk_layer_pass *pass)
{
    struct sublayers sublayers;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace_allocator = {.base = pass->workspace};
    allocate_saved(pass->net, pass->layer, &pass->batch, &allocator, &sublayers);
    const struct forward_workspace workspace = allocate_forward(
        pass->net, pass->layer, yk_layer_pass_token_count(pass), &workspace_allocator);
    void *output = pass->output ? pass->output : workspace.output;
    const void *x = pass->input;
    for (int32_t i = 0; i < sublayers.count; i++) {
        const struct sublayer *sublayer = &sublayers.items[i];
        void *sum = sublayer->sum ? sublayer->sum : output;
        void *normed = sublayer->normed ? sublayer->normed : output;
        if (pass->net->config->post_norm) {
            sublayer_forward(pass, sublayer, x, x, workspace.weights, sum);
            yk_norm_forward(pass, &sublayer->norm, sum, normed);
            x = normed;
        } else {
            yk_norm_forward(pass, &sublayer->norm, x, normed);
            sublayer_forward(pass, sublayer, normed, x, workspace.weights, sum);
            x = sum;
        }
    }
}

/* Computes dx = add + the gradient of x, where `gradient` is the gradient of f(x). */
static void sublayer_backward(const struct yk_layer_pass *pass, const struct sublayer *sublayer,
                              const struct yk_backward_workspace *workspace, const void *x,
                              const void *gradient, const void *add, void *dx)
{
    if (sublayer->kind == MLP) {
        yk_mlp_backward(pass, &sublayer->mlp, workspace, x, gradient, add, dx);
    } else {
        yk_attention_backward(pass, &sublayer->shape, &sublayer->attention, workspace, x, gradient,
                              add, dx);
    }
}

/* The gradient of the residual stream is updated in place: in output_gradient if norms come last,
 * in input_gradient if they come first. */
static void backward(const struct yk_layer_pass *pass)
{
    struct sublayers sublayers;
    struct yk_backward_workspace workspace;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace_allocator = {.base = pass->workspace};
    void *gradient = pass->output_gradient;
    allocate_saved(pass->net, pass->layer, &pass->batch, &allocator, &sublayers);
    allocate_backward(pass->net, pass->layer, &pass->batch, &workspace_allocator, &workspace);
    for (int32_t i = sublayers.count - 1; i >= 0; i--) {
        const struct sublayer *sublayer = &sublayers.items[i];
        const struct sublayer *before = i > 0 ? sublayer - 1 : NULL;
        if (pass->net->config->post_norm) {
            yk_norm_backward(pass, &sublayer->norm, sublayer->sum, gradient, NULL, gradient);
            sublayer_backward(pass, sublayer, &workspace, before ? before->normed : pass->input,
                              gradient, gradient, before ? gradient : pass->input_gradient);
        } else {
            sublayer_backward(pass, sublayer, &workspace, sublayer->normed, gradient, NULL,
                              workspace.narrow);
            yk_norm_backward(pass, &sublayer->norm, before ? before->sum : pass->input,
                             workspace.narrow, gradient, pass->input_gradient);
            gradient = pass->input_gradient;
        }
    }
}

#define BLOCK(name_, block_)                                                                       \
    {                                                                                              \
        .name = (name_), .block = (block_), .list = list, .measure = measure, .forward = forward,  \
        .backward = backward,                                                                      \
    }

const struct yk_layer_kind yk_layer_kind_gpt_block = BLOCK("gpt-block", &gpt_block);
const struct yk_layer_kind yk_layer_kind_llama_block = BLOCK("llama-block", &llama_block);
const struct yk_layer_kind yk_layer_kind_bert_block = BLOCK("bert-block", &bert_block);
const struct yk_layer_kind yk_layer_kind_encoder_block = BLOCK("encoder-block", &encoder_block);
const struct yk_layer_kind yk_layer_kind_decoder_block = BLOCK("decoder-block", &decoder_block);
