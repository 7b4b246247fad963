/*
 * Block: the transformer block of all families. A block is a chain of sublayers: self-attention, in
 * a decoder also cross-attention to the encoder's output, and an MLP. Each sublayer f adds to the
 * residual stream x. The description says where the norms are, see enum yk_norm_placement:
 *
 *   before             x + f(norm(x))          GPT-2 (Radford et al. 2019), Llama
 *   after the sum      norm(x + f(x))          the Transformer (Vaswani et al. 2017), BERT
 *   after              x + norm(f(x))          OLMo 2
 *   before and after   x + norm(f(norm(x)))    Gemma 2
 *
 * In a parallel block (GPT-NeoX), self-attention and MLP both read the input of the block:
 *
 *   x + attention(norm(x)) + mlp(norm'(x))
 */
#include "base/number.h"
#include "model/architecture.h"
#include "nn/layers/mlp.h"
#include "nn/parameter_list.h"

#include <math.h>

enum sublayer_kind {
    SELF_ATTENTION,
    MLP,
    CROSS_ATTENTION,
    MAX_SUBLAYERS,
};

/* All norms that a block may have, in the order of their parameters, which are the first of the
 * layer. */
enum block_norm {
    NORM, /* of the first kind of sublayer; those of the other kinds follow it */
    POST_NORM = NORM + MAX_SUBLAYERS,
    Q_NORM = POST_NORM + MAX_SUBLAYERS,
    K_NORM,
    BLOCK_NORMS,
};

static const enum yk_module_role norm_roles[BLOCK_NORMS] = {
    [NORM + SELF_ATTENTION] = YK_MODULE_ATTENTION_NORM,
    [NORM + MLP] = YK_MODULE_MLP_NORM,
    [NORM + CROSS_ATTENTION] = YK_MODULE_CROSS_NORM,
    [POST_NORM + SELF_ATTENTION] = YK_MODULE_ATTENTION_POST_NORM,
    [POST_NORM + MLP] = YK_MODULE_MLP_POST_NORM,
    [Q_NORM] = YK_MODULE_Q_NORM,
    [K_NORM] = YK_MODULE_K_NORM,
};

enum {
    CROSS_Q = YK_MLP_PROJECTION_END,
    CROSS_KV,
    CROSS_OUT,
};

static bool has_norm_before(const struct yk_model_config *config)
{
    return config->norm_placement == YK_NORM_BEFORE ||
           config->norm_placement == YK_NORM_BEFORE_AND_AFTER;
}

/* A norm of the output of f, before the sum. */
static bool has_post_norm(const struct yk_model_config *config)
{
    return config->norm_placement == YK_NORM_AFTER ||
           config->norm_placement == YK_NORM_BEFORE_AND_AFTER;
}

static bool has_cross_attention(const struct yk_model_config *config, bool encoder)
{
    return config->encoder_layers > 0 && !encoder;
}

static bool has_norm(const struct yk_model_config *config, bool encoder, enum block_norm norm)
{
    const bool cross = has_cross_attention(config, encoder);
    if (norm >= Q_NORM) {
        return config->qk_norm != YK_QK_NORM_NONE;
    }
    if (norm >= POST_NORM) { /* no family has them together with cross-attention */
        return has_post_norm(config) && norm < POST_NORM + CROSS_ATTENTION;
    }
    return config->norm_placement != YK_NORM_AFTER && (cross || norm < NORM + CROSS_ATTENTION);
}

/* The number of a norm's weight among the parameters of the layer; −1 if there is no such norm. */
static int32_t norm_weight(const struct yk_model_config *config, bool encoder, enum block_norm norm)
{
    int32_t number = 0;
    for (enum block_norm i = NORM; i < norm; i++) {
        number += has_norm(config, encoder, i) ? yk_norm_parameter_count(config) : 0;
    }
    return has_norm(config, encoder, norm) ? number : -1;
}

