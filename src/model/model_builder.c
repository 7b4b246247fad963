#include "model/model_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* AdamW: both moments (3 + 4), their corrections (2), root, sum and quotient (3), decay and step
 * (3). Gradient, master weight and two moments are read, the last three and the weight written:
 * 2 + 4 + 4 + 4 and 4 + 4 + 4 + 2 bytes in 16 bit, 4 × 4 and 3 × 4 in fp32, where the weight is its
 * own master. */
enum {
    ADAMW_OPERATIONS = 15,
    ADAMW_BYTES = 28,
};

void yk_model_builder_begin_layer(const struct yk_model_builder *layers, enum yk_layer_role role,
                                  const char *kind, int64_t input_rows,
                                  struct yk_layer_builder *out)
{
    yk_layer_begin(out, layers->config, &layers->workload, role, kind, input_rows);
}

static const char *text(struct yk_model_builder *layers, const char *format, ...) YK_PRINTF(2, 3);

static const char *text(struct yk_model_builder *layers, const char *format, ...)
{
    char buffer[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    const char *copy = yk_arena_copy_text(layers->arena, buffer, strlen(buffer));
    layers->failed = layers->failed || !copy;
    return copy ? copy : "";
}

static struct yk_work *take_works(struct yk_model_builder *layers, int32_t count)
{
    struct yk_work *items = yk_arena_allocate(layers->arena, (size_t)count, sizeof *items);
    layers->failed = layers->failed || !items;
    return items;
}

static struct yk_work_list forward_of(struct yk_model_builder *layers,
                                      const struct yk_layer_builder *draft)
{
    struct yk_work *items = take_works(layers, draft->forward.count);
    if (!items) {
        return (struct yk_work_list){0};
    }
    memcpy(items, draft->forward.items, (size_t)draft->forward.count * sizeof *items);
    return (struct yk_work_list){items, draft->forward.count};
}

/* Last part first; where a block recomputes, its forward works come before. */
static struct yk_work_list backward_of(struct yk_model_builder *layers,
                                       const struct yk_layer_builder *draft, bool recompute)
{
    const int32_t again = recompute ? draft->forward.count : 0;
    const int32_t own = draft->backward.count;
    struct yk_work *items = take_works(layers, again + own);
    if (!items) {
        return (struct yk_work_list){0};
    }
    memcpy(items, draft->forward.items, (size_t)again * sizeof *items);
    for (int32_t i = 0; i < own; i++) {
        items[again + i] = draft->backward.items[own - 1 - i];
    }
    return (struct yk_work_list){items, again + own};
}

static struct yk_work_list update_of(struct yk_model_builder *layers,
                                     const struct yk_layer_builder *draft)
{
    struct yk_work *items = draft->trainable > 0 ? take_works(layers, 1) : NULL;
    if (!items) {
        return (struct yk_work_list){0};
    }
    *items = (struct yk_work){
        .name = "adamw",
        .class = YK_WORK_VECTOR,
        .precision = YK_PRECISION_FP32,
        .operations = (double)draft->trainable * ADAMW_OPERATIONS,
        .bytes = (double)draft->trainable * ADAMW_BYTES,
        .launches = 1,
    };
    return (struct yk_work_list){items, 1};
}

/* The shape with all that the workload changes about the layer. */
static const char *shape_of(struct yk_model_builder *layers, const struct yk_layer_builder *draft,
                            bool recompute)
{
    const bool block = draft->role == YK_LAYER_BLOCK;
    char adapters[32] = "";
    if (draft->workload->lora_rank > 0 && block) {
        snprintf(adapters, sizeof adapters, " lora%lld", (long long)draft->workload->lora_rank);
    } else if (draft->workload->lora_rank > 0) {
        snprintf(adapters, sizeof adapters, " frozen");
    }
    return text(layers, "%s%s%s%s %s", draft->shape, adapters,
                draft->workload->nf4 && block ? " nf4" : "", recompute ? " recompute" : "",
                yk_precision_name(draft->precision));
}

/* All but the name and the modules. */
static struct yk_layer finish(struct yk_model_builder *layers, const struct yk_layer_builder *draft)
{
    const bool recompute = draft->workload->recompute && draft->role == YK_LAYER_BLOCK;
    struct yk_layer layer = {
        .kind = draft->kind,
        .shape = shape_of(layers, draft, recompute),
        .shares = YK_LAYER_NONE,
        .parameters = draft->parameters,
        .trainable = draft->trainable,
        .quantised = draft->quantised,
        .full_width = draft->full_width,
        .forward = forward_of(layers, draft),
        .backward = backward_of(layers, draft, recompute),
        .update = update_of(layers, draft),
        .flops = draft->flops,
        .is_block = draft->role == YK_LAYER_BLOCK,
        .keeps_input = draft->keeps_input,
        .saved_bytes = draft->saved_bytes,
        .workspace_bytes = draft->transient_bytes + draft->dequantised[0] + draft->dequantised[1],
    };
    if (recompute) {
        layer.saved_bytes = draft->input_bytes;
        layer.workspace_bytes += draft->saved_bytes - draft->input_bytes;
    }
    return layer;
}

static int32_t append(struct yk_model_builder *layers, const struct yk_layer *layer,
                      const char *name, const char *const *modules, int32_t module_count)
{
    const char **copy = yk_arena_allocate(layers->arena, (size_t)module_count, sizeof *copy);
    const int32_t number = layers->layer_count++;
    if (!copy) {
        layers->failed = true;
        return number;
    }
    memcpy(copy, modules, (size_t)module_count * sizeof *copy);
    layers->layers[number] = *layer;
    layers->layers[number].name = name;
    layers->layers[number].modules = copy;
    layers->layers[number].module_count = module_count;
    return number;
}

int32_t yk_model_builder_add_layer(struct yk_model_builder *layers,
                                   const struct yk_layer_builder *draft, const char *name,
                                   const char *const modules[YK_MODEL_BUILDER_MODULES],
                                   int32_t shares)
{
    struct yk_layer layer = finish(layers, draft);
    layer.shares = shares;
    int32_t count = 0;
    while (count < YK_MODEL_BUILDER_MODULES && modules[count]) {
        count++;
    }
    return append(layers, &layer, name, modules, count);
}

int32_t yk_model_builder_add_blocks(struct yk_model_builder *layers,
                                    const struct yk_layer_builder *draft, int64_t count,
                                    const char *name, const char *module, int32_t after,
                                    int64_t rows)
{
    const struct yk_layer block = finish(layers, draft); /* equal blocks share their works */
    int32_t last = after;
    for (int64_t i = 0; i < count && !layers->failed; i++) {
        const char *own_module = text(layers, "%s.%lld", module, (long long)i);
        const int32_t next =
            append(layers, &block, text(layers, "%s %lld", name, (long long)i), &own_module, 1);
        yk_model_builder_add_edge(layers, last, next, rows);
        last = next;
    }
    return last;
}

void yk_model_builder_add_edge(struct yk_model_builder *layers, int32_t from, int32_t to,
                               int64_t rows)
{
    layers->edges[layers->edge_count++] = (struct yk_layer_edge){
        .from = from,
        .to = to,
        .bytes = rows * layers->config->width * yk_precision_bytes(layers->workload.precision),
    };
}

enum yk_activation_kind yk_model_builder_activation(const struct yk_model_builder *layers)
{
    return layers->config->relu ? YK_ACTIVATION_RELU : YK_ACTIVATION_GELU;
}

void yk_model_builder_shape_target(const struct yk_model_builder *layers,
                                   struct yk_layer_builder *draft)
{
    const int64_t target = layers->workload.target_sequence;
    if (target > 0 && target != layers->workload.sequence) {
        yk_layer_add_shape(draft, " target%lld", (long long)target);
    }
}

struct yk_layer_attention yk_model_builder_self_attention(const struct yk_model_builder *layers,
                                                          int64_t length, bool causal)
{
    return (struct yk_layer_attention){
        .name = "attention",
        .batch = layers->workload.batch,
        .queries = length,
        .keys = length,
        .heads = layers->config->heads,
        .kv_heads = layers->config->kv_heads,
        .head_size = layers->config->head_size,
        .causal = causal,
    };
}

void yk_model_builder_add_head(struct yk_model_builder *layers, int64_t rows, int32_t last,
                               int32_t embed)
{
    static const char *const modules[YK_MODEL_BUILDER_MODULES] = {"lm_head"};
    const struct yk_model_config *config = layers->config;
    const int64_t C = config->width;
    const int64_t V = yk_model_config_target_vocabulary(config);
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_OUTER, "head", rows, &draft);
    yk_layer_add_shape(&draft, " C%lld V%lld%s", (long long)C, (long long)V,
                       config->tied ? " tied" : "");
    yk_model_builder_shape_target(layers, &draft);
    yk_layer_add_linear(&draft, &(struct yk_layer_linear){"logits", rows, C, V, 1,
                                                          .tied = config->tied, .in_place = true});
    yk_layer_add_loss(&draft, rows, V);
    const int32_t head = yk_model_builder_add_layer(layers, &draft, "head", modules,
                                                    config->tied ? embed : YK_LAYER_NONE);
    yk_model_builder_add_edge(layers, last, head, rows);
}

void yk_model_builder_add_norm_and_head(struct yk_model_builder *layers, enum yk_norm_kind kind,
                                        int32_t last, int32_t embed, const char *norm_module)
{
    const char *const modules[YK_MODEL_BUILDER_MODULES] = {norm_module};
    const int64_t rows = layers->workload.batch * layers->workload.sequence;
    struct yk_layer_builder draft;
    yk_model_builder_begin_layer(layers, YK_LAYER_OUTER, "norm", rows, &draft);
    yk_layer_add_shape(&draft, kind == YK_NORM_RMS ? " rms C%lld" : " C%lld",
                       (long long)layers->config->width);
    yk_layer_add_norm(&draft, kind, rows, layers->config->width);
    const int32_t norm = yk_model_builder_add_layer(layers, &draft, "norm", modules, YK_LAYER_NONE);
    yk_model_builder_add_edge(layers, last, norm, rows);
    yk_model_builder_add_head(layers, rows, norm, embed);
}
