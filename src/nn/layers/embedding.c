/*
 * Embedding: the first layer of an encoder or decoder. The output is the token's row of the table,
 * which may be scaled, plus a learned or sinusoidal position. The table is the layer's own or that
 * of another layer. The embedding of BERT (Devlin et al. 2019) also adds the row of segment 0, and
 * ends with a norm.
 */
#include "nn/layers/norm.h"
#include "nn/layers/residual.h"
#include "nn/parameter_list.h"

#include <math.h>

/* Parameter numbers. The table of segments and the norm follow the tables that the model has. */
enum {
    TOKENS,
    POSITIONS,
};

static bool has_positions(const struct yk_model_config *config)
{
    return config->position_kind == YK_POSITIONS_LEARNED;
}

static bool has_segments(const struct yk_model_config *config)
{
    return config->token_types > 0;
}

/* All models with segments have a norm, and no others. */
static bool has_norm(const struct yk_model_config *config)
{
    return has_segments(config);
}

static int32_t segments_of(const struct yk_model_config *config)
{
    return has_positions(config) ? POSITIONS + 1 : POSITIONS;
}

static int32_t norm_of(const struct yk_model_config *config)
{
    return segments_of(config) + (has_segments(config) ? 1 : 0);
}

static void list_table(struct yk_parameter_list *parameters, enum yk_module_role role, int64_t rows)
{
    yk_parameter_list_add_embedding(parameters, yk_parameter_list_module_name(parameters, role),
                                    rows, parameters->config->width);
}

/*
 * The table of the encoder's tokens. Marian with "share_encoder_decoder_embeddings" but untied
 * weights: encoder, decoder and head have a table each, and the shared table is kept but unused.
 */
static void list_encoder_tokens(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    if (config->shared && config->tied) {
        list_table(parameters, YK_MODULE_SHARED_EMBEDDING, config->vocabulary);
        return;
    }
    list_table(parameters, YK_MODULE_ENCODER_EMBEDDING, config->vocabulary);
    if (config->shared) {
        yk_parameter_list_add_buffer(
            parameters, yk_parameter_list_module_name(parameters, YK_MODULE_SHARED_EMBEDDING),
            "weight", config->vocabulary, config->width);
    }
}

static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    if (parameters->follows) {
        return;
    }
    if (config->encoder_layers > 0 && !parameters->decodes) {
        list_encoder_tokens(parameters);
    } else {
        list_table(parameters, YK_MODULE_EMBEDDING, yk_model_config_target_vocabulary_size(config));
    }
    if (has_positions(config)) {
        list_table(parameters, YK_MODULE_POSITIONS, config->first_position + config->positions);
    }
    if (has_segments(config)) {
        list_table(parameters, YK_MODULE_TOKEN_TYPES, config->token_types);
    }
    if (has_norm(config)) {
        yk_parameter_list_add_norm(
            parameters, NULL, yk_parameter_list_module_name(parameters, YK_MODULE_EMBEDDING_NORM),
            config->width);
    }
}

/* What forward saves for backward. */
struct saved {
    void *sum; /* (rows, C) the input of the norm; NULL means: there is no norm */
    struct yk_norm norm;
};

static struct saved allocate_saved(const struct yk_net *net, int64_t rows,
                                   struct yk_bump_allocator *allocator)
{
    const enum yk_precision type = net->workload.precision;
    if (!has_norm(net->config)) {
        return (struct saved){0};
    }
    return (struct saved){
        .sum = yk_bump_allocate(allocator, rows * net->config->width,
                                (size_t)yk_precision_bytes(type)),
        .norm = yk_norm_allocate_statistics(net, norm_of(net->config), type, rows, allocator),
    };
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_memory_sizes *out)
{
    struct yk_bump_allocator allocator = {0};
    (void)layer;
    (void)allocate_saved(net, batch->samples * batch->sequence, &allocator);
    *out = (struct yk_layer_memory_sizes){.saved_bytes = allocator.used};
}

static int64_t vocabulary_of(const struct yk_layer_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    return pass->net->layers[pass->layer].decodes ? yk_model_config_target_vocabulary_size(config)
                                                  : config->vocabulary;
}

/* Rounds to the nearest number with `bits` significant bits. */
static double round_to_bits(double value, int bits)
{
    int exponent = 0;
    const double fraction = frexp(value, &exponent);
    return ldexp(rint(ldexp(fraction, bits)), exponent - bits);
}

static float scale_of(const struct yk_net *net)
{
    enum {
        BF16_BITS = 8,
        FP16_BITS = 11,
    };
    const double scale = net->config->embedding_scale > 0 ? net->config->embedding_scale : 1;
    if (!net->config->embedding_scale_rounded || !yk_net_is_16_bit(net)) {
        return (float)scale;
    }
    return (float)round_to_bits(scale, net->workload.precision == YK_PRECISION_BF16 ? BF16_BITS
                                                                                    : FP16_BITS);
}