static struct yk_attention_config self_attention(const struct yk_model_config *config, bool encoder,
                                                 int32_t block)
{
    const bool causal = !encoder && !config->bidirectional;
    return (struct yk_attention_config){
        .queries = YK_ATTENTION_PROJECTION_QKV,
        .memory = -1,
        .out = YK_ATTENTION_PROJECTION_OUT,
        .drop_attention = YK_DROPOUT_ATTENTION,
        .drop_out = YK_DROPOUT_OUT,
        .heads = encoder ? config->encoder_heads : config->heads,
        .kv_heads = encoder ? config->encoder_heads : config->kv_heads,
        .head_size = encoder ? config->width / config->encoder_heads : config->head_size,
        .flags = encoder ? 0 : yk_model_config_block_flags(config, block),
        .window = encoder ? 0 : yk_model_config_block_window(config, block),
        .q_norm = norm_weight(config, encoder, Q_NORM),
        .k_norm = norm_weight(config, encoder, K_NORM),
        .interleaved = config->interleaved,
        .causal = causal,
        /* Padding comes last, so a causal mask hides it. Images have none. */
        .measured = !causal && !yk_model_config_reads_images(config),
    };
}

static struct yk_attention_config cross_attention(const struct yk_model_config *config)
{
    return (struct yk_attention_config){
        .queries = CROSS_Q,
        .memory = CROSS_KV,
        .out = CROSS_OUT,
        .drop_attention = YK_DROPOUT_CROSS_ATTENTION,
        .drop_out = YK_DROPOUT_CROSS_OUT,
        .heads = config->heads,
        .kv_heads = config->kv_heads,
        .head_size = config->head_size,
        .q_norm = -1,
        .k_norm = -1,
        .measured = true,
    };
}

/* ---- parameters ---- */

static const char *name_of(const struct yk_parameter_list *parameters, enum yk_module_role role)
{
    return yk_architecture_block_module_name(parameters->config, parameters->encoder, role);
}

static void list_norms(struct yk_parameter_list *parameters,
                       const struct yk_attention_config *shape)
{
    const struct yk_model_config *config = parameters->config;
    const bool whole = config->qk_norm == YK_QK_NORM_WHOLE;
    for (enum block_norm norm = NORM; norm < BLOCK_NORMS; norm++) {
        const int64_t heads = norm == Q_NORM ? shape->heads : shape->kv_heads;
        const int64_t all_heads = (whole ? heads : 1) * shape->head_size;
        if (has_norm(config, parameters->encoder, norm)) {
            yk_parameter_list_add_norm(parameters, parameters->modules[0],
                                       name_of(parameters, norm_roles[norm]),
                                       norm >= Q_NORM ? all_heads : config->width);
        }
    }
}

/* Queries, keys and values: three linears, or one for all. */
static struct yk_projection_spec qkv_spec(const struct yk_parameter_list *parameters,
                                          const struct yk_attention_config *shape)
{
    const struct yk_model_config *config = parameters->config;
    const int64_t Q = shape->heads * shape->head_size;
    const int64_t K = shape->kv_heads * shape->head_size;
    const char *fused = name_of(parameters, YK_MODULE_QKV);
    struct yk_projection_spec spec = {
        .parts = {name_of(parameters, YK_MODULE_Q), name_of(parameters, YK_MODULE_K),
                  name_of(parameters, YK_MODULE_V)},
        .out = {Q, K, K},
        .in = config->width,
        .bias = config->qkv_bias,
        .transposed = config->transposed,
        .spread = config->init_std,
    };
    if (fused) {
        spec.parts[0] = fused;
        spec.parts[1] = NULL;
        spec.out[0] = Q + 2 * K;
    }
    return spec;
}

/* The first projection of the MLP: gate and up, two linears or one for both; or only up. */
static struct yk_projection_spec up_spec(const struct yk_parameter_list *parameters, int64_t F)
{
    const struct yk_model_config *config = parameters->config;
    const char *fused = config->gated ? name_of(parameters, YK_MODULE_GATE_UP) : NULL;
    const char *up = name_of(parameters, YK_MODULE_UP);
    struct yk_projection_spec spec = {
        .parts = {config->gated ? name_of(parameters, YK_MODULE_GATE) : up,
                  config->gated ? up : NULL},
        .out = {F, F},
        .in = config->width,
        .bias = config->inner_bias,
        .transposed = config->transposed,
        .spread = config->init_std,
    };
    if (fused) {
        spec.parts[0] = fused;
        spec.parts[1] = NULL;
        spec.out[0] = 2 * F;
    }
    return spec;
}

