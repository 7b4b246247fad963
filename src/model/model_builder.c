#include "model/model_builder.h"

#include <stdio.h>
#include <string.h>

/* AdamW per parameter. Operations: moments (3 + 4), their corrections (2), root, sum and quotient
 * (3), decay and step (3). Bytes: it reads gradient, master weight and two moments, and writes the
 * last three and the weight: 2 + 4 + 4 + 4 and 4 + 4 + 4 + 2 in 16 bit, 4 × 4 and 3 × 4 in fp32,
 * where the weight is its own master. */
enum {
    ADAMW_OPERATIONS = 15,
    ADAMW_BYTES = 28,
};

void yk_model_builder_begin_layer(const struct yk_model_builder *model, enum yk_layer_role role,
                                  const char *kind, int64_t input_rows,
                                  struct yk_layer_builder *out)
{
    yk_layer_builder_begin(out, model->config, &model->workload, role, kind, input_rows);
}

void yk_model_builder_begin_block(const struct yk_model_builder *model, const char *kind,
                                  int64_t input_rows, int64_t inner, int64_t heads,
                                  struct yk_layer_builder *out)
{
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_BLOCK, kind, input_rows, out);
    yk_layer_builder_append_shape_text(out, " C%lld F%lld H%lld%s", (long long)model->config->width,
                                       (long long)inner, (long long)heads,
                                       model->config->relu ? " relu" : "");
}

void yk_model_builder_add_feed_forward(const struct yk_model_builder *model,
                                       struct yk_layer_builder *builder, int64_t rows,
                                       int64_t inner)
{
    const int64_t C = model->config->width;
    yk_layer_builder_add_linear(builder,
                                &(struct yk_linear_spec){"up", rows, C, inner, 1, .bias = true});
    yk_layer_builder_add_activation(builder, yk_model_builder_activation_kind(model), false, rows,
                                    inner);
    yk_layer_builder_add_linear(builder,
                                &(struct yk_linear_spec){"down", rows, inner, C, 1, .bias = true});
    yk_layer_builder_add_residual(builder, rows, C);
}

/* Returns `text`, or "" if its allocation failed. */
static const char *check_text(struct yk_model_builder *model, const char *text)
{
    model->failed = model->failed || !text;
    return text ? text : "";
}

static struct yk_kernel_work *allocate_works(struct yk_model_builder *model, int32_t count)
{
    struct yk_kernel_work *items = yk_arena_allocate(model->arena, (size_t)count, sizeof *items);
    model->failed = model->failed || !items;
    return items;
}

/* Copies kernels: the first `count` of `first`, then all of `reversed`, the last one first. */
static struct yk_kernel_work_list copy_works(struct yk_model_builder *model,
                                             const struct yk_layer_kernels *first, int32_t count,
                                             const struct yk_layer_kernels *reversed)
{
    const int32_t others = reversed->count;
    struct yk_kernel_work *items = allocate_works(model, count + others);
    if (!items) {
        return (struct yk_kernel_work_list){0};
    }
    memcpy(items, first->items, (size_t)count * sizeof *items);
    for (int32_t i = 0; i < others; i++) {
        items[count + i] = reversed->items[others - 1 - i];
    }
    return (struct yk_kernel_work_list){items, count + others};
}

static struct yk_kernel_work_list update_of(struct yk_model_builder *model,
                                            const struct yk_layer_builder *builder)
{
    struct yk_kernel_work *items = builder->layer.trainable > 0 ? allocate_works(model, 1) : NULL;
    if (!items) {
        return (struct yk_kernel_work_list){0};
    }
    *items = (struct yk_kernel_work){
        .name = "adamw",
        .class = YK_KERNEL_VECTOR,
        .precision = YK_PRECISION_FP32,
        .operations = (double)builder->layer.trainable * ADAMW_OPERATIONS,
        .bytes = (double)builder->layer.trainable * ADAMW_BYTES,
        .launches = 1,
    };
    return (struct yk_kernel_work_list){items, 1};
}

/* The shape with the properties that come from the workload. */
static const char *shape_of(struct yk_model_builder *model, const struct yk_layer_builder *builder,
                            bool recompute)
{
    const bool block = builder->layer.is_block;
    char adapters[32] = "";
    if (builder->workload->lora_rank > 0 && block) {
        snprintf(adapters, sizeof adapters, " lora%lld", (long long)builder->workload->lora_rank);
    } else if (builder->workload->lora_rank > 0) {
        snprintf(adapters, sizeof adapters, " frozen");
    }
    return check_text(model, yk_arena_format(model->arena, "%s%s%s%s %s", builder->shape, adapters,
                                             builder->workload->nf4 && block ? " nf4" : "",
                                             recompute ? " recompute" : "",
                                             yk_precision_name(builder->precision)));
}

/* Sets everything but the name and the modules. */
static struct yk_layer finish(struct yk_model_builder *model,
                              const struct yk_layer_builder *builder)
{
    static const struct yk_layer_kernels none = {.count = 0};
    const bool recompute = builder->workload->recompute && builder->layer.is_block;
    struct yk_layer layer = builder->layer;
    layer.shape = shape_of(model, builder, recompute);
    layer.forward = copy_works(model, &builder->forward, builder->forward.count, &none);
    layer.backward = copy_works(model, &builder->forward, recompute ? builder->forward.count : 0,
                                &builder->backward); /* recomputation comes first */
    layer.update = update_of(model, builder);
    layer.workspace_bytes =
        builder->transient_bytes + builder->dequantised[0] + builder->dequantised[1];
    if (recompute) {
        layer.saved_bytes = builder->input_bytes;
        layer.workspace_bytes += builder->layer.saved_bytes - builder->input_bytes;
    }
    return layer;
}

