#include "measure/benchmark/model.h"

static yk_status set_up(struct yk_benchmark_model *model)
{
    const struct yk_net_options options = {.seed = 1};
    YK_TRY(yk_model_describe(model->request.config, &model->request.workload, model->arena,
                             &model->description));
    YK_TRY(yk_net_create(model->description, &options, &model->net));
    YK_TRY(yk_store_create(model->net, &model->engine, model->optimizer.kind, &model->store));
    return yk_store_init_roughly(model->store, 1);
}

yk_status yk_benchmark_model_create(const struct yk_benchmark_model_request *request,
                                    const struct yk_cluster *cluster,
                                    const struct yk_engine *engine, struct yk_benchmark_model **out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_benchmark_model *model = yk_arena_allocate(arena, 1, sizeof *model);
    if (!model) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    /* A rate of 0 below: times do not depend on it, and nothing can grow without bound. */
    *model = (struct yk_benchmark_model){
        .arena = arena,
        .request = *request,
        .cluster = cluster,
        .engine = *engine,
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
    };
    const yk_status status = set_up(model);
    if (status != YK_OK) {
        yk_benchmark_model_destroy(model);
        return status;
    }
    *out = model;
    return YK_OK;
}

void yk_benchmark_model_destroy(struct yk_benchmark_model *model)
{
    if (model) {
        yk_store_destroy(model->store);
        yk_net_destroy(model->net);
        yk_arena_destroy(model->arena);
    }
}
