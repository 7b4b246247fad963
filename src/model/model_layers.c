#include "model/model_layers.h"

#include "base/number.h"
#include "model/architecture.h"

#include <string.h>

enum {
    SENTENCE_CLASSES = 2, /* next sentence prediction */
};

/* ---- blocks ---- */

/* What the parts of a block need. */
struct block {
    const struct yk_model_config *config;
    const struct yk_workload *workload;
    bool encoder; /* a block of the encoder of an encoder–decoder */
    bool cross;   /* has cross-attention */
    unsigned flags;
    int64_t sequence; /* T */
    int64_t rows;     /* B·T */
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    int64_t inner; /* F */
};

static struct block describe_block(const struct yk_model_builder *model, bool encoder,
                                   unsigned flags)
{
    const struct yk_model_config *config = model->config;
    const bool cross = config->encoder_layers > 0 && !encoder;
    const int64_t sequence = cross ? model->workload.target_sequence : model->workload.sequence;
    return (struct block){
        .config = config,
        .workload = &model->workload,
        .encoder = encoder,
        .cross = cross,
        .flags = flags,
        .sequence = sequence,
        .rows = model->workload.batch * sequence,
        .heads = encoder ? config->encoder_heads : config->heads,
        .kv_heads = encoder ? config->encoder_heads : config->kv_heads,
        .head_size = encoder ? config->width / config->encoder_heads : config->head_size,
        .inner = encoder ? config->encoder_inner : config->feed_forward_width,
    };
}

static bool has_window(const struct block *block)
{
    return (block->flags & YK_BLOCK_WINDOW) && block->config->window > 0;
}

static bool has_rotary(const struct block *block)
{
    return block->config->rope.theta > 0 && !(block->flags & YK_BLOCK_NO_ROPE);
}

static bool has_experts(const struct block *block)
{
    return block->config->experts > 0 && !(block->flags & YK_BLOCK_DENSE);
}

/* The properties in which blocks of the same kind may differ. */
static void append_shape(const struct block *block, struct yk_layer_builder *layer)
{
    static const char *const activations[] = {
        [YK_ACTIVATION_RELU] = " relu",
        [YK_ACTIVATION_RELU_SQUARED] = " relu2",
    };
    const struct yk_model_config *config = block->config;
    yk_layer_builder_append_shape_text(layer, " C%lld F%lld H%lld", (long long)config->width,
                                       (long long)block->inner, (long long)block->heads);
    if (config->rope.theta > 0) {
        const char *bias = config->qkv_bias ? " qkv-bias" : "";
        yk_layer_builder_append_shape_text(
            layer, " KV%lld D%lld%s%s", (long long)config->kv_heads, (long long)config->head_size,
            config->qkv_bias && config->out_bias ? " attention-bias" : bias,
            config->inner_bias ? " inner-bias" : "");
    }
    if (config->activation == YK_ACTIVATION_RELU ||
        config->activation == YK_ACTIVATION_RELU_SQUARED) {
        yk_layer_builder_append_shape_text(layer, "%s", activations[config->activation]);
    }
    if (has_window(block) && config->window < block->sequence) { /* a wider one changes nothing */
        yk_layer_builder_append_shape_text(layer, " window%lld", (long long)config->window);
    }
    if (config->rope.theta > 0 && !has_rotary(block)) {
        yk_layer_builder_append_shape_text(layer, " no-rope");
    }
    if (config->attention_softcap > 0) {
        yk_layer_builder_append_shape_text(layer, " softcap");
    }
    if (config->parallel) {
        yk_layer_builder_append_shape_text(layer, " parallel");
    }
    if (has_experts(block)) {
        yk_layer_builder_append_shape_text(
            layer, " E%lld of%lld X%lld", (long long)config->experts_per_token,
            (long long)config->experts, (long long)config->expert_width);
    }
}

static void add_norm(struct yk_layer_builder *layer, const struct yk_model_config *config,
                     int64_t rows)
{
    yk_layer_builder_add_norm(
        layer, &(struct yk_norm_spec){
                   .kind = config->norm, .rows = rows, .groups = 1, .width = config->width});
}

