#include "support/training/trainer.h"

#include "support/support.h"

#include <string.h>

static void make_plan(struct trainer *trainer, const struct trainer_request *request,
                      const struct yk_workload *workload)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(trainer->cache);
    struct yk_plan *plan = NULL;
    assert_int_equal(yk_plan_create(trainer->arena, 1, 1, model->layer_count, &plan), YK_OK);
    plan->model_source = "test";
    plan->cluster_source = "cpu:2";
    plan->workload = *workload;
    plan->ranks[0].limit_bytes = trainer->cluster->devices[0].memory_bytes;
    plan->groups[0].member_count = 1;
    plan->groups[0].members[0] =
        (struct yk_plan_group_member){.share = request->batch, .shard_fraction = 1};
    for (int32_t l = 0; l < model->layer_count; l++) {
        const char *kind = model->layers[l].kind;
        plan->layers[l].recompute = request->recompute && strstr(kind, "-block") != NULL;
    }
    plan->micro_batches = request->micro_batches > 0 ? request->micro_batches : 1;
    plan->pipeline = YK_PIPELINE_1F1B;
    plan->clip = request->clip;
    plan->no_sync = true;
    plan->prefetch = 1;
    plan->block_bytes = 25e6;
    plan->bucket_bytes = 25e6;
    assert_int_equal(yk_plan_check(plan, model), YK_OK);
    trainer->plan = plan;
}

static void make_engine(struct trainer *trainer, const struct trainer_request *request)
{
    const struct yk_backend_device_options two_threads = {
        .threads = request->threads > 0 ? request->threads : 2};
    const struct yk_backend *backend = request->backend ? request->backend : &yk_backend_cpu;
    struct yk_device_context *context = &trainer->context;
    context->backend = backend;
    assert_ok(backend->open(request->backend_options ? request->backend_options : &two_threads,
                            &context->device));
    assert_ok(backend->lane_create(context->device, "host", &context->lane));
}

/* A step allocates nothing, and neither does what hands it its samples. */
static void make_room(struct trainer *trainer)
{
    const struct yk_workload *workload = &trainer->plan->workload;
    trainer->slices = yk_arena_allocate(trainer->arena, (size_t)trainer->plan->micro_batches,
                                        sizeof *trainer->slices);
    trainer->lengths =
        yk_arena_allocate(trainer->arena, (size_t)workload->batch, sizeof *trainer->lengths);
    assert_true(trainer->slices && trainer->lengths);
    for (int64_t i = 0; i < workload->batch; i++) {
        trainer->lengths[i] = (int32_t)workload->sequence;
    }
}

struct trainer *trainer_open(const struct trainer_request *request)
{
    struct yk_arena *arena = NULL;
    assert_int_equal(yk_arena_create(&arena), YK_OK);
    struct trainer *trainer = yk_arena_allocate(arena, 1, sizeof *trainer);
    assert_non_null(trainer);
    const struct yk_workload workload = {
        .batch = request->batch,
        .sequence = request->sequence,
        .target_sequence = request->target_sequence,
        .precision = request->precision,
        .lora_rank = request->lora_rank,
        .nf4 = request->nf4,
    };
    trainer->arena = arena;
    trainer->optimizer = request->optimizer;
    assert_int_equal(yk_cluster_parse_line("cpu:2", &trainer->cluster), YK_OK);
    assert_int_equal(yk_model_cache_create(request->config, &workload, &trainer->cache), YK_OK);
    make_plan(trainer, request, &workload);
    assert_int_equal(
        yk_program_compile(trainer->plan, trainer->cluster, trainer->cache, &trainer->program),
        YK_OK);
    assert_int_equal(yk_net_create(yk_model_cache_get_whole_batch(trainer->cache),
                                   &request->options, &trainer->net),
                     YK_OK);
    make_room(trainer);
    make_engine(trainer, request);
    assert_int_equal(yk_parameter_store_create(trainer->net, &trainer->context,
                                               request->optimizer.kind, NULL, &trainer->store),
                     YK_OK);
    if (request->optimizer.kind != YK_OPTIMIZER_NONE) {
        assert_int_equal(yk_executor_create(trainer->program, trainer->store, &trainer->optimizer,
                                            &(struct yk_executor_options){0}, &trainer->executor),
                         YK_OK);
    }
    return trainer;
}