/* The row of the first token in the table of learned positions, or in its gradient. */
static void *first_position(const struct yk_layer_pass *owner, void *table)
{
    const struct yk_model_config *config = owner->net->config;
    const enum yk_precision type = yk_layer_pass_parameter_precision(owner, POSITIONS);
    return table ? (char *)table + config->first_position * config->width * yk_precision_bytes(type)
                 : NULL;
}

/* The table of positions; NULL means: positions are not added. */
static const void *positions_table(const struct yk_layer_pass *owner)
{
    const struct yk_model_config *config = owner->net->config;
    if (!has_positions(config)) {
        return owner->position_tables.sinusoidal;
    }
    return first_position(owner, yk_layer_pass_parameter_weights(owner, POSITIONS));
}

static void *positions_gradient(const struct yk_layer_pass *owner)
{
    const struct yk_model_config *config = owner->net->config;
    if (!has_positions(config)) {
        return NULL;
    }
    return first_position(owner, yk_layer_pass_parameter_gradient(owner, POSITIONS));
}

/* out = the rows of the tables, plus `shift` (C) unless it is NULL. */
static void look_up(const struct yk_layer_pass *pass, const void *shift, void *out)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    pass->store->context.backend->embedding(
        pass->lane, &(struct yk_embedding_op){
                        .rows = yk_layer_pass_token_count(pass),
                        .width = config->width,
                        .sequence = pass->batch.sequence,
                        .vocabulary = vocabulary_of(pass),
                        .tokens = pass->tokens,
                        .table = yk_layer_pass_parameter_weights(&owner, TOKENS),
                        .positions = positions_table(&owner),
                        .shift = shift,
                        .out = out,
                        .scale = scale_of(pass->net),
                        .table_type = yk_layer_pass_parameter_precision(&owner, TOKENS),
                        .out_type = pass->net->workload.precision,
                    });
}

/* Adds the gradient of the output to the gradients of the tables. */
static void look_up_backward(const struct yk_layer_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    pass->store->context.backend->embedding_backward(
        pass->lane, &(struct yk_embedding_backward_op){
                        .rows = yk_layer_pass_token_count(pass),
                        .width = config->width,
                        .sequence = pass->batch.sequence,
                        .vocabulary = vocabulary_of(pass),
                        .tokens = pass->tokens,
                        .d_out = pass->output_gradient,
                        .d_table = yk_layer_pass_parameter_gradient(&owner, TOKENS),
                        .d_positions = positions_gradient(&owner),
                        .scale = scale_of(pass->net),
                        .table_type = pass->net->workload.precision,
                        .out_type = pass->net->workload.precision,
                    });
}

static void forward(const struct yk_layer_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct saved saved =
        allocate_saved(pass->net, yk_layer_pass_token_count(pass), &allocator);
    const void *segment = has_segments(config)
                              ? yk_layer_pass_parameter_weights(pass, segments_of(config))
                              : NULL; /* row 0 */
    look_up(pass, segment, saved.sum ? saved.sum : pass->output);
    if (saved.sum) {
        yk_norm_forward(pass, &saved.norm, saved.sum, NULL, pass->output);
    }
    yk_residual_apply_dropout_in_place(pass, YK_DROPOUT_EMBEDDING, pass->output);
}

static void segments_backward(const struct yk_layer_pass *pass)
{
    const struct yk_model_config *config = pass->net->config;
    pass->store->context.backend->sum_rows(
        pass->lane, &(struct yk_sum_rows_op){
                        .rows = yk_layer_pass_token_count(pass),
                        .columns = config->width,
                        .from = pass->output_gradient,
                        .stride = config->width,
                        .to = yk_layer_pass_parameter_gradient(pass, segments_of(config)),
                        .from_type = pass->net->workload.precision,
                        .to_type = pass->net->workload.precision,
                    });
}

static void backward(const struct yk_layer_pass *pass)
{
    const struct yk_layer_pass owner = yk_layer_pass_of_weights_owner(pass);
    struct yk_bump_allocator allocator = {.base = pass->saved};
    const struct saved saved =
        allocate_saved(pass->net, yk_layer_pass_token_count(pass), &allocator);
    void *gradient = pass->output_gradient;
    if (!yk_layer_pass_parameter_gradient(&owner, TOKENS)) {
        return;
    }
    yk_residual_apply_dropout_in_place(pass, YK_DROPOUT_EMBEDDING, gradient);
    if (saved.sum) {
        yk_norm_backward(pass, &saved.norm, saved.sum, gradient, NULL, gradient);
    }
    look_up_backward(pass);
    if (has_segments(pass->net->config)) {
        segments_backward(pass);
    }
}

const struct yk_layer_kind yk_layer_kind_embedding = {
    .reads_tokens = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