static void add_qk_norms(const struct block *block, struct yk_layer_builder *layer)
{
    const bool whole = block->config->qk_norm == YK_QK_NORM_WHOLE;
    const int64_t heads[] = {block->heads, block->kv_heads};
    for (int i = 0; block->config->qk_norm != YK_QK_NORM_NONE && i < 2; i++) {
        yk_layer_builder_add_norm(layer, &(struct yk_norm_spec){
                                             .kind = block->config->norm,
                                             .rows = block->rows,
                                             .groups = whole ? 1 : heads[i],
                                             .width = (whole ? heads[i] : 1) * block->head_size,
                                         });
    }
}

static struct yk_attention_spec attention_spec(const struct block *block)
{
    return (struct yk_attention_spec){
        .name = "attention",
        .batch = block->workload->batch,
        .queries = block->sequence,
        .keys = block->sequence,
        .heads = block->heads,
        .kv_heads = block->kv_heads,
        .head_size = block->head_size,
        .causal = !block->encoder && !block->config->bidirectional,
        .window = has_window(block) ? block->config->window : 0,
    };
}

/* Adds a norm after attention or feed-forward if the model has one, and the residual sum. */
static void end_branch(const struct block *block, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = block->config;
    if (yk_architecture_has_module(config, YK_MODULE_ATTENTION_POST_NORM)) {
        add_norm(layer, config, block->rows);
    }
    yk_layer_builder_add_residual(layer, block->rows, config->width);
    if (config->norm_placement == YK_NORM_AFTER_SUM) {
        add_norm(layer, config, block->rows);
    }
}

/* Adds the norm before attention or feed-forward if the model has one. */
static void begin_branch(const struct block *block, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = block->config;
    if (config->norm_placement == YK_NORM_BEFORE ||
        config->norm_placement == YK_NORM_BEFORE_AND_AFTER) {
        yk_layer_builder_add_norm(layer,
                                  &(struct yk_norm_spec){
                                      .kind = config->norm,
                                      .rows = block->rows,
                                      .groups = 1,
                                      .width = config->width,
                                      /* Both norms of a parallel block read the layer's input. */
                                      .input_kept = config->parallel && layer->forward.count > 0,
                                  });
    }
}

static void add_self_attention(const struct block *block, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = block->config;
    const struct yk_attention_spec attention = attention_spec(block);
    const int64_t Q = block->heads * block->head_size;
    const int64_t K = block->kv_heads * block->head_size;
    const bool fused =
        yk_architecture_block_module_name(config, block->encoder, YK_MODULE_QKV) != NULL;
    begin_branch(block, layer);
    yk_layer_builder_add_linear(layer, &(struct yk_linear_spec){"qkv", block->rows, config->width,
                                                                Q + 2 * K, fused ? 1 : 3,
                                                                .bias = config->qkv_bias});
    add_qk_norms(block, layer);
    if (has_rotary(block)) {
        yk_layer_builder_add_rotary(layer, block->rows, Q + K);
    }
    yk_layer_builder_add_attention(layer, &attention);
    yk_layer_builder_add_unused_parameters(layer, config->attention_sinks ? block->heads : 0);
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"out", block->rows, Q, config->width, 1,
                                        .bias = config->out_bias, .input_kept = true});
    end_branch(block, layer);
}

static void add_cross_attention(const struct block *block, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = block->config;
    const int64_t C = config->width;
    const int64_t memory = block->workload->batch * block->workload->sequence;
    struct yk_attention_spec attention = attention_spec(block);
    attention.name = "cross attention";
    attention.keys = block->workload->sequence;
    attention.causal = false;
    begin_branch(block, layer);
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"cross q", block->rows, C, C, 1, .bias = config->qkv_bias});
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"cross kv", memory, C, 2 * C, 2, .bias = config->qkv_bias});
    yk_layer_builder_add_attention(layer, &attention);
    yk_layer_builder_add_linear(layer, &(struct yk_linear_spec){"cross out", block->rows, C, C, 1,
                                                                .bias = config->out_bias,
                                                                .input_kept = true});
    end_branch(block, layer);
    /* The gradients of the encoder's keys and values have a buffer of their own. */
    layer->transient_bytes += 2 * memory * C * yk_precision_bytes(layer->precision);
}

