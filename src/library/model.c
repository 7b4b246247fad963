#include "model/model.h"
#include "library/library.h"
#include "model/architecture.h"
#include "model/builtin.h"

#include <string.h>

enum {
    USUAL_SEQUENCE = 1024
};

static double operations(const struct yk_kernel_work_list *list)
{
    double sum = 0;
    for (int class = 0; class < YK_KERNEL_CLASS_COUNT; class ++) {
        sum += yk_kernel_work_sum_class_operations(list, (enum yk_kernel_class) class);
    }
    return sum;
}

static struct yoke_layer layer_record(const struct yk_model *model, const struct yk_layer *layer)
{
    const struct yk_model_layer_state_bytes state = yk_model_layer_state_bytes(model, layer);
    return (struct yoke_layer){
        .name = layer->name,
        .kind = layer->kind,
        .shares = layer->shares_weights_of,
        .parameters = layer->parameters,
        .trainable = layer->trainable,
        .forward_operations = operations(&layer->forward),
        .backward_operations = operations(&layer->backward),
        .weight_bytes = state.weight_bytes,
        .gradient_bytes = state.gradient_bytes,
        .optimizer_bytes = state.optimizer_bytes,
        .saved_bytes = layer->saved_bytes,
        .workspace_bytes = layer->workspace_bytes,
        .modules = layer->modules,
        .module_count = layer->module_count,
    };
}

static struct yoke_model_info info_record(const struct yk_model *model,
                                          const struct yk_workload *workload)
{
    return (struct yoke_model_info){
        .name = model->config->name,
        .architecture = model->config->architecture->name,
        .layer_count = model->layer_count,
        .edge_count = model->edge_count,
        .parameters = model->parameters,
        .trainable = model->trainable,
        .tokens = yk_model_count_loss_tokens(model),
        .workload =
            {
                .batch = workload->batch,
                .sequence = workload->sequence,
                .target_sequence = workload->target_sequence,
                .precision = yk_precision_name(workload->precision),
                .lora_rank = workload->lora_rank,
                .nf4 = workload->nf4,
                .recompute = workload->recompute,
            },
    };
}

yk_status yk_library_build_model_layers(struct yoke_model *handle,
                                        const struct yk_workload *workload)
{
    YK_TRY(yk_model_build(handle->config, workload, handle->arena, &handle->model));
    const struct yk_model *model = handle->model;
    YK_TRY_NEW(handle->arena, handle->layers, model->layer_count);
    YK_TRY_NEW(handle->arena, handle->edges, model->edge_count);
    for (int32_t i = 0; i < model->layer_count; i++) {
        handle->layers[i] = layer_record(model, &model->layers[i]);
    }
    for (int32_t i = 0; i < model->edge_count; i++) {
        const struct yk_layer_edge *edge = &model->edges[i];
        handle->edges[i] = (struct yoke_layer_edge){edge->from, edge->to, edge->bytes};
    }
    handle->info = info_record(model, workload);
    handle->workload = *workload;
    return YK_OK;
}

static yk_status create(const char *word, struct yoke_model **out)
{
    struct yoke_model *handle = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(handle);
    atomic_init(&handle->references, 1);
    YK_TRY_OR_CLEAN_UP(yk_arena_strdup(handle->arena, word, &handle->word),
                       yoke_model_destroy(handle));
    *out = handle;
    return YK_OK;
}

yk_status yk_library_open_model(const char *word, struct yoke_model **out)
{
    struct yoke_model *handle = NULL;
    YK_TRY(create(word, &handle));
    YK_TRY_OR_CLEAN_UP(yk_model_config_open(word, handle->arena, &handle->config),
                       yoke_model_destroy(handle));
    *out = handle;
    return YK_OK;
}

yk_status yk_library_create_model_sharing_config(struct yoke_model *origin, struct yoke_model **out)
{
    struct yoke_model *handle = NULL;
    YK_TRY(create(origin->word, &handle));
    handle->origin = YK_LIBRARY_RETAIN(origin);
    handle->config = origin->config;
    *out = handle;
    return YK_OK;
}

/* Converts a workload and fills in the defaults. */
static yk_status read_workload(const struct yoke_workload *given,
                               const struct yk_model_config *config, struct yk_workload *out)
{
    const struct yoke_workload words = given ? *given : (struct yoke_workload){0};
    const int64_t usual = config->positions < USUAL_SEQUENCE ? config->positions : USUAL_SEQUENCE;
    const char *precision = words.precision ? words.precision : "bf16";
    struct yk_workload workload = {
        .batch = words.batch == 0 ? 1 : words.batch,
        .sequence = words.sequence == 0 ? usual : words.sequence,
        .target_sequence = words.target_sequence,
        .lora_rank = words.lora_rank,
        .nf4 = words.nf4,
        .recompute = words.recompute,
    };
    if (!yk_precision_find(precision, &workload.precision)) {
        return yk_fail(YK_ERROR_USAGE,
                       "there is no precision \"%s\"; there are fp32, tf32, fp16 and bf16",
                       precision);
    }
    *out = workload;
    return YK_OK;
}

static yk_status describe(const struct yoke_workload *given, struct yoke_model *handle)
{
    struct yk_workload workload;
    YK_TRY(read_workload(given, handle->config, &workload));
    return yk_library_build_model_layers(handle, &workload);
}

yoke_status yoke_model_open(const char *word, const struct yoke_workload *workload,
                            yoke_model **out)
{
    struct yoke_model *handle = NULL;
    YK_LIBRARY_REQUIRE_NOT_NULL(word, out);
    YK_LIBRARY_TRY(yk_library_open_model(word, &handle));
    YK_LIBRARY_TRY_OR_CLEANUP(describe(workload, handle), yoke_model_destroy(handle));
    *out = handle;
    return YOKE_OK;
}

yoke_status yoke_model_read(const char *text, const char *source,
                            const struct yoke_workload *workload, yoke_model **out)
{
    struct yoke_model *handle = NULL;
    YK_LIBRARY_REQUIRE_NOT_NULL(text, source, out);
    YK_LIBRARY_TRY(create(source, &handle));
    yk_status status =
        yk_model_config_parse(text, strlen(text), source, handle->arena, &handle->config);
    YK_IF_OK(describe(workload, handle));
    YK_LIBRARY_TRY_OR_CLEANUP(status, yoke_model_destroy(handle));
    *out = handle;
    return YOKE_OK;
}

void yoke_model_destroy(yoke_model *model)
{
    if (model && yk_library_release_reference(&model->references)) {
        yoke_model *origin = model->origin;
        yk_arena_destroy(model->arena);
        yoke_model_destroy(origin);
    }
}

const struct yoke_model_info *yoke_model_info(const yoke_model *model)
{
    return &model->info;
}

const struct yoke_layer *yoke_model_layer(const yoke_model *model, int32_t layer)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(model->layers, model->info.layer_count, layer);
}

const struct yoke_layer_edge *yoke_model_edge(const yoke_model *model, int32_t edge)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(model->edges, model->info.edge_count, edge);
}

const char *yoke_model_builtin(int32_t number, const char **summary)
{
    const struct yk_builtin_model *models = NULL;
    size_t count = 0;
    if (yk_builtin_models_get(&models, &count) != YK_OK || number < 0 || (size_t)number >= count) {
        return NULL;
    }
    if (summary) {
        *summary = models[number].summary;
    }
    return models[number].config->name;
}
