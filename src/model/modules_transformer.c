#include "model/modules_tree.h"

/* The framework lists Marian's classes as splittable, one and all. */

static void add_attention(const struct yk_model_config *config, struct yk_modules *modules,
                          const char *name)
{
    const int64_t width = config->width;
    yk_modules_open(modules, name);
    (void)yk_modules_add_linear(modules, "k_proj", width, width, true);
    (void)yk_modules_add_linear(modules, "v_proj", width, width, true);
    (void)yk_modules_add_linear(modules, "q_proj", width, width, true);
    (void)yk_modules_add_linear(modules, "out_proj", width, width, true);
    yk_modules_close(modules);
}

static void add_feed_forward(struct yk_modules *modules, int64_t width, int64_t inner)
{
    (void)yk_modules_add_linear(modules, "fc1", width, inner, true);
    (void)yk_modules_add_linear(modules, "fc2", inner, width, true);
    yk_modules_add_norm(modules, "final_layer_norm", width, true);
}

static void add_encoder_block(const struct yk_model_config *config, struct yk_modules *modules)
{
    add_attention(config, modules, "self_attn");
    yk_modules_add_norm(modules, "self_attn_layer_norm", config->width, true);
    yk_modules_add_empty(modules, "activation_fn");
    add_feed_forward(modules, config->width, config->encoder_inner);
}

static void add_decoder_block(const struct yk_model_config *config, struct yk_modules *modules)
{
    add_attention(config, modules, "self_attn");
    yk_modules_add_empty(modules, "activation_fn");
    yk_modules_add_norm(modules, "self_attn_layer_norm", config->width, true);
    add_attention(config, modules, "encoder_attn");
    yk_modules_add_norm(modules, "encoder_attn_layer_norm", config->width, true);
    add_feed_forward(modules, config->width, config->inner);
}

static void add_blocks(const struct yk_model_config *config, struct yk_modules *modules,
                       bool decoder)
{
    yk_modules_open(modules, "layers");
    for (int64_t i = 0; i < (decoder ? config->layers : config->encoder_layers); i++) {
        yk_modules_open_numbered(modules, i);
        if (decoder) {
            add_decoder_block(config, modules);
        } else {
            add_encoder_block(config, modules);
        }
        yk_modules_close(modules);
    }
    yk_modules_close(modules);
}

/* An encoder or decoder; returns its embedding, which is tied to `shared` unless that is NONE.
 * Positions are fixed sinusoids, which the framework keeps as parameters all the same. */
static int32_t add_stack(const struct yk_model_config *config, struct yk_modules *modules,
                         bool decoder, int32_t shared)
{
    yk_modules_open(modules, decoder ? "decoder" : "encoder");
    const int64_t vocabulary =
        decoder ? yk_model_config_target_vocabulary(config) : config->vocabulary;
    const int32_t tokens =
        yk_modules_add_embedding(modules, "embed_tokens", vocabulary, config->width);
    if (shared != YK_MODULE_NONE) {
        yk_modules_tie(modules, tokens, shared);
    }
    (void)yk_modules_add_embedding(modules, "embed_positions", config->positions, config->width);
    add_blocks(config, modules, decoder);
    yk_modules_close(modules);
    return tokens;
}

/* Without tied weights the framework keeps even the shared embedding three times. */
void yk_modules_transformer(const struct yk_model_config *config, struct yk_modules *modules)
{
    const int64_t predicted = yk_model_config_target_vocabulary(config);
    int32_t shared = YK_MODULE_NONE;
    yk_modules_add_buffer(modules, "final_logits_bias", YK_MODULE_TENSOR_FLOAT, predicted);
    yk_modules_open(modules, "model");
    if (config->shared) {
        shared = yk_modules_add_embedding(modules, "shared", config->vocabulary, config->width);
    }
    const int32_t original = config->tied ? shared : YK_MODULE_NONE;
    (void)add_stack(config, modules, false, original);
    const int32_t target = add_stack(config, modules, true, original);
    yk_modules_close(modules);
    const int32_t head = yk_modules_add_linear(modules, "lm_head", config->width, predicted, false);
    if (config->tied) {
        yk_modules_tie(modules, head, config->shared ? shared : target);
    }
}
