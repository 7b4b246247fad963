#include "measure/benchmark/benchmark.h"

#include "base/random.h"
#include "program/memory/memory.h"
#include "program/program.h"
#include "train/executor/executor.h"

/* ---- the model ---- */

static yk_status set_up_model(struct yk_benchmark_model *model)
{
    const struct yk_net_options options = {.seed = 1};
    YK_TRY(yk_model_build(model->request.config, &model->request.workload, model->arena,
                          &model->description));
    YK_TRY(yk_net_create(model->description, &options, &model->net));
    YK_TRY(yk_parameter_store_create(model->net, &model->context, model->optimizer.kind, NULL,
                                     &model->store));
    return yk_parameter_store_init_parameters(model->store, 1, YK_PARAMETER_STORE_INIT_REPEATED);
}

yk_status yk_benchmark_model_create(const struct yk_benchmark_model_request *request,
                                    const struct yk_cluster *cluster,
                                    const struct yk_device_context *context,
                                    struct yk_benchmark_model **out)
{
    struct yk_benchmark_model *model = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(model);
    model->request = *request;
    model->cluster = cluster;
    model->context = *context;
    /* A rate of 0: times do not depend on it, and nothing can grow without bound. */
    model->optimizer = (struct yk_optimizer_options){
        .kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    YK_TRY_OR_CLEAN_UP(set_up_model(model), yk_benchmark_model_destroy(model));
    *out = model;
    return YK_OK;
}

void yk_benchmark_model_destroy(struct yk_benchmark_model *model)
{
    if (model) {
        yk_parameter_store_destroy(model->store);
        yk_net_destroy(model->net);
        yk_arena_destroy(model->arena);
    }
}

/* ---- the plan ---- */

static const double plain_block_bytes = 4.0 * 1024 * 1024;

static yk_status make_plan(const struct yk_benchmark_step_program *made,
                           const struct yk_model_config *config, const struct yk_cluster *cluster,
                           struct yk_arena *arena, struct yk_plan **out)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(made->cache);
    struct yk_plan *plan = NULL;
    YK_TRY(yk_plan_create(arena, 1, 1, model->layer_count, &plan));
    plan->model_source = config->name;
    plan->cluster_source = cluster->source;
    plan->workload = made->workload;
    plan->ranks[0].limit_bytes = cluster->devices[0].memory_bytes;
    plan->groups[0].member_count = 1;
    plan->groups[0].members[0] =
        (struct yk_plan_group_member){.share = made->workload.batch, .shard_fraction = 1};
    plan->micro_batches = YK_BENCHMARK_MICRO_BATCHES;
    plan->pipeline = YK_PIPELINE_1F1B;
    plan->no_sync = true;
    plan->prefetch = 1;
    plan->block_bytes = plain_block_bytes;
    plan->bucket_bytes = plain_block_bytes;
    *out = plan;
    return yk_plan_check(plan, model);
}

yk_status yk_benchmark_step_program_make(const struct yk_model_config *config,
                                         const struct yk_workload *workload,
                                         const struct yk_cluster *cluster, int64_t samples,
                                         struct yk_arena *arena,
                                         struct yk_benchmark_step_program *out)
{
    struct yk_benchmark_step_program made = {.workload = *workload};
    struct yk_plan *plan = NULL;
    made.workload.batch = samples * YK_BENCHMARK_MICRO_BATCHES;
    yk_status status = yk_model_cache_create(config, &made.workload, &made.cache);
    YK_IF_OK(make_plan(&made, config, cluster, arena, &plan));
    YK_IF_OK(yk_program_compile(plan, cluster, made.cache, &made.program));
    YK_TRY_OR_CLEAN_UP(status, yk_benchmark_step_program_free(&made));
    *out = made;
    return YK_OK;
}

void yk_benchmark_step_program_free(struct yk_benchmark_step_program *plan)
{
    yk_program_destroy(plan->program);
    yk_model_cache_destroy(plan->cache);
    *plan = (struct yk_benchmark_step_program){0};
}

