#include "support/files/hf_models.h"

#include "model/architecture.h"
#include "support/support.h"

#include <string.h>

/* What was recorded of a model: its sizes, and what its family does not say. */
struct recorded {
    const char *name;
    const char *architecture;
    int64_t vocabulary, width, positions, token_types, layers, encoder_layers;
    int64_t heads, kv_heads, head_size, encoder_heads, feed_forward_width, encoder_inner;
    bool tied, shared, linear_bias, inner_bias, pooler, masked_head;
};

#define MODEL(name_, architecture_, ...)                                                           \
    {.name = (name_), .architecture = #architecture_, __VA_ARGS__},

static const struct recorded recorded[] = {
#include "planner/auto_cases.inc"
};

enum {
    COUNT = sizeof recorded / sizeof recorded[0]
};

static const struct yk_architecture *find_architecture(const char *name)
{
    for (size_t i = 0; i < yk_architecture_count; i++) {
        if (strcmp(yk_architectures[i].name, name) == 0) {
            return &yk_architectures[i];
        }
    }
    print_error("no family is called \"%s\"\n", name);
    fail();
    return NULL;
}

static struct yk_model_config make_config(const struct recorded *from)
{
    const struct yk_architecture *architecture = find_architecture(from->architecture);
    struct yk_model_config config = architecture->common;
    config.name = from->name;
    config.architecture = architecture;
    config.vocabulary = from->vocabulary;
    config.width = from->width;
    config.positions = from->positions;
    config.token_types = from->token_types;
    config.layers = from->layers;
    config.encoder_layers = from->encoder_layers;
    config.heads = from->heads;
    config.kv_heads = from->kv_heads;
    config.head_size = from->head_size;
    config.rotary_size = config.rope.theta > 0 ? from->head_size : 0;
    config.encoder_heads = from->encoder_heads;
    config.feed_forward_width = from->feed_forward_width;
    config.encoder_inner = from->encoder_inner;
    config.tied = from->tied;
    config.shared = from->shared;
    config.qkv_bias = from->linear_bias;
    config.out_bias = from->linear_bias;
    config.inner_bias = from->inner_bias;
    config.pooler = from->pooler;
    config.masked_head = from->masked_head;
    return config;
}

const struct yk_model_config *support_hf_config(const char *name)
{
    static struct yk_model_config configs[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(recorded[i].name, name) == 0) {
            configs[i] = make_config(&recorded[i]);
            return &configs[i];
        }
    }
    print_error("no model \"%s\" was recorded\n", name);
    fail();
    return NULL;
}

const struct yk_module_tree *support_hf_modules(const char *name, struct yk_arena *arena)
{
    const struct yk_module_tree *modules = NULL;
    assert_ok(yk_module_tree_build(support_hf_config(name), arena, &modules));
    return modules;
}
