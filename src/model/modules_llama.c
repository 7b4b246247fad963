#include "model/modules_tree.h"

static void add_block(const struct yk_model_config *config, struct yk_modules *modules)
{
    const int64_t width = config->width;
    const int64_t queries = config->heads * config->head_size;
    const int64_t keys = config->kv_heads * config->head_size;
    const bool bias = config->linear_bias;
    const bool inner_bias = config->inner_bias;
    yk_modules_set_unsplittable(modules);
    yk_modules_open(modules, "self_attn");
    (void)yk_modules_add_linear(modules, "q_proj", width, queries, bias);
    (void)yk_modules_add_linear(modules, "k_proj", width, keys, bias);
    (void)yk_modules_add_linear(modules, "v_proj", width, keys, bias);
    (void)yk_modules_add_linear(modules, "o_proj", queries, width, bias);
    yk_modules_close(modules);
    yk_modules_open(modules, "mlp");
    (void)yk_modules_add_linear(modules, "gate_proj", width, config->inner, inner_bias);
    (void)yk_modules_add_linear(modules, "up_proj", width, config->inner, inner_bias);
    (void)yk_modules_add_linear(modules, "down_proj", config->inner, width, inner_bias);
    yk_modules_add_empty(modules, "act_fn");
    yk_modules_close(modules);
    yk_modules_add_norm(modules, "input_layernorm", width, false);
    yk_modules_add_norm(modules, "post_attention_layernorm", width, false);
}

void yk_modules_llama(const struct yk_model_config *config, struct yk_modules *modules)
{
    yk_modules_open(modules, "model");
    const int32_t tokens =
        yk_modules_add_embedding(modules, "embed_tokens", config->vocabulary, config->width);
    yk_modules_open(modules, "layers");
    for (int64_t i = 0; i < config->layers; i++) {
        yk_modules_open_numbered(modules, i);
        add_block(config, modules);
        yk_modules_close(modules);
    }
    yk_modules_close(modules);
    yk_modules_add_norm(modules, "norm", config->width, false);
    yk_modules_open(modules, "rotary_emb");
    yk_modules_add_buffer(modules, "inv_freq", YK_MODULE_TENSOR_FLOAT, config->head_size / 2);
    yk_modules_add_buffer(modules, "original_inv_freq", YK_MODULE_TENSOR_FLOAT,
                          config->head_size / 2);
    yk_modules_close(modules);
    yk_modules_close(modules);
    const int32_t head =
        yk_modules_add_linear(modules, "lm_head", config->width, config->vocabulary, false);
    if (config->tied) {
        yk_modules_tie(modules, head, tokens);
    }
}