yk_status yk_benchmark_step_program_peak_bytes(const struct yk_benchmark_step_program *plan,
                                               struct yk_arena *arena, double *out)
{
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    YK_TRY(yk_program_memory_count_for_rank(plan->program, 0, arena, &memory));
    YK_TRY(yk_program_memory_find_peak(plan->program, 0, memory, &peak));
    *out = peak.bytes;
    return YK_OK;
}

/* ---- steps ---- */

struct yk_benchmark {
    struct yk_arena *arena;
    struct yk_benchmark_model *model;
    struct yk_benchmark_step_program plan;
    struct yk_executor *executor;
    struct yk_rank_batch batch;
    struct yk_benchmark_step_times round;
    struct yk_op_interval *times; /* (ops) of the round */
    double *from_s;               /* (ops) of the round, with pauses */
    double *until_s;
};

static void fill(struct yk_random *random, int64_t count, int64_t below, int32_t *out)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = (int32_t)yk_random_below(random, below);
    }
}

static yk_status make_slice(struct yk_benchmark *benchmark, const struct yk_workload *workload,
                            int64_t samples, struct yk_random *random, struct yk_sample_slice *out)
{
    const struct yk_model_config *config = benchmark->model->request.config;
    const int64_t image_bytes = yk_model_config_image_bytes(config);
    const int64_t T = image_bytes > 0 ? 1 : workload->sequence;
    const bool decodes = config->encoder_layers > 0;
    const int64_t S = workload->target_sequence > 0 ? workload->target_sequence : T;
    struct yk_sample_slice slice = {.samples = samples, .sequence = T};
    YK_TRY_NEW(benchmark->arena, slice.tokens, samples * T);
    YK_TRY_NEW(benchmark->arena, slice.lengths, samples);
    YK_TRY_NEW(benchmark->arena, slice.targets, samples * (decodes ? S : T));
    fill(random, samples * T, config->vocabulary, slice.tokens);
    for (int64_t i = 0; i < samples; i++) {
        slice.lengths[i] = (int32_t)T;
    }
    slice.loss_targets = samples * (decodes ? S : T);
    slice.token_count = slice.loss_targets;
    fill(random, slice.loss_targets, yk_model_config_target_vocabulary_size(config), slice.targets);
    if (image_bytes > 0) {
        YK_TRY_NEW(benchmark->arena, slice.pixels, samples * image_bytes);
        for (int64_t i = 0; i < samples * image_bytes; i++) {
            slice.pixels[i] = (uint8_t)yk_random_below(random, UINT8_MAX + 1);
        }
    }
    if (decodes) {
        slice.target_sequence = S;
        YK_TRY_NEW(benchmark->arena, slice.target_tokens, samples * S);
        fill(random, samples * S, yk_model_config_target_vocabulary_size(config),
             slice.target_tokens);
    }
    *out = slice;
    return YK_OK;
}

static yk_status make_batch(struct yk_benchmark *benchmark)
{
    const struct yk_workload *workload = &benchmark->plan.workload;
    struct yk_random random = yk_random_from_seed(1);
    struct yk_rank_batch *batch = &benchmark->batch;
    const int64_t samples = workload->batch / YK_BENCHMARK_MICRO_BATCHES;
    batch->slice_count = YK_BENCHMARK_MICRO_BATCHES;
    YK_TRY_NEW(benchmark->arena, batch->slices, batch->slice_count);
    for (int32_t m = 0; m < batch->slice_count; m++) {
        struct yk_rank_micro_batch *slice = &batch->slices[m];
        YK_TRY(make_slice(benchmark, workload, samples, &random, &slice->own));
        slice->all = samples;
        slice->own.first_sample = batch->units;
        batch->units += samples;
        batch->loss_targets += slice->own.loss_targets;
        batch->unpadded_tokens += slice->own.token_count;
    }
    return YK_OK;
}

