#include "model/module_tree.h"

#include "model/architecture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 64
};

struct yk_module_tree_growth {
    struct yk_arena *arena;
    int32_t open;
    int32_t module_capacity;
    int32_t tensor_capacity;
    bool failed;
};

/* Makes space for one more element. The old array stays in the arena. */
static void *grow(struct yk_module_tree_growth *growth, void *array, int32_t count,
                  int32_t *capacity, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    const int32_t wanted = *capacity > 0 ? *capacity * 2 : FIRST_CAPACITY;
    void *larger = wanted > 0 ? yk_arena_allocate(growth->arena, (size_t)wanted, size) : NULL;
    if (!larger) {
        growth->failed = true;
        return array;
    }
    if (count > 0) {
        memcpy(larger, array, (size_t)count * size);
    }
    *capacity = wanted;
    return larger;
}

/* "parent.name" */
static const char *full_name(struct yk_module_tree *modules, const char *name)
{
    struct yk_module_tree_growth *growth = modules->growth;
    const char *parent = growth->open >= 0 ? modules->modules[growth->open].name : "";
    const char *full = yk_arena_format(growth->arena, "%s%s%s", parent, parent[0] ? "." : "", name);
    growth->failed = growth->failed || !full;
    return full ? full : "";
}

static void open_module(struct yk_module_tree *modules, const char *name)
{
    struct yk_module_tree_growth *growth = modules->growth;
    const char *full = full_name(modules, name);
    modules->modules = grow(growth, modules->modules, modules->module_count,
                            &growth->module_capacity, sizeof *modules->modules);
    if (growth->failed) {
        return;
    }
    modules->modules[modules->module_count] = (struct yk_module){
        .name = full,
        .parent = growth->open,
        .first_tensor = modules->tensor_count,
    };
    growth->open = modules->module_count++;
}

static void close_module(struct yk_module_tree *modules)
{
    struct yk_module_tree_growth *growth = modules->growth;
    if (growth->failed) {
        return;
    }
    struct yk_module *module = &modules->modules[growth->open];
    module->end = modules->module_count;
    growth->open = module->parent;
}

static void set_unsplittable(struct yk_module_tree *modules)
{
    if (!modules->growth->failed) {
        modules->modules[modules->growth->open].unsplittable = true;
    }
}

static int32_t add_tensor(struct yk_module_tree *modules, const char *name,
                          struct yk_module_tensor tensor)
{
    struct yk_module_tree_growth *growth = modules->growth;
    tensor.name = full_name(modules, name);
    tensor.module = growth->open;
    tensor.tied_to = YK_MODULE_NONE;
    modules->tensors = grow(growth, modules->tensors, modules->tensor_count,
                            &growth->tensor_capacity, sizeof *modules->tensors);
    if (growth->failed) {
        return 0;
    }
    modules->tensors[modules->tensor_count] = tensor;
    modules->modules[growth->open].tensor_count++;
    return modules->tensor_count++;
}

static int32_t add_parameter(struct yk_module_tree *modules, const char *name, int64_t elements)
{
    return add_tensor(
        modules, name,
        (struct yk_module_tensor){.kind = YK_MODULE_TENSOR_FLOAT, .elements = elements});
}

static void add_buffer(struct yk_module_tree *modules, const char *name,
                       enum yk_module_tensor_type kind, int64_t elements)
{
    (void)add_tensor(modules, name,
                     (struct yk_module_tensor){.kind = kind, .buffer = true, .elements = elements});
}

static void tie_parameters(struct yk_module_tree *modules, int32_t parameter, int32_t earlier)
{
    if (!modules->growth->failed) {
        modules->tensors[parameter].tied_to = earlier;
    }
}

static int32_t add_linear(struct yk_module_tree *modules, const char *name, int64_t in, int64_t out,
                          bool bias)
{
    open_module(modules, name);
    const int32_t weight = add_parameter(modules, "weight", in * out);
    if (bias) {
        (void)add_parameter(modules, "bias", out);
    }
    close_module(modules);
    return weight;
}