void trainer_close(struct trainer *trainer)
{
    yk_executor_destroy(trainer->executor);
    yk_parameter_store_destroy(trainer->store);
    trainer->context.backend->lane_destroy(trainer->context.lane);
    trainer->context.backend->close(trainer->context.device);
    yk_net_destroy(trainer->net);
    yk_program_destroy(trainer->program);
    yk_model_cache_destroy(trainer->cache);
    yk_cluster_destroy(trainer->cluster);
    yk_arena_destroy(trainer->arena);
}

/* The samples `first` to `first` + `samples` − 1 of a piece. */
static struct yk_sample_slice part_of(const struct yk_sample_slice *whole, int64_t first,
                                      int64_t samples, int64_t image_bytes)
{
    struct yk_sample_slice slice = *whole;
    const int64_t width = whole->target_sequence > 0 ? whole->target_sequence : whole->sequence;
    slice.samples = samples;
    slice.first_sample += first;
    slice.tokens += first * whole->sequence;
    slice.lengths += first;
    slice.targets += first * width;
    slice.target_tokens = whole->target_tokens ? whole->target_tokens + first * width : NULL;
    slice.pixels = whole->pixels ? whole->pixels + first * image_bytes : NULL;
    return slice;
}

struct yk_step_result trainer_step_on(struct trainer *trainer, const struct yk_sample_slice *whole,
                                      struct yk_step_options step)
{
    const int32_t M = trainer->plan->micro_batches;
    const int64_t width = whole->target_sequence > 0 ? whole->target_sequence : whole->sequence;
    struct yk_step_result result;
    struct yk_rank_micro_batch *slices = trainer->slices;
    const int64_t image_bytes = yk_model_config_image_bytes(trainer->net->config);
    struct yk_rank_batch batch = {.slice_count = M, .slices = slices};
    int64_t done = 0;
    for (int32_t m = 0; m < M; m++) {
        int64_t first = 0;
        const int64_t samples = yk_plan_member_sample_range(trainer->plan, 0, 0, m, &first);
        slices[m] = (struct yk_rank_micro_batch){.own = part_of(whole, done, samples, image_bytes),
                                                 .all = samples};
        done += samples;
    }
    for (int64_t i = 0; i < whole->samples * width; i++) {
        batch.loss_targets += whole->targets[i] >= 0;
    }
    step.batch = &batch;
    step.loss_scale = step.loss_scale > 0 ? step.loss_scale : 1;
    assert_int_equal(yk_executor_begin_step(trainer->executor, &step, &batch), YK_OK);
    assert_int_equal(yk_executor_end_step(trainer->executor, &result), YK_OK);
    return result;
}

struct yk_step_result trainer_step(struct trainer *trainer, const int32_t *tokens,
                                   const int32_t *targets, int64_t first_sample,
                                   struct yk_step_options step)
{
    const struct yk_workload *workload = &trainer->plan->workload;
    const struct yk_sample_slice whole = {
        .samples = workload->batch,
        .sequence = workload->sequence,
        .first_sample = first_sample,
        .tokens = (int32_t *)(uintptr_t)tokens,
        .lengths = trainer->lengths,
        .targets = (int32_t *)(uintptr_t)targets,
    };
    return trainer_step_on(trainer, &whole, step);
}

float *trainer_gradient(struct trainer *trainer, const char *name, int64_t *count)
{
    int32_t layer = 0;
    const struct yk_parameter *parameter = yk_net_find_parameter(trainer->net, name, &layer);
    assert_non_null(parameter);
    assert_true(parameter->trained);
    const enum yk_precision type = trainer->net->workload.precision;
    const struct yk_device_context *context = &trainer->context;
    const size_t bytes = (size_t)parameter->count * sizeof(float);
    float *numbers = yk_arena_allocate(trainer->arena, (size_t)parameter->count, sizeof *numbers);
    void *there = NULL;
    assert_non_null(numbers);
    assert_ok(context->backend->allocate(context->device, bytes, &there));
    context->backend->cast(context->lane, &(struct yk_cast_op){
                                              .count = parameter->count,
                                              .from = trainer->store->layers[layer].gradients +
                                                      parameter->first * yk_precision_bytes(type),
                                              .to = there,
                                              .from_type = type,
                                              .to_type = YK_PRECISION_FP32,
                                          });
    assert_ok(yk_device_context_copy_and_wait(context, numbers, there, bytes));
    context->backend->free(context->device, there);
    *count = parameter->count;
    return numbers;
}