/* A feed-forward of this width, without norm and residual sum. */
static void add_feed_forward(const struct block *block, struct yk_layer_builder *layer,
                             int64_t rows, int64_t inner, int64_t experts, bool bias)
{
    const struct yk_model_config *config = block->config;
    const int64_t parts = config->gated ? 2 : 1;
    const bool fused =
        yk_architecture_block_module_name(config, block->encoder, YK_MODULE_GATE_UP) != NULL;
    yk_layer_builder_add_linear(
        layer,
        &(struct yk_linear_spec){config->gated ? "gate and up" : "up", rows, config->width,
                                 parts * inner, fused ? 1 : parts, .bias = bias, .experts = experts,
                                 .experts_per_token = config->experts_per_token});
    yk_layer_builder_add_activation(layer, config->activation, config->gated, rows, inner);
    yk_layer_builder_add_linear(
        layer, &(struct yk_linear_spec){"down", rows, inner, config->width, 1, .bias = bias,
                                        .experts = experts,
                                        .experts_per_token = config->experts_per_token});
}

static void add_experts(const struct block *block, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = block->config;
    yk_layer_builder_add_linear(layer, &(struct yk_linear_spec){"router", block->rows,
                                                                config->width, config->experts, 1,
                                                                .bias = config->expert_bias});
    add_feed_forward(block, layer, block->rows * config->experts_per_token, config->expert_width,
                     config->experts, config->expert_bias);
    if (config->shared_expert_width > 0) {
        add_feed_forward(block, layer, block->rows, config->shared_expert_width, 0, false);
        yk_layer_builder_add_linear(layer,
                                    &(struct yk_linear_spec){"shared gate", block->rows,
                                                             config->width, 1, 1, .bias = false});
    }
}

/* The width of the widest input of a product with adapters' B, all linears of one input together.
 */
static int64_t adapter_width(const struct block *block)
{
    const struct yk_model_config *config = block->config;
    const bool fused_qkv =
        yk_architecture_block_module_name(config, block->encoder, YK_MODULE_QKV) != NULL;
    const bool fused_gate =
        yk_architecture_block_module_name(config, block->encoder, YK_MODULE_GATE_UP) != NULL;
    const int64_t parts = !fused_qkv ? 3 : config->gated && !fused_gate ? 2 : 1;
    return parts * block->workload->lora_rank;
}

/* The backward pass has all its buffers at once: a wide and a narrow gradient, the gradients of the
 * encoder's keys and values and those between A and B of adapters, and one of a branch before it is
 * normalised or scaled. */
static void hold_backward_buffers(const struct block *block, struct yk_layer_builder *layer)
{
    const struct yk_model_config *config = block->config;
    const int64_t C = config->width;
    const int64_t Q = block->heads * block->head_size;
    const int64_t K = block->kv_heads * block->head_size;
    const int64_t memory = block->cross ? block->workload->batch * block->workload->sequence : 0;
    const bool branch = config->norm_placement == YK_NORM_AFTER ||
                        config->norm_placement == YK_NORM_BEFORE_AND_AFTER ||
                        (config->residual_scale != 0 && config->residual_scale != 1);
    const int64_t widths =
        yk_number_max(block->inner, Q + 2 * K) + yk_number_max(C, Q) + (branch ? C : 0);
    const int64_t numbers = block->rows * widths + 2 * memory * C +
                            yk_number_max(block->rows, memory) * adapter_width(block);
    layer->transient_bytes =
        yk_number_max(layer->transient_bytes, numbers * yk_precision_bytes(layer->precision));
}

static void build_block(const struct yk_model_builder *model, bool encoder, unsigned flags,
                        struct yk_layer_builder *layer)
{
    const struct block block = describe_block(model, encoder, flags);
    const struct yk_workload *workload = &model->workload;
    const int64_t memory = block.cross ? workload->batch * workload->sequence : 0;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_BLOCK,
                                 encoder ? "encoder-block"
                                         : model->config->architecture->block_kind,
                                 block.rows + memory, layer);
    layer->layer.encoder = encoder;
    append_shape(&block, layer);
    if (block.cross) {
        yk_model_builder_append_target_length(model, layer);
    }
    add_self_attention(&block, layer);
    if (block.cross) {
        add_cross_attention(&block, layer);
    }
    begin_branch(&block, layer);
    if (has_experts(&block)) {
        add_experts(&block, layer);
    } else {
        add_feed_forward(&block, layer, block.rows, block.inner, 0, model->config->inner_bias);
    }
    end_branch(&block, layer);
    hold_backward_buffers(&block, layer);
}