static void add_norm(struct yk_module_tree *modules, const struct yk_model_config *config,
                     int64_t width)
{
    (void)add_parameter(modules, "weight", width);
    if (config->norm == YK_NORM_LAYER) {
        (void)add_parameter(modules, "bias", width);
    }
}

/* ---- from the lists of a family ---- */

struct listing {
    const struct yk_model_config *config;
    struct yk_module_tree *modules;
    bool encoder;      /* the modules belong to the encoder of an encoder–decoder */
    int32_t table;     /* number of the table to which other tables and the head are tied */
    int32_t head_bias; /* number of the bias of BERT's head */
};

/* Whether a module contains the module with this full name. */
static bool contains(const char *module, const char *name)
{
    const size_t length = strlen(module);
    return length == 0 || (strncmp(module, name, length) == 0 && name[length] == '.');
}

/* Closes modules until the open one contains the module `name`. */
static void close_until(struct yk_module_tree *modules, const char *name)
{
    struct yk_module_tree_growth *growth = modules->growth;
    while (!growth->failed && !contains(modules->modules[growth->open].name, name)) {
        close_module(modules);
    }
}

/* Opens the module with this full name, and the modules that contain it. */
static void open_path(struct yk_module_tree *modules, const char *name)
{
    struct yk_module_tree_growth *growth = modules->growth;
    close_until(modules, name);
    if (growth->failed) {
        return;
    }
    const size_t depth = strlen(modules->modules[growth->open].name);
    const char *part = name + depth + (depth > 0 ? 1 : 0);
    while (*part && !growth->failed) {
        const size_t length = strcspn(part, ".");
        char own[128];
        (void)snprintf(own, sizeof own, "%.*s", (int)length, part);
        open_module(modules, own);
        part += length + (part[length] == '.' ? 1 : 0);
    }
}

static void add_table(struct listing *listing, int64_t rows, bool tied)
{
    struct yk_module_tree *modules = listing->modules;
    const int32_t table = add_parameter(modules, "weight", rows * listing->config->width);
    if (tied && listing->table != YK_MODULE_NONE) {
        tie_parameters(modules, table, listing->table);
    } else {
        listing->table = table;
    }
    if (listing->config->embedding_scale_rounded) {
        add_buffer(modules, "embed_scale", YK_MODULE_TENSOR_FLOAT, 1);
    }
}

/* Gemma 3 has frequencies for each type of block that it has. */
static void add_frequencies(const struct listing *listing)
{
    const struct yk_model_config *config = listing->config;
    const int64_t pairs = config->rotary_size / 2;
    bool has[2] = {false, false};
    if (config->local_rope.theta == 0) {
        add_buffer(listing->modules, "inv_freq", YK_MODULE_TENSOR_FLOAT, pairs);
        add_buffer(listing->modules, "original_inv_freq", YK_MODULE_TENSOR_FLOAT, pairs);
        return;
    }
    for (int64_t i = 0; i < config->layers; i++) {
        const bool window = yk_model_config_block_flags(config, i) & YK_BLOCK_WINDOW;
        char name[64];
        for (int k = 0; !has[window] && k < 2; k++) {
            (void)snprintf(name, sizeof name, "%s_attention_%sinv_freq",
                           window ? "sliding" : "full", k > 0 ? "original_" : "");
            add_buffer(listing->modules, name, YK_MODULE_TENSOR_FLOAT, pairs);
        }
        has[window] = true;
    }
}

static void add_head(struct listing *listing)
{
    const struct yk_model_config *config = listing->config;
    const int64_t V = yk_model_config_target_vocabulary_size(config);
    const int32_t head = add_parameter(listing->modules, "weight", config->width * V);
    if (config->tied) {
        tie_parameters(listing->modules, head, listing->table);
    }
    if (config->classifier) {
        (void)add_parameter(listing->modules, "bias", V);
    }
    if (config->masked_head) {
        const int32_t bias = add_parameter(listing->modules, "bias", V);
        if (config->tied) {
            tie_parameters(listing->modules, bias, listing->head_bias);
        }
    }
}

