#include "model/modules_tree.h"

/* Causal masks are not listed: the framework no longer keeps them as buffers. */
static void add_block(const struct yk_model_config *config, struct yk_modules *modules)
{
    const int64_t width = config->width;
    yk_modules_set_unsplittable(modules);
    yk_modules_add_norm(modules, "ln_1", width, true);
    yk_modules_open(modules, "attn");
    (void)yk_modules_add_linear(modules, "c_attn", width, 3 * width, true);
    (void)yk_modules_add_linear(modules, "c_proj", width, width, true);
    yk_modules_add_empty(modules, "attn_dropout");
    yk_modules_add_empty(modules, "resid_dropout");
    yk_modules_close(modules);
    yk_modules_add_norm(modules, "ln_2", width, true);
    yk_modules_open(modules, "mlp");
    (void)yk_modules_add_linear(modules, "c_fc", width, config->inner, true);
    (void)yk_modules_add_linear(modules, "c_proj", config->inner, width, true);
    yk_modules_add_empty(modules, "act");
    yk_modules_add_empty(modules, "dropout");
    yk_modules_close(modules);
}

void yk_modules_gpt2(const struct yk_model_config *config, struct yk_modules *modules)
{
    yk_modules_open(modules, "transformer");
    const int32_t tokens =
        yk_modules_add_embedding(modules, "wte", config->vocabulary, config->width);
    (void)yk_modules_add_embedding(modules, "wpe", config->positions, config->width);
    yk_modules_add_empty(modules, "drop");
    yk_modules_open(modules, "h");
    for (int64_t i = 0; i < config->layers; i++) {
        yk_modules_open_numbered(modules, i);
        add_block(config, modules);
        yk_modules_close(modules);
    }
    yk_modules_close(modules);
    yk_modules_add_norm(modules, "ln_f", config->width, true);
    yk_modules_close(modules);
    const int32_t head =
        yk_modules_add_linear(modules, "lm_head", config->width, config->vocabulary, false);
    if (config->tied) {
        yk_modules_tie(modules, head, tokens);
    }
}