static int32_t append(struct yk_model_builder *model, const struct yk_layer *layer,
                      const char *name, const char *const *modules, int32_t module_count)
{
    const char **copy = yk_arena_allocate(model->arena, (size_t)module_count, sizeof *copy);
    const int32_t number = model->layer_count++;
    if (!copy) {
        model->failed = true;
        return number;
    }
    memcpy(copy, modules, (size_t)module_count * sizeof *copy);
    model->layers[number] = *layer;
    model->layers[number].name = name;
    model->layers[number].modules = copy;
    model->layers[number].module_count = module_count;
    return number;
}

int32_t yk_model_builder_add_layer(struct yk_model_builder *model,
                                   const struct yk_layer_builder *builder, const char *name,
                                   const char *const modules[YK_MODEL_BUILDER_MAX_MODULES],
                                   int32_t shares)
{
    struct yk_layer layer = finish(model, builder);
    layer.shares_weights_of = shares;
    int32_t count = 0;
    while (count < YK_MODEL_BUILDER_MAX_MODULES && modules[count]) {
        count++;
    }
    return append(model, &layer, name, modules, count);
}

int32_t yk_model_builder_add_blocks(struct yk_model_builder *model,
                                    const struct yk_layer_builder *builder, int64_t count,
                                    const char *name, const char *module, int32_t after,
                                    int64_t rows)
{
    const struct yk_layer block = finish(model, builder); /* all blocks share its kernels */
    int32_t last = after;
    for (int64_t i = 0; i < count && !model->failed; i++) {
        const char *own_module =
            check_text(model, yk_arena_format(model->arena, "%s.%lld", module, (long long)i));
        const char *own_name =
            check_text(model, yk_arena_format(model->arena, "%s %lld", name, (long long)i));
        const int32_t next = append(model, &block, own_name, &own_module, 1);
        yk_model_builder_add_edge(model, last, next, rows);
        last = next;
    }
    return last;
}

void yk_model_builder_add_edge(struct yk_model_builder *model, int32_t from, int32_t to,
                               int64_t rows)
{
    model->edges[model->edge_count++] = (struct yk_layer_edge){
        .from = from,
        .to = to,
        .bytes = rows * model->config->width * yk_precision_bytes(model->workload.precision),
    };
}

enum yk_activation yk_model_builder_activation_kind(const struct yk_model_builder *model)
{
    return model->config->relu ? YK_ACTIVATION_RELU : YK_ACTIVATION_GELU;
}

void yk_model_builder_append_target_length(const struct yk_model_builder *model,
                                           struct yk_layer_builder *builder)
{
    const int64_t target = model->workload.target_sequence;
    if (target > 0 && target != model->workload.sequence) {
        yk_layer_builder_append_shape_text(builder, " target%lld", (long long)target);
    }
}

struct yk_attention_spec
yk_model_builder_make_self_attention_spec(const struct yk_model_builder *model, int64_t length,
                                          bool causal)
{
    return (struct yk_attention_spec){
        .name = "attention",
        .batch = model->workload.batch,
        .queries = length,
        .keys = length,
        .heads = model->config->heads,
        .kv_heads = model->config->kv_heads,
        .head_size = model->config->head_size,
        .causal = causal,
    };
}

void yk_model_builder_add_head(struct yk_model_builder *model, int64_t rows, int32_t last,
                               int32_t embed)
{
    static const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {"lm_head"};
    const struct yk_model_config *config = model->config;
    const int64_t C = config->width;
    const int64_t V = yk_model_config_target_vocabulary_size(config);
    struct yk_layer_builder builder;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_HEAD, "head", rows, &builder);
    yk_layer_builder_append_shape_text(&builder, " C%lld V%lld%s", (long long)C, (long long)V,
                                       config->tied ? " tied" : "");
    yk_model_builder_append_target_length(model, &builder);
    yk_layer_builder_add_linear(
        &builder,
        &(struct yk_linear_spec){"logits", rows, C, V, 1, .tied = config->tied, .in_place = true});
    yk_layer_builder_add_loss(&builder, rows, V);
    const int32_t head = yk_model_builder_add_layer(model, &builder, "head", modules,
                                                    config->tied ? embed : YK_LAYER_NONE);
    yk_model_builder_add_edge(model, last, head, rows);
}

void yk_model_builder_add_norm_and_head(struct yk_model_builder *model, enum yk_norm_kind kind,
                                        int32_t last, int32_t embed, const char *norm_module)
{
    const char *const modules[YK_MODEL_BUILDER_MAX_MODULES] = {norm_module};
    const int64_t rows = model->workload.batch * model->workload.sequence;
    struct yk_layer_builder builder;
    yk_model_builder_begin_layer(model, YK_LAYER_ROLE_HEAD, "norm", rows, &builder);
    yk_layer_builder_append_shape_text(&builder, kind == YK_NORM_RMS ? " rms C%lld" : " C%lld",
                                       (long long)model->config->width);
    yk_layer_builder_add_norm(&builder, kind, rows, model->config->width);
    const int32_t norm =
        yk_model_builder_add_layer(model, &builder, "norm", modules, YK_LAYER_NONE);
    yk_model_builder_add_edge(model, last, norm, rows);
    yk_model_builder_add_head(model, rows, norm, embed);
}