/* Adds the blocks of an encoder or decoder after layer `after`. Returns the last of them. */
static int32_t add_blocks(struct yk_model_builder *model, bool encoder, int32_t after)
{
    enum {
        VARIANTS = 8 /* combinations of the flags of a block */
    };
    const struct yk_model_config *config = model->config;
    const bool both = config->encoder_layers > 0;
    const char *name = !both ? "layer" : encoder ? "encoder" : "decoder";
    const int64_t count = encoder ? config->encoder_layers : config->layers;
    const char *module = yk_architecture_module_name(
        config, encoder ? YK_MODULE_ENCODER_BLOCKS : YK_MODULE_BLOCKS, model->arena);
    struct yk_layer variants[VARIANTS] = {{0}};
    int32_t last = after;
    model->failed = model->failed || !module;
    for (int64_t i = 0; i < count && !model->failed; i++) {
        const unsigned flags = encoder ? 0 : yk_model_config_block_flags(config, i);
        struct yk_layer *variant = &variants[flags % VARIANTS];
        if (!variant->kind) {
            struct yk_layer_builder layer;
            build_block(model, encoder, flags, &layer);
            *variant = yk_model_builder_finish_block(model, &layer);
        }
        const int64_t rows =
            model->workload.batch *
            (both && !encoder ? model->workload.target_sequence : model->workload.sequence);
        last = yk_model_builder_add_block(model, variant, i, name, module, last, rows);
    }
    return last;
}

/* ---- other layers ---- */

static void find_modules(struct yk_model_builder *model, enum yk_layer_role role, bool encoder,
                         const char *out[YK_MODEL_BUILDER_MAX_MODULES])
{
    model->failed = model->failed ||
                    !yk_architecture_list_layer_modules(model->config, role, encoder, model->arena,
                                                        out, YK_MODEL_BUILDER_MAX_MODULES);
}

static int32_t add_embedding(struct yk_model_builder *model, bool decoder, int32_t source)
{
    const struct yk_model_config *config = model->config;
    const bool both = config->encoder_layers > 0;
    const bool encoder = both && !decoder;
    const bool norm = config->token_types > 0;
    /* Both embeddings and the head share one table. */
    const bool tied = decoder && config->shared && config->tied;
    const bool idle = encoder && config->shared && !config->tied; /* the shared table is unused */
    const int64_t V = decoder ? yk_model_config_target_vocabulary_size(config) : config->vocabulary;
    const int64_t C = config->width;
    const int64_t length = decoder ? model->workload.target_sequence : model->workload.sequence;
    const int64_t rows = model->workload.batch * length;
    const int64_t positions = config->position_kind == YK_POSITIONS_LEARNED
                                  ? config->first_position + config->positions
                                  : 0;
    const int64_t tables = 1 + (config->position_kind != YK_POSITIONS_NONE) + (norm ? 1 : 0);
    const char *modules[YK_MODEL_BUILDER_MAX_MODULES] = {NULL};
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_EMBEDDING, norm ? "bert-embed" : "embed", 0,
                                 &layer);
    layer.layer.encoder = encoder;
    yk_layer_builder_append_shape_text(&layer, " V%lld C%lld", (long long)V, (long long)C);
    if (positions > 0) {
        yk_layer_builder_append_shape_text(&layer, " P%lld", (long long)positions);
    }
    if (norm) {
        yk_layer_builder_append_shape_text(&layer, " S%lld", (long long)config->token_types);
    }
    if (config->position_kind == YK_POSITIONS_SINUSOIDAL) {
        yk_layer_builder_append_shape_text(&layer, " sinusoids%s%s", idle ? " idle" : "",
                                           tied ? " tied" : "");
    }
    if (decoder) {
        yk_model_builder_append_target_length(model, &layer);
    }
    yk_layer_builder_add_embedding(&layer, rows, C, tables,
                                   tied ? 0 : (V + positions + config->token_types) * C);
    yk_layer_builder_add_unused_parameters(&layer, idle ? V * C : 0);
    if (norm) {
        add_norm(&layer, config, rows);
    }
    find_modules(model, YK_LAYER_ROLE_EMBEDDING, encoder, modules);
    return yk_model_builder_add_layer(model, &layer,
                                      !both     ? "embed"
                                      : encoder ? "encoder embed"
                                                : "decoder embed",
                                      modules, tied ? source : YK_LAYER_NONE);
}