static yk_status set_up(struct yk_benchmark *benchmark, int64_t samples)
{
    const struct yk_benchmark_model *model = benchmark->model;
    YK_TRY(yk_benchmark_step_program_make(model->request.config, &model->request.workload,
                                          model->cluster, samples, benchmark->arena,
                                          &benchmark->plan));
    YK_TRY(make_batch(benchmark));
    const int32_t op_count = benchmark->plan.program->ranks[0].op_count;
    YK_TRY_NEW(benchmark->arena, benchmark->round.op_s, op_count);
    YK_TRY_NEW(benchmark->arena, benchmark->round.begin_s, op_count);
    YK_TRY_NEW(benchmark->arena, benchmark->round.end_s, op_count);
    YK_TRY_NEW(benchmark->arena, benchmark->times, op_count);
    YK_TRY_NEW(benchmark->arena, benchmark->from_s, op_count);
    YK_TRY_NEW(benchmark->arena, benchmark->until_s, op_count);
    return YK_OK;
}

yk_status yk_benchmark_create(struct yk_benchmark_model *model, int64_t samples,
                              struct yk_benchmark **out)
{
    struct yk_benchmark *benchmark = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(benchmark);
    benchmark->model = model;
    YK_TRY_OR_CLEAN_UP(set_up(benchmark, samples), yk_benchmark_destroy(benchmark));
    *out = benchmark;
    return YK_OK;
}

void yk_benchmark_destroy(struct yk_benchmark *benchmark)
{
    if (benchmark) {
        yk_benchmark_free_memory(benchmark);
        yk_benchmark_step_program_free(&benchmark->plan);
        yk_arena_destroy(benchmark->arena);
    }
}

yk_status yk_benchmark_allocate_memory(struct yk_benchmark *benchmark)
{
    struct yk_benchmark_model *model = benchmark->model;
    const struct yk_executor_options options = {.slowdown = model->request.slowness};
    return yk_executor_create(benchmark->plan.program, model->store, &model->optimizer, &options,
                              &benchmark->executor);
}

void yk_benchmark_free_memory(struct yk_benchmark *benchmark)
{
    if (benchmark->executor) {
        const yk_status drained = yk_executor_finish_steps(benchmark->executor);
        (void)drained; /* nobody needs the numbers any more */
        yk_executor_destroy(benchmark->executor);
        benchmark->executor = NULL;
    }
}

const struct yk_program *yk_benchmark_get_program(const struct yk_benchmark *benchmark)
{
    return benchmark->plan.program;
}

double yk_benchmark_allocated_bytes(const struct yk_benchmark *benchmark)
{
    return (double)benchmark->model->store->bytes +
           (double)yk_executor_device_memory_bytes(benchmark->executor);
}

/* In the first step of all, what it would do for the one before is left out. */
static yk_status read_times(struct yk_benchmark *benchmark)
{
    const struct yk_op_list *list = &benchmark->plan.program->ranks[0];
    struct yk_benchmark_step_times *round = &benchmark->round;
    struct yk_op_timeline timeline;
    YK_TRY(yk_executor_get_timeline(benchmark->executor, 0, benchmark->times, &timeline));
    round->whole = yk_op_timeline_is_complete(&timeline);
    for (int32_t i = 0; round->whole && i < list->op_count; i++) {
        round->begin_s[i] = timeline.ops[i].start_s;
        round->end_s[i] = timeline.ops[i].end_s;
    }
    if (round->whole) {
        yk_op_spans_compute(list, round->begin_s, round->end_s, benchmark->from_s,
                            benchmark->until_s);
    }
    for (int32_t i = 0; round->whole && i < list->op_count; i++) {
        round->op_s[i] = benchmark->until_s[i] - benchmark->from_s[i];
    }
    return YK_OK;
}

yk_status yk_benchmark_enqueue_step(struct yk_benchmark *benchmark)
{
    const struct yk_step_options step = {
        .batch = &benchmark->batch, .updates = benchmark->model->steps++, .loss_scale = 1};
    return yk_executor_begin_step(benchmark->executor, &step, &benchmark->batch);
}

int32_t yk_benchmark_max_steps_in_flight(const struct yk_benchmark *benchmark)
{
    return yk_executor_max_steps_in_flight(benchmark->executor);
}

yk_status yk_benchmark_wait_for_oldest_step(struct yk_benchmark *benchmark,
                                            const struct yk_benchmark_step_times **out)
{
    struct yk_step_result result;
    YK_TRY(yk_executor_end_step(benchmark->executor, &result));
    YK_TRY(read_times(benchmark));
    *out = &benchmark->round;
    return YK_OK;
}
