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
    const bool block = builder->layer.role == YK_LAYER_ROLE_BLOCK;
    char adapters[32] = "";
    if (builder->workload->lora_rank > 0 && block) {
        snprintf(adapters, sizeof adapters, " lora%lld", (long long)builder->workload->lora_rank);
    } else if (!builder->trains) {
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
    const bool recompute =
        builder->workload->recompute && builder->layer.role == YK_LAYER_ROLE_BLOCK;
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

struct yk_layer yk_model_builder_finish_block(struct yk_model_builder *model,
                                              const struct yk_layer_builder *builder)
{
    return finish(model, builder);
}

int32_t yk_model_builder_add_block(struct yk_model_builder *model, const struct yk_layer *block,
                                   int64_t number, const char *name, const char *module,
                                   int32_t after, int64_t rows)
{
    struct yk_layer layer = *block;
    const char *own_module =
        check_text(model, yk_arena_format(model->arena, "%s.%lld", module, (long long)number));
    const char *own_name =
        check_text(model, yk_arena_format(model->arena, "%s %lld", name, (long long)number));
    layer.block = (int32_t)number;
    const int32_t next = append(model, &layer, own_name, &own_module, 1);
    yk_model_builder_add_edge(model, after, next, rows);
    return next;
}

int64_t yk_model_builder_head_rows(const struct yk_model_builder *model)
{
    const struct yk_workload *workload = &model->workload;
    if (model->config->classifier) {
        return workload->batch;
    }
    return workload->batch *
           (model->config->encoder_layers > 0 ? workload->target_sequence : workload->sequence);
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

void yk_model_builder_append_target_length(const struct yk_model_builder *model,
                                           struct yk_layer_builder *builder)
{
    const int64_t target = model->workload.target_sequence;
    if (target > 0 && target != model->workload.sequence) {
        yk_layer_builder_append_shape_text(builder, " target%lld", (long long)target);
    }
}