/* The tensors of the experts of a block, as transformers 5 stores them. */
static void add_experts(const struct listing *listing)
{
    const struct yk_model_config *config = listing->config;
    struct yk_module_tree *modules = listing->modules;
    const int64_t C = config->width;
    const int64_t E = config->experts;
    const int64_t F = config->expert_width;
    const int64_t shared = config->shared_expert_width;
    open_module(modules, config->expert_bias ? "router" : "gate");
    (void)add_parameter(modules, "weight", E * C);
    if (config->expert_bias) {
        (void)add_parameter(modules, "bias", E);
    }
    close_module(modules);
    open_module(modules, "experts");
    (void)add_parameter(modules, "gate_up_proj", E * C * 2 * F);
    (void)add_parameter(modules, "down_proj", E * F * C);
    if (config->expert_bias) {
        (void)add_parameter(modules, "gate_up_proj_bias", E * 2 * F);
        (void)add_parameter(modules, "down_proj_bias", E * C);
    }
    close_module(modules);
    if (shared > 0) {
        open_module(modules, "shared_expert");
        (void)add_linear(modules, "gate_proj", C, shared, false);
        (void)add_linear(modules, "up_proj", C, shared, false);
        (void)add_linear(modules, "down_proj", shared, C, false);
        close_module(modules);
        (void)add_linear(modules, "shared_expert_gate", C, 1, false);
    }
}

/* Adds weight and bias of the linear that is open. */
static void add_weights(struct yk_module_tree *modules, int64_t in, int64_t out, bool bias)
{
    (void)add_parameter(modules, "weight", in * out);
    if (bias) {
        (void)add_parameter(modules, "bias", out);
    }
}

/* Adds the tensors of a module of a block, which is open. Returns false if the role is that of a
 * module outside blocks. */
static bool add_block_tensors(const struct listing *listing, enum yk_module_role role)
{
    const struct yk_model_config *config = listing->config;
    struct yk_module_tree *modules = listing->modules;
    const bool encoder = listing->encoder;
    const int64_t C = config->width;
    const int64_t F = encoder ? config->encoder_inner : config->feed_forward_width;
    const int64_t Q = encoder ? C : config->heads * config->head_size;
    const int64_t K = encoder ? C : config->kv_heads * config->head_size;
    const bool whole = config->qk_norm == YK_QK_NORM_WHOLE;
    switch (role) {
    case YK_MODULE_Q:
        add_weights(modules, C, Q, config->qkv_bias);
        return true;
    case YK_MODULE_K:
    case YK_MODULE_V:
        add_weights(modules, C, K, config->qkv_bias);
        return true;
    case YK_MODULE_QKV:
        add_weights(modules, C, Q + 2 * K, config->qkv_bias);
        return true;
    case YK_MODULE_OUT:
        add_weights(modules, Q, C, config->out_bias);
        return true;
    case YK_MODULE_CROSS_Q:
    case YK_MODULE_CROSS_K:
    case YK_MODULE_CROSS_V:
        add_weights(modules, C, C, config->qkv_bias);
        return true;
    case YK_MODULE_CROSS_OUT:
        add_weights(modules, C, C, config->out_bias);
        return true;
    case YK_MODULE_GATE:
    case YK_MODULE_UP:
        add_weights(modules, C, F, config->inner_bias);
        return true;
    case YK_MODULE_GATE_UP:
        add_weights(modules, C, 2 * F, config->inner_bias);
        return true;
    case YK_MODULE_DOWN:
        add_weights(modules, F, C, config->inner_bias);
        return true;
    case YK_MODULE_Q_NORM:
        add_norm(modules, config, whole ? Q : config->head_size);
        return true;
    case YK_MODULE_K_NORM:
        add_norm(modules, config, whole ? K : config->head_size);
        return true;
    case YK_MODULE_ATTENTION_NORM:
    case YK_MODULE_MLP_NORM:
    case YK_MODULE_CROSS_NORM:
    case YK_MODULE_ATTENTION_POST_NORM:
    case YK_MODULE_MLP_POST_NORM:
        add_norm(modules, config, C);
        return true;
    case YK_MODULE_EXPERTS:
        add_experts(listing);
        return true;
    default:
        return false;
    }
}

