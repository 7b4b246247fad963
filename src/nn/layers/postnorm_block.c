/*
 * Post-norm blocks: y = norm(x + attention(x)), then norm(y + mlp(y)). The block of BERT (Devlin et
 * al. 2019), and the encoder and decoder blocks of the Transformer (Vaswani et al. 2017) with the
 * parameter names of Marian. A decoder block has cross-attention between the two.
 */
#include "nn/layers/mlp.h"
#include "nn/layers/norm.h"
#include "nn/parameter_list.h"

/* Parameter numbers: the norms come first, with weight and bias each. */
enum {
    NORM_SELF = 0,
    NORM_FEED = 2,
    NORM_CROSS = 4,
};

enum {
    CROSS_Q = YK_MLP_PROJECTION_END,
    CROSS_KV,
    CROSS_OUT,
};

struct names {
    const char *queries;
    const char *keys;
    const char *values;
    const char *out;
    const char *norm;
    const char *up;
    const char *down;
    const char *feed_norm;
};

static const struct names bert_names = {
    .queries = "attention.self.query",
    .keys = "attention.self.key",
    .values = "attention.self.value",
    .out = "attention.output.dense",
    .norm = "attention.output.LayerNorm",
    .up = "intermediate.dense",
    .down = "output.dense",
    .feed_norm = "output.LayerNorm",
};

static const struct names marian_names = {
    .queries = "self_attn.q_proj",
    .keys = "self_attn.k_proj",
    .values = "self_attn.v_proj",
    .out = "self_attn.out_proj",
    .norm = "self_attn_layer_norm",
    .up = "fc1",
    .down = "fc2",
    .feed_norm = "final_layer_norm",
};

static void list_block(struct yk_parameter_list *parameters, const struct names *names,
                       int64_t inner)
{
    const int64_t C = parameters->config->width;
    const double spread = parameters->config->init_std;
    const struct yk_projection_spec projections[] = {
        [YK_ATTENTION_PROJECTION_QKV] =
            {{names->queries, names->keys, names->values}, {C, C, C}, C, true, false, spread},
        [YK_ATTENTION_PROJECTION_OUT] = {{names->out}, {C}, C, true, false, spread},
        [YK_MLP_PROJECTION_UP] = {{names->up}, {inner}, C, true, false, spread},
        [YK_MLP_PROJECTION_DOWN] = {{names->down}, {C}, inner, true, false, spread},
    };
    yk_parameter_list_add_projections(parameters, projections, YK_MLP_PROJECTION_END);
}

static void list_norms(struct yk_parameter_list *parameters, const struct names *names)
{
    yk_parameter_list_add_norm(parameters, parameters->modules[0], names->norm);
    yk_parameter_list_add_norm(parameters, parameters->modules[0], names->feed_norm);
}

static void list_bert(struct yk_parameter_list *parameters)
{
    list_norms(parameters, &bert_names);
    list_block(parameters, &bert_names, parameters->config->feed_forward_width);
}

static void list_encoder(struct yk_parameter_list *parameters)
{
    list_norms(parameters, &marian_names);
    list_block(parameters, &marian_names, parameters->config->encoder_inner);
}

static void list_decoder(struct yk_parameter_list *parameters)
{
    const int64_t C = parameters->config->width;
    const double spread = parameters->config->init_std;
    const struct yk_projection_spec cross[] = {
        {{"encoder_attn.q_proj"}, {C}, C, true, false, spread},
        {{"encoder_attn.k_proj", "encoder_attn.v_proj"}, {C, C}, C, true, false, spread},
        {{"encoder_attn.out_proj"}, {C}, C, true, false, spread},
    };
    list_norms(parameters, &marian_names);
    yk_parameter_list_add_norm(parameters, parameters->modules[0], "encoder_attn_layer_norm");
    list_block(parameters, &marian_names, parameters->config->feed_forward_width);
    yk_parameter_list_add_projections(parameters, cross, sizeof cross / sizeof cross[0]);
}