static int32_t add_patch_embedding(struct yk_model_builder *model)
{
    const struct yk_model_config *config = model->config;
    const struct yk_image_shape *image = &config->image;
    const char *modules[YK_MODEL_BUILDER_MAX_MODULES] = {NULL};
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_EMBEDDING, "patch-embed", 0, &layer);
    yk_layer_builder_append_shape_text(&layer, " I%lldx%lldx%lld P%lldx%lld C%lld",
                                       (long long)image->channels, (long long)image->height,
                                       (long long)image->width, (long long)image->patch_height,
                                       (long long)image->patch_width, (long long)config->width);
    yk_layer_builder_add_patch_embedding(&layer,
                                         &(struct yk_patch_embedding_spec){
                                             .batch = model->workload.batch,
                                             .sequence = model->workload.sequence,
                                             .image_bytes = yk_model_config_image_bytes(config),
                                             .in = yk_model_config_patch_size(config),
                                             .out = config->width,
                                         });
    find_modules(model, YK_LAYER_ROLE_EMBEDDING, false, modules);
    return yk_model_builder_add_layer(model, &layer, "embed", modules, YK_LAYER_NONE);
}

static int32_t add_final_norm(struct yk_model_builder *model, int32_t last)
{
    const struct yk_model_config *config = model->config;
    const int64_t rows = model->workload.batch * model->workload.sequence;
    const char *modules[YK_MODEL_BUILDER_MAX_MODULES] = {NULL};
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_NORM, "norm", rows, &layer);
    yk_layer_builder_append_shape_text(
        &layer, config->norm == YK_NORM_RMS ? " rms C%lld%s" : " C%lld%s", (long long)config->width,
        config->classifier ? " first" : "");
    yk_layer_builder_add_norm(&layer, &(struct yk_norm_spec){
                                          .kind = config->norm,
                                          .rows = yk_model_builder_head_rows(model),
                                          .groups = 1,
                                          .width = config->width,
                                          .kept_rows = rows,
                                      });
    find_modules(model, YK_LAYER_ROLE_NORM, false, modules);
    const int32_t norm = yk_model_builder_add_layer(model, &layer, "norm", modules, YK_LAYER_NONE);
    yk_model_builder_add_edge(model, last, norm, rows);
    return norm;
}

static int32_t add_pooler(struct yk_model_builder *model, int32_t last)
{
    const int64_t B = model->workload.batch; /* one token of each sample */
    const int64_t C = model->config->width;
    const char *modules[YK_MODEL_BUILDER_MAX_MODULES] = {NULL};
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_POOLER, "pooler",
                                 model->workload.sequence * B, &layer);
    yk_layer_builder_append_shape_text(&layer, " C%lld", (long long)C);
    yk_layer_builder_add_linear(&layer, &(struct yk_linear_spec){"pool", B, C, C, 1, .bias = true});
    yk_layer_builder_add_activation(&layer, YK_ACTIVATION_TANH, false, B, C);
    layer.layer.keeps_input = false; /* it saves a copy of one token of each sample */
    find_modules(model, YK_LAYER_ROLE_POOLER, false, modules);
    const int32_t pooler =
        yk_model_builder_add_layer(model, &layer, "pooler", modules, YK_LAYER_NONE);
    yk_model_builder_add_edge(model, last, pooler, B * model->workload.sequence);
    return pooler;
}

/* The transform of BERT's head. */
static void add_transform(const struct yk_model_config *config, int64_t rows,
                          struct yk_layer_builder *layer)
{
    const int64_t C = config->width;
    yk_layer_builder_add_linear(layer,
                                &(struct yk_linear_spec){"transform", rows, C, C, 1, .bias = true});
    yk_layer_builder_add_activation(layer, config->head_activation, false, rows, C);
    add_norm(layer, config, rows);
}