/* Whether block `number` has a module: experts, or a feed-forward instead. */
static bool block_has_module(const struct listing *listing, enum yk_module_role role,
                             int64_t number)
{
    const struct yk_model_config *config = listing->config;
    const bool experts =
        config->experts > 0 && !(yk_model_config_block_flags(config, number) & YK_BLOCK_DENSE);
    switch (role) {
    case YK_MODULE_EXPERTS:
        return experts;
    case YK_MODULE_GATE:
    case YK_MODULE_UP:
    case YK_MODULE_DOWN:
        return !experts;
    default:
        return yk_architecture_has_module(config, role);
    }
}

static void list_block(const struct listing *listing, int64_t number)
{
    const struct yk_architecture *architecture = listing->config->architecture;
    struct yk_module_tree *modules = listing->modules;
    const struct yk_module_entry *entry =
        listing->encoder ? architecture->encoder_block : architecture->block;
    const char *block = modules->growth->failed ? "" : modules->modules[modules->growth->open].name;
    if (!architecture->splittable) {
        set_unsplittable(modules);
    }
    for (; entry->role != YK_MODULE_END && !modules->growth->failed; entry++) {
        if (block_has_module(listing, entry->role, number)) {
            char path[256];
            (void)snprintf(path, sizeof path, "%s.%s", block, entry->name);
            open_path(modules, path);
            (void)add_block_tensors(listing, entry->role);
        }
    }
    if (listing->config->attention_sinks && !modules->growth->failed) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s.self_attn.sinks", block);
        close_until(modules, path);
        (void)add_parameter(modules, "sinks", listing->config->heads);
    }
}

/* Lists the blocks as numbered children of the open module. */
static void list_blocks(struct listing *listing, bool encoder)
{
    const struct yk_model_config *config = listing->config;
    struct yk_module_tree *modules = listing->modules;
    const int64_t count = encoder ? config->encoder_layers : config->layers;
    const char *list = modules->growth->failed ? "" : modules->modules[modules->growth->open].name;
    listing->encoder = encoder;
    for (int64_t i = 0; i < count && !modules->growth->failed; i++) {
        char path[160];
        (void)snprintf(path, sizeof path, "%s.%" PRId64, list, i);
        open_path(modules, path);
        list_block(listing, i);
    }
    listing->encoder = false;
}

