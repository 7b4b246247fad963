#include "job/models/model_summary.h"

#include "model/architecture.h"
#include "model/builtin.h"

static yk_status list_builtins(struct yk_model_summary_result *out)
{
    const struct yk_builtin_model *models = NULL;
    size_t count = 0;
    YK_TRY(yk_builtin_models_get(&models, &count));
    YK_TRY_NEW(out->arena, out->builtins, count);
    for (size_t i = 0; i < count; i++) {
        out->builtins[out->builtin_count++] = (struct yk_model_summary_builtin_model){
            .name = models[i].config->name, .summary = models[i].summary};
    }
    return YK_OK;
}

static double products(const struct yk_kernel_work_list *list)
{
    return yk_kernel_work_sum_class_operations(list, YK_KERNEL_MATRIX) +
           yk_kernel_work_sum_class_operations(list, YK_KERNEL_ATTENTION);
}

static int64_t sent_bytes(const struct yk_model *model, int32_t layer)
{
    int64_t most = 0;
    for (int32_t i = 0; i < model->edge_count; i++) {
        if (model->edges[i].from == layer && model->edges[i].bytes > most) {
            most = model->edges[i].bytes;
        }
    }
    return most;
}

static yk_status count_costs(struct yk_model_summary_result *out)
{
    const struct yk_model *model = out->model;
    YK_TRY_NEW(out->arena, out->layers, model->layer_count);
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        const struct yk_model_summary_layer_cost cost = {
            .forward_flops = products(&layer->forward),
            .backward_flops = products(&layer->backward),
            .forward_vector_flops =
                yk_kernel_work_sum_class_operations(&layer->forward, YK_KERNEL_VECTOR),
            .backward_vector_flops =
                yk_kernel_work_sum_class_operations(&layer->backward, YK_KERNEL_VECTOR),
            .saved_bytes = (double)layer->saved_bytes,
            .sent_bytes = sent_bytes(model, i),
        };
        out->layers[i] = cost;
        out->total.forward_flops += cost.forward_flops;
        out->total.backward_flops += cost.backward_flops;
        out->total.forward_vector_flops += cost.forward_vector_flops;
        out->total.backward_vector_flops += cost.backward_vector_flops;
        out->total.saved_bytes += cost.saved_bytes;
    }
    return YK_OK;
}

yk_status yk_model_summary_run(const struct yk_model_summary_request *request,
                               struct yk_model_summary_result *out)
{
    const struct yk_model_config *config = NULL;
    struct yk_workload workload = {0};
    YK_TRY(yk_arena_create(&out->arena));
    if (!request->model) {
        return list_builtins(out);
    }
    YK_TRY(yk_model_config_open(request->model, out->arena, &config));
    YK_TRY(yk_workload_from_request(&request->workload, config, &workload));
    YK_TRY(yk_model_build(config, &workload, out->arena, &out->model));
    out->architecture = config->architecture->name;
    out->causal = !config->bidirectional;
    return count_costs(out);
}

void yk_model_summary_result_free(struct yk_model_summary_result *result)
{
    yk_arena_destroy(result->arena);
    *result = (struct yk_model_summary_result){0};
}