/* Adds the head after layer `last`. If the head is tied, it shares the weights of layer `embed`. */
static void add_head(struct yk_model_builder *model, int32_t last, int32_t pooler, int32_t embed)
{
    const struct yk_model_config *config = model->config;
    const int64_t B = model->workload.batch;
    const bool masked = config->masked_head;
    const int64_t rows = yk_model_builder_head_rows(model);
    const int64_t C = config->width;
    const int64_t V = yk_model_config_target_vocabulary_size(config);
    const char *modules[YK_MODEL_BUILDER_MAX_MODULES] = {NULL};
    struct yk_layer_builder layer;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_HEAD,
                                 masked               ? "bert-head"
                                 : config->classifier ? "classifier"
                                                      : "head",
                                 rows, &layer);
    yk_layer_builder_append_shape_text(
        &layer, " C%lld V%lld%s%s%s%s", (long long)C, (long long)V,
        masked && config->head_activation == YK_ACTIVATION_RELU ? " relu" : "",
        config->tied ? " tied" : "", config->logit_softcap > 0 ? " softcap" : "",
        pooler != YK_LAYER_NONE ? " pairs" : "");
    yk_model_builder_append_target_length(model, &layer);
    if (masked) {
        add_transform(config, rows, &layer);
    }
    yk_layer_builder_add_linear(&layer,
                                &(struct yk_linear_spec){"logits", rows, C, V, 1,
                                                         .bias = masked || config->classifier,
                                                         .tied = config->tied, .in_place = true});
    yk_layer_builder_add_loss(&layer, rows, V);
    if (masked && model->workload.lora_rank > 0) {
        /* A frozen product does not save its input, but the transform's output has its buffer. */
        layer.layer.saved_bytes += rows * C * yk_precision_bytes(layer.precision);
    }
    if (masked && !config->tied) { /* the bias of the head's module: the product has its own */
        yk_layer_builder_add_unused_parameters(&layer, V);
    }
    if (pooler != YK_LAYER_NONE) {
        yk_layer_builder_add_linear(&layer,
                                    &(struct yk_linear_spec){"sentence", B, C, SENTENCE_CLASSES, 1,
                                                             .bias = true, .in_place = true});
        yk_layer_builder_add_loss(&layer, B, SENTENCE_CLASSES);
    }
    find_modules(model, YK_LAYER_ROLE_HEAD, false, modules);
    const int32_t head = yk_model_builder_add_layer(model, &layer, "head", modules,
                                                    config->tied ? embed : YK_LAYER_NONE);
    yk_model_builder_add_edge(model, last, head, rows);
    if (pooler != YK_LAYER_NONE) {
        yk_model_builder_add_edge(model, pooler, head, B);
    }
}

static void add_encoder_decoder(struct yk_model_builder *model)
{
    const struct yk_model_config *config = model->config;
    const int64_t source_rows = model->workload.batch * model->workload.sequence;
    const int32_t source = add_embedding(model, false, YK_LAYER_NONE);
    const int32_t encoder = add_blocks(model, true, source);
    const int32_t target = add_embedding(model, true, source);
    const int32_t decoder = add_blocks(model, false, target);
    for (int32_t block = target + 1; block <= decoder; block++) {
        yk_model_builder_add_edge(model, encoder, block, source_rows);
    }
    add_head(model, decoder, YK_LAYER_NONE, config->shared ? source : target);
}

void yk_model_layers_add(struct yk_model_builder *model)
{
    const struct yk_model_config *config = model->config;
    if (config->encoder_layers > 0) {
        add_encoder_decoder(model);
        return;
    }
    const int32_t embed = yk_model_config_reads_images(config)
                              ? add_patch_embedding(model)
                              : add_embedding(model, false, YK_LAYER_NONE);
    int32_t last = add_blocks(model, false, embed);
    if (yk_architecture_module_name(config, YK_MODULE_FINAL_NORM, model->arena)) {
        last = add_final_norm(model, last);
    }
    const int32_t pooler = config->pooler ? add_pooler(model, last) : YK_LAYER_NONE;
    if (yk_architecture_has_module(config, YK_MODULE_HEAD)) {
        add_head(model, last, pooler, embed);
    }
}