/* A projection into the residual stream. */
static struct yk_projection_spec out_spec(const struct yk_parameter_list *parameters,
                                          enum yk_module_role role, int64_t in, bool bias)
{
    const struct yk_model_config *config = parameters->config;
    /* The divisor is the root of the number of projections into the residual stream. */
    const double divisor = config->scaled_init ? sqrt(2 * (double)config->layers) : 1;
    return (struct yk_projection_spec){
        .parts = {name_of(parameters, role)},
        .out = {config->width},
        .in = in,
        .bias = bias,
        .transposed = config->transposed,
        .spread = config->init_std / divisor,
    };
}

static void list_cross_attention(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const int64_t Q = config->heads * config->head_size;
    const int64_t K = config->kv_heads * config->head_size;
    const struct yk_projection_spec projections[] = {
        {.parts = {name_of(parameters, YK_MODULE_CROSS_Q)},
         .out = {Q},
         .in = config->width,
         .bias = config->qkv_bias,
         .transposed = config->transposed,
         .spread = config->init_std},
        {.parts = {name_of(parameters, YK_MODULE_CROSS_K), name_of(parameters, YK_MODULE_CROSS_V)},
         .out = {K, K},
         .in = config->width,
         .bias = config->qkv_bias,
         .transposed = config->transposed,
         .spread = config->init_std},
        out_spec(parameters, YK_MODULE_CROSS_OUT, Q, config->out_bias),
    };
    yk_parameter_list_add_projections(parameters, parameters->modules[0], projections,
                                      sizeof projections / sizeof projections[0]);
}

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const struct yk_attention_config shape = self_attention(config, parameters->encoder, 0);
    const int64_t F = parameters->encoder ? config->encoder_inner : config->feed_forward_width;
    const struct yk_projection_spec projections[YK_MLP_PROJECTION_END] = {
        [YK_ATTENTION_PROJECTION_QKV] = qkv_spec(parameters, &shape),
        [YK_ATTENTION_PROJECTION_OUT] =
            out_spec(parameters, YK_MODULE_OUT, shape.heads * shape.head_size, config->out_bias),
        [YK_MLP_PROJECTION_UP] = up_spec(parameters, F),
        [YK_MLP_PROJECTION_DOWN] = out_spec(parameters, YK_MODULE_DOWN, F, config->inner_bias),
    };
    list_norms(parameters, &shape);
    yk_parameter_list_add_projections(parameters, parameters->modules[0], projections,
                                      YK_MLP_PROJECTION_END);
    if (has_cross_attention(config, parameters->encoder)) {
        list_cross_attention(parameters);
    }
}

/* ---- memory ---- */

/* A sublayer with the activations that forward saves for backward, in addition to its input. A
 * buffer that the norms of the model do not need is NULL. */
struct sublayer {
    enum sublayer_kind kind;
    struct yk_attention_config shape;
    struct yk_attention_saved_activations attention;
    struct yk_mlp_saved_activations mlp;
    struct yk_norm norm;
    struct yk_norm post_norm;
    void *sum;    /* (rows, C) the residual stream after the sublayer; NULL for the last sublayer if
                     that is the layer's output */
    void *normed; /* (rows, C) output of `norm`; NULL as for `sum` */
    void *branch; /* (rows, C) input of `post_norm` */
};

struct sublayers {
    struct sublayer items[MAX_SUBLAYERS];
    int32_t count;
};

static void allocate_norms(const struct yk_net *net, int32_t layer, int64_t rows, bool last,
                           struct yk_bump_allocator *allocator, struct sublayer *out)
{
    const struct yk_model_config *config = net->config;
    const bool encoder = net->layers[layer].encoder;
    const bool after_sum = config->norm_placement == YK_NORM_AFTER_SUM;
    const enum yk_precision type = net->workload.precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    const int64_t numbers = rows * config->width;
    const int32_t norm = norm_weight(config, encoder, NORM + (enum block_norm)out->kind);
    const int32_t post_norm = norm_weight(config, encoder, POST_NORM + (enum block_norm)out->kind);
    if (norm >= 0) {
        out->norm = yk_norm_allocate_statistics(net, norm, type, rows, allocator);
    }
    /* The norms of a parallel block read the layer's input instead of the sum. */
    if (after_sum || (!last && !config->parallel)) {
        out->sum = yk_bump_allocate(allocator, numbers, size);
    }
    if (has_norm_before(config) || (after_sum && !last)) {
        out->normed = yk_bump_allocate(allocator, numbers, size);
    }
    if (post_norm >= 0) {
        out->post_norm = yk_norm_allocate_statistics(net, post_norm, type, rows, allocator);
        out->branch = yk_bump_allocate(allocator, numbers, size);
    }
}

