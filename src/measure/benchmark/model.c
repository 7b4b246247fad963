#include "measure/benchmark/model.h"

static yk_status set_up(struct yk_benchmark_model *practice)
{
    const struct yk_net_options settings = {.seed = 1};
    YK_TRY(yk_model_describe(practice->wish.config, &practice->wish.workload, practice->arena,
                             &practice->model));
    YK_TRY(yk_net_create(practice->model, &settings, &practice->net));
    YK_TRY(yk_store_create(practice->net, &practice->engine, practice->optimizer.kind, NULL,
                           &practice->store));
    return yk_store_init(practice->store, 1, YK_STORE_INIT_ROUGH);
}

yk_status yk_benchmark_model_create(const struct yk_benchmark_model_request *wish,
                                    const struct yk_cluster *cluster,
                                    const struct yk_engine *engine, struct yk_benchmark_model **out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_benchmark_model *practice = yk_arena_allocate(arena, 1, sizeof *practice);
    if (!practice) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    /* A rate of 0 below: times do not depend on it, and nothing can grow without bound. */
    *practice = (struct yk_benchmark_model){
        .arena = arena,
        .wish = *wish,
        .cluster = cluster,
        .engine = *engine,
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
    };
    const yk_status status = set_up(practice);
    if (status != YK_OK) {
        yk_benchmark_model_destroy(practice);
        return status;
    }
    *out = practice;
    return YK_OK;
}

void yk_benchmark_model_destroy(struct yk_benchmark_model *practice)
{
    if (practice) {
        yk_store_destroy(practice->store);
        yk_net_destroy(practice->net);
        yk_arena_destroy(practice->arena);
    }
}