static bool is_decoder(const struct yk_net *net, int32_t layer)
{
    return net->layers[layer].kind == &yk_layer_kind_decoder_block;
}

static struct yk_attention_shape self_shape(const struct yk_net *net, int32_t layer)
{
    const struct yk_model_config *config = net->config;
    const bool encoder = net->layers[layer].kind == &yk_layer_kind_encoder_block;
    struct yk_attention_shape shape = yk_attention_causal_shape(config);
    shape.heads = encoder ? config->encoder_heads : config->heads;
    shape.kv_heads = shape.heads;
    shape.head_size = config->width / shape.heads;
    shape.causal = is_decoder(net, layer);
    shape.measured = !shape.causal; /* padding comes last, so a causal mask hides it */
    return shape;
}

static struct yk_attention_shape cross_shape(const struct yk_net *net)
{
    struct yk_attention_shape shape = yk_attention_causal_shape(net->config);
    shape.queries = CROSS_Q;
    shape.memory = CROSS_KV;
    shape.out = CROSS_OUT;
    shape.drop_attention = YK_DROPOUT_CROSS_ATTENTION;
    shape.drop_out = YK_DROPOUT_CROSS_OUT;
    shape.causal = false;
    shape.measured = true;
    return shape;
}

/* A sum and its norm. */
struct sum {
    void *sum;    /* (rows, C) */
    void *normed; /* NULL for the last norm, which writes the layer's output */
    struct yk_norm norm;
};

/* Activations that forward saves for backward, in addition to the input. */
struct saved {
    struct yk_attention_saved self;
    struct yk_attention_saved cross;
    struct yk_mlp_saved feed;
    struct sum after_self;
    struct sum after_cross;
    struct sum after_feed;
};

static struct sum carve_sum(const struct yk_net *net, int32_t weight, int64_t rows, bool last,
                            struct yk_bump_allocator *allocator)
{
    const enum yk_precision type = net->workload.precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    return (struct sum){
        .sum = yk_bump_allocate(allocator, rows * net->config->width, size),
        .normed = last ? NULL : yk_bump_allocate(allocator, rows * net->config->width, size),
        .norm = yk_norm_allocate(net, weight, type, rows, allocator),
    };
}

static void carve_saved(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                        struct yk_bump_allocator *allocator, struct saved *out)
{
    const int64_t rows = batch->samples * batch->sequence;
    const struct yk_attention_shape self = self_shape(net, layer);
    *out = (struct saved){0};
    yk_attention_allocate_saved(net, layer, &self, batch, allocator, &out->self);
    out->after_self = carve_sum(net, NORM_SELF, rows, false, allocator);
    if (is_decoder(net, layer)) {
        const struct yk_attention_shape cross = cross_shape(net);
        yk_attention_allocate_saved(net, layer, &cross, batch, allocator, &out->cross);
        out->after_cross = carve_sum(net, NORM_CROSS, rows, false, allocator);
    }
    yk_mlp_allocate_saved(net, layer, rows, allocator, &out->feed);
    out->after_feed = carve_sum(net, NORM_FEED, rows, true, allocator);
}

/* The workspace of forward: dequantised weights, and the output of a recomputation. */
struct forward_workspace {
    void *weights;
    void *output;
};

static struct forward_workspace carve_forward(const struct yk_net *net, int32_t layer, int64_t rows,
                                              struct yk_bump_allocator *allocator)
{
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    return (struct forward_workspace){
        .weights = yk_projection_allocate_dequantised(net, layer, allocator),
        .output = yk_bump_allocate(allocator, rows * net->config->width, size),
    };
}

