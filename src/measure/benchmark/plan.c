#include "measure/benchmark/plan.h"

#include "program/memory/memory.h"

static const double plain_block_bytes = 4.0 * 1024 * 1024;

static yk_status make_plan(const struct yk_benchmark_plan *made,
                           const struct yk_model_config *config, const struct yk_cluster *cluster,
                           struct yk_arena *arena, struct yk_plan **out)
{
    const struct yk_model *model = yk_model_sizes_whole_batch(made->sizes);
    struct yk_plan *plan = NULL;
    YK_TRY(yk_plan_create(arena, 1, 1, model->layer_count, &plan));
    plan->model_source = config->name;
    plan->cluster_source = cluster->source;
    plan->workload = made->workload;
    plan->ranks[0].limit_bytes = cluster->devices[0].memory_bytes;
    plan->groups[0].member_count = 1;
    plan->groups[0].members[0] = (struct yk_plan_member){.share = made->workload.batch, .part = 1};
    plan->micro_batches = YK_BENCHMARK_MICRO_BATCHES;
    plan->pipeline = YK_1F1B;
    plan->no_sync = true;
    plan->prefetch = 1;
    plan->block_bytes = plain_block_bytes;
    plan->bucket_bytes = plain_block_bytes;
    *out = plan;
    return yk_plan_check(plan, model);
}

static yk_status make(const struct yk_model_config *config, const struct yk_cluster *cluster,
                      struct yk_arena *arena, struct yk_benchmark_plan *made)
{
    struct yk_plan *plan = NULL;
    YK_TRY(yk_model_sizes_create(config, &made->workload, &made->sizes));
    YK_TRY(make_plan(made, config, cluster, arena, &plan));
    return yk_program_compile(plan, cluster, made->sizes, &made->program);
}

yk_status yk_benchmark_plan_make(const struct yk_model_config *config,
                                 const struct yk_workload *workload,
                                 const struct yk_cluster *cluster, int64_t samples,
                                 struct yk_arena *arena, struct yk_benchmark_plan *out)
{
    struct yk_benchmark_plan made = {.workload = *workload};
    made.workload.batch = samples * YK_BENCHMARK_MICRO_BATCHES;
    const yk_status status = make(config, cluster, arena, &made);
    if (status != YK_OK) {
        yk_benchmark_plan_free(&made);
        return status;
    }
    *out = made;
    return YK_OK;
}

void yk_benchmark_plan_free(struct yk_benchmark_plan *plan)
{
    yk_program_destroy(plan->program);
    yk_model_sizes_destroy(plan->sizes);
    *plan = (struct yk_benchmark_plan){0};
}

yk_status yk_benchmark_plan_bytes(const struct yk_benchmark_plan *plan, double *out)
{
    struct yk_arena *arena = NULL;
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_program_memory_count(plan->program, 0, arena, &memory);
    if (status == YK_OK) {
        status = yk_program_memory_peak(plan->program, 0, memory, &peak);
    }
    if (status == YK_OK) {
        *out = peak.bytes;
    }
    yk_arena_destroy(arena);
    return status;
}