/* Adds the tensors of a module outside blocks, which is open. */
static void add_tensors(struct listing *listing, enum yk_module_role role)
{
    const struct yk_model_config *config = listing->config;
    struct yk_module_tree *modules = listing->modules;
    const int64_t C = config->width;
    const int64_t V = yk_model_config_target_vocabulary_size(config);
    const int64_t positions = config->first_position + config->positions;
    switch (role) {
    case YK_MODULE_EMBEDDINGS:
        set_unsplittable(modules);
        add_buffer(modules, "position_ids", YK_MODULE_TENSOR_INT64, positions);
        add_buffer(modules, "token_type_ids", YK_MODULE_TENSOR_INT64, positions);
        break;
    case YK_MODULE_PATCH_EMBEDDINGS:
        set_unsplittable(modules);
        (void)add_parameter(modules, "cls_token", C);
        (void)add_parameter(modules, "position_embeddings", positions * C);
        break;
    case YK_MODULE_PATCHES:
        add_weights(modules, yk_model_config_patch_size(config), C, true);
        break;
    case YK_MODULE_SHARED_EMBEDDING:
        add_table(listing, config->vocabulary, false);
        break;
    case YK_MODULE_ENCODER_EMBEDDING:
        add_table(listing, config->vocabulary, config->shared && config->tied);
        break;
    case YK_MODULE_EMBEDDING:
        add_table(listing, V, config->shared && config->tied);
        break;
    case YK_MODULE_POSITIONS:
    case YK_MODULE_SINUSOIDS:
        add_weights(modules, positions, C, false);
        break;
    case YK_MODULE_TOKEN_TYPES:
        add_weights(modules, config->token_types, C, false);
        break;
    case YK_MODULE_EMBEDDING_NORM:
    case YK_MODULE_FINAL_NORM:
    case YK_MODULE_TRANSFORM_NORM:
        add_norm(modules, config, C);
        break;
    case YK_MODULE_ENCODER_BLOCKS:
    case YK_MODULE_BLOCKS:
        list_blocks(listing, role == YK_MODULE_ENCODER_BLOCKS);
        break;
    case YK_MODULE_ROTARY:
        add_frequencies(listing);
        break;
    case YK_MODULE_LOGITS_BUFFER:
        add_buffer(modules, "final_logits_bias", YK_MODULE_TENSOR_FLOAT, V);
        break;
    case YK_MODULE_HEAD_BIAS:
        listing->head_bias = add_parameter(modules, "bias", V);
        break;
    case YK_MODULE_POOLER:
    case YK_MODULE_TRANSFORM:
        add_weights(modules, C, C, true);
        break;
    case YK_MODULE_SENTENCE_HEAD:
        add_weights(modules, C, 2, true);
        break;
    case YK_MODULE_HEAD:
        add_head(listing);
        break;
    default:
        break;
    }
}

static void list_model(struct listing *listing)
{
    const struct yk_model_config *config = listing->config;
    struct yk_module_tree *modules = listing->modules;
    const struct yk_module_entry *entry = config->architecture->modules;
    for (; entry->role != YK_MODULE_END && !modules->growth->failed; entry++) {
        if (yk_architecture_has_module(config, entry->role)) {
            const char *base = entry->outside ? "" : yk_architecture_base(config);
            char path[128];
            (void)snprintf(path, sizeof path, "%s%s%s", base, base[0] ? "." : "", entry->name);
            open_path(modules, path);
            add_tensors(listing, entry->role);
        }
    }
}

yk_status yk_module_tree_build(const struct yk_model_config *config, struct yk_arena *arena,
                               const struct yk_module_tree **out)
{
    struct yk_module_tree *modules = NULL;
    YK_TRY_NEW(arena, modules, 1);
    struct yk_module_tree_growth growth = {.arena = arena, .open = YK_MODULE_NONE};
    modules->growth = &growth;
    open_module(modules, "");
    list_model(&(struct listing){.config = config,
                                 .modules = modules,
                                 .table = YK_MODULE_NONE,
                                 .head_bias = YK_MODULE_NONE});
    close_until(modules, "");
    close_module(modules);
    modules->growth = NULL;
    if (growth.failed) {
        return yk_fail_out_of_memory();
    }
    *out = modules;
    return YK_OK;
}

int32_t yk_module_tree_find_module(const struct yk_module_tree *modules, const char *name)
{
    for (int32_t i = 0; i < modules->module_count; i++) {
        if (strcmp(modules->modules[i].name, name) == 0) {
            return i;
        }
    }
    return YK_MODULE_NONE;
}

int32_t yk_module_tree_first_child(const struct yk_module_tree *modules, int32_t module)
{
    return module + 1 < modules->modules[module].end ? module + 1 : YK_MODULE_NONE;
}

int32_t yk_module_tree_next_sibling(const struct yk_module_tree *modules, int32_t module)
{
    const struct yk_module *here = &modules->modules[module];
    const bool last = here->parent < 0 || here->end >= modules->modules[here->parent].end;
    return last ? YK_MODULE_NONE : here->end;
}
