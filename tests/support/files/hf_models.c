#include "support/files/hf_models.h"

#include "model/architecture.h"
#include "support/support.h"

#include <string.h>

struct recorded {
    const char *architecture;
    struct yk_model_config config; /* what models of a family differ by */
};

#define MODEL(name_, architecture_, ...) {#architecture_, {.name = (name_), __VA_ARGS__}},

static const struct recorded models[] = {
#include "planner/auto_cases.inc"
};

static struct yk_model_config configs[sizeof models / sizeof models[0]];

static const struct yk_architecture *find_architecture(const char *name)
{
    for (size_t i = 0; i < yk_architecture_count; i++) {
        if (strcmp(yk_architectures[i].name, name) == 0) {
            return &yk_architectures[i];
        }
    }
    print_error("no architecture \"%s\"\n", name);
    fail();
    return NULL;
}

/* The description that the models of the family share, with what was recorded of this one. */
static struct yk_model_config describe(const struct recorded *model)
{
    const struct yk_model_config *own = &model->config;
    const struct yk_architecture *architecture = find_architecture(model->architecture);
    struct yk_model_config config = architecture->common;
    config.name = own->name;
    config.architecture = architecture;
    config.vocabulary = own->vocabulary;
    config.target_vocabulary = own->target_vocabulary;
    config.width = own->width;
    config.positions = own->positions;
    config.token_types = own->token_types;
    config.layers = own->layers;
    config.encoder_layers = own->encoder_layers;
    config.heads = own->heads;
    config.kv_heads = own->kv_heads;
    config.head_size = own->head_size;
    config.encoder_heads = own->encoder_heads;
    config.feed_forward_width = own->feed_forward_width;
    config.encoder_inner = own->encoder_inner;
    config.tied = own->tied;
    config.shared = own->shared;
    config.qkv_bias = own->qkv_bias;
    config.out_bias = own->out_bias;
    config.inner_bias = own->inner_bias;
    config.pooler = own->pooler;
    config.masked_head = own->masked_head;
    config.rotary_size = config.rope.theta > 0 ? own->head_size : 0;
    return config;
}

const struct yk_model_config *support_hf_config(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (strcmp(models[i].config.name, name) == 0) {
            configs[i] = describe(&models[i]);
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