static void allocate_saved(const struct yk_net *net, int32_t layer,
                           const struct yk_batch_shape *batch, struct yk_bump_allocator *allocator,
                           struct sublayers *out)
{
    const struct yk_model_config *config = net->config;
    const struct yk_net_layer *at = &net->layers[layer];
    const bool cross = has_cross_attention(config, at->encoder);
    const enum sublayer_kind kinds[] = {SELF_ATTENTION, cross ? CROSS_ATTENTION : MLP, MLP};
    const int64_t rows = batch->samples * batch->sequence;
    const int32_t count = cross ? 3 : 2;
    *out = (struct sublayers){.count = count};
    for (int32_t i = 0; i < count; i++) {
        struct sublayer *sublayer = &out->items[i];
        sublayer->kind = kinds[i];
        if (kinds[i] == MLP) {
            yk_mlp_allocate_saved(net, layer, rows, allocator, &sublayer->mlp);
        } else {
            sublayer->shape = kinds[i] == CROSS_ATTENTION
                                  ? cross_attention(config)
                                  : self_attention(config, at->encoder, at->block);
            yk_attention_allocate_saved(net, layer, &sublayer->shape, batch, allocator,
                                        &sublayer->attention);
        }
        allocate_norms(net, layer, rows, i + 1 == count, allocator, sublayer);
    }
}

/* The workspace of forward. */
struct forward_workspace {
    void *weights; /* dequantised weights */
    /* (rows, C) In a parallel block, the sum of the input and attention. Otherwise the output of a
     * recomputation; NULL if all norms come first, because then it is not computed. */
    void *output;
};