static void carve_backward(const struct yk_net *net, int32_t layer,
                           const struct yk_batch_shape *batch, struct yk_bump_allocator *allocator,
                           struct yk_backward_workspace *out)
{
    const int64_t C = net->config->width;
    const int64_t F = net->layers[layer].projections[YK_MLP_PROJECTION_UP].out;
    const struct yk_backward_workspace_widths widths = {
        .wide = F > 3 * C ? F : 3 * C,
        .narrow = C,
        .memory = is_decoder(net, layer) ? 2 * C : 0,
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
    (void)carve_forward(net, layer, batch->samples * batch->sequence, &forward_carver);
    carve_backward(net, layer, batch, &backward_carver, &workspace);
    *out = (struct yk_layer_memory_sizes){saved_carver.used, forward_carver.used,
                                          backward_carver.used};
}

static void forward(const struct yk_layer_pass *pass)
{
    const struct yk_attention_shape self = self_shape(pass->net, pass->layer);
    struct saved saved;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace_carver = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, &pass->batch, &allocator, &saved);
    const struct forward_workspace workspace =
        carve_forward(pass->net, pass->layer, yk_layer_pass_token_count(pass), &workspace_carver);
    const struct sum *before = &saved.after_self;
    yk_attention_forward(pass, &self, &saved.self, pass->input, pass->input, workspace.weights,
                         before->sum);
    yk_norm_forward(pass, &before->norm, before->sum, before->normed);
    if (is_decoder(pass->net, pass->layer)) {
        const struct yk_attention_shape cross = cross_shape(pass->net);
        yk_attention_forward(pass, &cross, &saved.cross, before->normed, before->normed,
                             workspace.weights, saved.after_cross.sum);
        before = &saved.after_cross;
        yk_norm_forward(pass, &before->norm, before->sum, before->normed);
    }
    yk_mlp_forward(pass, &saved.feed, before->normed, before->normed, workspace.weights,
                   saved.after_feed.sum);
    yk_norm_forward(pass, &saved.after_feed.norm, saved.after_feed.sum,
                    pass->output ? pass->output : workspace.output);
}

/* Replaces the gradient of a norm's output by that of the sum before it. */
static void sum_backward(const struct yk_layer_pass *pass, const struct sum *after, void *gradient)
{
    yk_norm_backward(pass, &after->norm, after->sum, gradient, NULL, gradient);
}

/* The gradient of the residual stream is updated in place, in output_gradient. */
static void backward(const struct yk_layer_pass *pass)
{
    const struct yk_attention_shape self = self_shape(pass->net, pass->layer);
    const bool decoder = is_decoder(pass->net, pass->layer);
    struct saved saved;
    struct yk_backward_workspace workspace;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace_carver = {.base = pass->workspace};
    void *gradient = pass->output_gradient;
    carve_saved(pass->net, pass->layer, &pass->batch, &allocator, &saved);
    carve_backward(pass->net, pass->layer, &pass->batch, &workspace_carver, &workspace);
    const struct sum *before = decoder ? &saved.after_cross : &saved.after_self;
    sum_backward(pass, &saved.after_feed, gradient);
    yk_mlp_backward(pass, &saved.feed, &workspace, before->normed, gradient, gradient, gradient);
    if (decoder) {
        const struct yk_attention_shape cross = cross_shape(pass->net);
        sum_backward(pass, &saved.after_cross, gradient);
        yk_attention_backward(pass, &cross, &saved.cross, &workspace, saved.after_self.normed,
                              gradient, gradient, gradient);
    }
    sum_backward(pass, &saved.after_self, gradient);
    yk_attention_backward(pass, &self, &saved.self, &workspace, pass->input, gradient, gradient,
                          pass->input_gradient);
}

#define POSTNORM_BLOCK(name_, list_)                                                               \
    {                                                                                              \
        .name = (name_), .is_block = true, .list = (list_), .measure = measure,                    \
        .forward = forward, .backward = backward,                                                  \
    }

const struct yk_layer_kind yk_layer_kind_bert_block = POSTNORM_BLOCK("bert-block", list_bert);
const struct yk_layer_kind yk_layer_kind_encoder_block =
    POSTNORM_BLOCK("encoder-block", list_encoder);
const struct yk_layer_kind yk_layer_kind_decoder_block =
    POSTNORM_BLOCK("decoder-block", list_decoder);