static struct forward_workspace allocate_forward(const struct yk_net *net, int32_t layer,
                                                 int64_t rows, struct yk_bump_allocator *allocator)
{
    struct forward_workspace workspace = {
        .weights = yk_projection_allocate_dequantised_weights(net, layer, allocator)};
    if (net->config->norm_placement != YK_NORM_BEFORE || net->config->parallel) {
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
        .memory = has_cross_attention(net->config, at->encoder) ? projections[CROSS_KV].out : 0,
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

/* ---- forward ---- */

/* Computes to = stream + f(x), or f(x) if `stream` is NULL. */
static void sublayer_forward(const struct yk_layer_pass *pass, const struct sublayer *sublayer,
                             const void *x, const void *stream, void *weights, void *to)
{
    if (sublayer->kind == MLP) {
        yk_mlp_forward(pass, &sublayer->mlp, x, stream, weights, to);
    } else {
        yk_attention_forward(pass, &sublayer->shape, &sublayer->attention, x, stream, weights, to);
    }
}

/* Adds a sublayer to the residual stream: `to` is the stream after it. */
static void add_sublayer(const struct yk_layer_pass *pass, const struct sublayer *sublayer,
                         const void *x, const void *stream, void *weights, void *to)
{
    const struct yk_model_config *config = pass->net->config;
    const void *input = x;
    if (has_norm_before(config)) {
        yk_norm_forward(pass, &sublayer->norm, x, NULL, sublayer->normed);
        input = sublayer->normed;
    }
    if (has_post_norm(config)) {
        sublayer_forward(pass, sublayer, input, NULL, weights, sublayer->branch);
        yk_norm_forward(pass, &sublayer->post_norm, sublayer->branch, stream, to);
    } else {
        sublayer_forward(pass, sublayer, input, stream, weights, to);
    }
}

static void forward(const struct yk_layer_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    struct sublayers sublayers;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace_allocator = {.base = pass->workspace};
    allocate_saved(pass->net, pass->layer, &pass->batch, &allocator, &sublayers);
    const struct forward_workspace workspace = allocate_forward(
        pass->net, pass->layer, yk_layer_pass_token_count(pass), &workspace_allocator);
    /* The last sum of a recomputation need not be computed if all norms come first. */
    void *output = pass->output || config->parallel ? pass->output : workspace.output;
    const void *stream = pass->input;
    for (int32_t i = 0; i < sublayers.count; i++) {
        const struct sublayer *sublayer = &sublayers.items[i];
        const bool last = i + 1 == sublayers.count;
        void *sum = sublayer->sum ? sublayer->sum : last ? output : workspace.output;
        add_sublayer(pass, sublayer, config->parallel ? pass->input : stream, stream,
                     workspace.weights, sum);
        stream = sum;
        if (config->norm_placement == YK_NORM_AFTER_SUM) {
            void *normed = sublayer->normed ? sublayer->normed : output;
            yk_norm_forward(pass, &sublayer->norm, sum, NULL, normed);
            stream = normed;
        }
    }
}

/* ---- backward ---- */

/* Computes dx = add + the gradient of x, where `gradient` is the gradient of f(x). dx may be NULL.
 */
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

/* Whether nobody needs the gradients of the inputs of a sublayer and of its norm. The parameters of
 * norms are frozen where the input of a block is. */
static bool is_input_frozen(const struct yk_layer_pass *pass, int32_t sublayer)
{
    return pass->input_frozen && pass->net->workload.lora_rank > 0 && sublayer == 0;
}

/* The gradient of f's output, where `gradient` is that of the sum. */
static const void *branch_gradient(const struct yk_layer_pass *pass,
                                   const struct sublayer *sublayer,
                                   const struct yk_backward_workspace *workspace,
                                   const void *gradient)
{
    if (!has_post_norm(pass->net->config)) {
        return gradient;
    }
    yk_norm_backward(pass, &sublayer->post_norm, sublayer->branch, gradient, NULL,
                     workspace->branch);
    return workspace->branch;
}

/* Blocks whose norms come first: the gradient of the residual stream is updated in input_gradient.
 * In a parallel block, the gradient of every sublayer's output is output_gradient. */
static void backward_norm_first(const struct yk_layer_pass *pass, const struct sublayers *sublayers,
                                const struct yk_backward_workspace *workspace)
{
    const bool parallel = pass->net->config->parallel;
    const void *gradient = pass->output_gradient;
    for (int32_t i = sublayers->count - 1; i >= 0; i--) {
        const struct sublayer *sublayer = &sublayers->items[i];
        const void *x = i > 0 && !parallel ? sublayer[-1].sum : pass->input;
        const void *sum_gradient = parallel ? pass->output_gradient : gradient;
        const bool frozen = is_input_frozen(pass, i);
        sublayer_backward(pass, sublayer, workspace, sublayer->normed,
                          branch_gradient(pass, sublayer, workspace, sum_gradient), NULL,
                          frozen ? NULL : workspace->narrow);
        if (!frozen) {
            yk_norm_backward(pass, &sublayer->norm, x, workspace->narrow, gradient,
                             pass->input_gradient);
            gradient = pass->input_gradient;
        }
    }
}

/* Blocks whose norms come last: the gradient of the residual stream is updated in
 * output_gradient. */
static void backward_norm_last(const struct yk_layer_pass *pass, const struct sublayers *sublayers,
                               const struct yk_backward_workspace *workspace)
{
    const bool after_sum = pass->net->config->norm_placement == YK_NORM_AFTER_SUM;
    void *gradient = pass->output_gradient;
    for (int32_t i = sublayers->count - 1; i >= 0; i--) {
        const struct sublayer *sublayer = &sublayers->items[i];
        const struct sublayer *before = i > 0 ? sublayer - 1 : NULL;
        const void *x = !before ? pass->input : after_sum ? before->normed : before->sum;
        if (after_sum) {
            yk_norm_backward(pass, &sublayer->norm, sublayer->sum, gradient, NULL, gradient);
        }
        sublayer_backward(pass, sublayer, workspace, x,
                          branch_gradient(pass, sublayer, workspace, gradient), gradient,
                          before                     ? gradient
                          : is_input_frozen(pass, i) ? NULL
                                                     : pass->input_gradient);
    }
}

static void backward(const struct yk_layer_pass *pass)
{
    struct sublayers sublayers;
    struct yk_backward_workspace workspace;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    struct yk_bump_allocator workspace_allocator = {.base = pass->workspace};
    allocate_saved(pass->net, pass->layer, &pass->batch, &allocator, &sublayers);
    allocate_backward(pass->net, pass->layer, &pass->batch, &workspace_allocator, &workspace);
    if (has_norm_before(pass->net->config)) {
        backward_norm_first(pass, &sublayers, &workspace);
    } else {
        backward_norm_last(pass, &sublayers, &workspace);
    }
}

const struct yk_layer_kind yk_layer_kind_block = {
    .block = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
