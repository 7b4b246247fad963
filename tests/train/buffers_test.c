/* Where buffers lie during a step: none on top of another, and no more bytes than were counted. */
#include "train/executor/buffers.h"

#include "model/config.h"
#include "program/memory/memory.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *model;
    int64_t batch;
    int64_t sequence;
    int32_t micro_batches;
    enum yk_precision precision;
    int64_t lora_rank;
    bool nf4;
    bool recompute;
    enum yk_pipeline_schedule_kind pipeline;
    int64_t target_sequence; /* of a decoder */
};

static const struct request requests[] = {
    {"gpt-mini", 12, 64, 1, YK_PRECISION_FP32, 0, false, false, YK_PIPELINE_1F1B, 0},
    {"gpt-mini", 12, 64, 4, YK_PRECISION_FP32, 0, false, false, YK_PIPELINE_1F1B, 0},
    {"gpt-mini", 12, 64, 3, YK_PRECISION_FP32, 0, false, false, YK_PIPELINE_GPIPE, 0},
    {"gpt-mini", 7, 128, 3, YK_PRECISION_BF16, 0, false, true, YK_PIPELINE_1F1B, 0},
    {"gpt2", 4, 64, 1, YK_PRECISION_FP32, 0, false, false, YK_PIPELINE_1F1B, 0},
    {"gpt2", 4, 64, 2, YK_PRECISION_FP16, 0, false, true, YK_PIPELINE_1F1B, 0},
    {"gpt2", 4, 64, 1, YK_PRECISION_FP32, 8, false, false, YK_PIPELINE_1F1B, 0},
    {"tinyllama-1.1b", 2, 64, 1, YK_PRECISION_BF16, 0, false, false, YK_PIPELINE_1F1B, 0},
    {"tinyllama-1.1b", 2, 64, 1, YK_PRECISION_BF16, 0, false, true, YK_PIPELINE_1F1B, 0},
    {"tinyllama-1.1b", 2, 64, 2, YK_PRECISION_BF16, 16, false, false, YK_PIPELINE_1F1B, 0},
    {"llama3-8b", 2, 64, 1, YK_PRECISION_BF16, 32, true, false, YK_PIPELINE_1F1B, 0},
    {"llama3-8b", 2, 64, 1, YK_PRECISION_BF16, 32, true, true, YK_PIPELINE_1F1B, 0},
    {"bert-mini", 6, 64, 1, YK_PRECISION_FP32, 0, false, false, YK_PIPELINE_1F1B, 0},
    {"bert-base-mlm", 4, 64, 2, YK_PRECISION_BF16, 0, false, true, YK_PIPELINE_1F1B, 0},
    {"bert-base-mlm", 4, 64, 1, YK_PRECISION_FP32, 8, true, false, YK_PIPELINE_1F1B, 0},
    {"transformer-small", 6, 48, 1, YK_PRECISION_FP32, 0, false, false, YK_PIPELINE_1F1B, 64},
    {"transformer-small", 7, 64, 3, YK_PRECISION_FP32, 0, false, true, YK_PIPELINE_1F1B, 32},
    {"transformer-small", 6, 64, 3, YK_PRECISION_BF16, 0, false, false, YK_PIPELINE_GPIPE, 0},
    {"transformer-small", 6, 64, 3, YK_PRECISION_FP32, 0, false, true, YK_PIPELINE_GPIPE, 32},
    {"transformer-base", 4, 64, 2, YK_PRECISION_BF16, 8, true, true, YK_PIPELINE_1F1B, 48},
};

enum {
    REQUESTS = sizeof requests / sizeof requests[0]
};

struct step {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_model_cache *cache;
    struct yk_program *program;
    struct yk_net *net;
    struct yk_executor_buffers buffers;
};

static struct yk_plan *plan_of(struct step *step, const struct request *request,
                               const struct yk_workload *workload)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(step->cache);
    struct yk_plan *plan = NULL;
    assert_int_equal(yk_plan_create(step->arena, 1, 1, model->layer_count, &plan), YK_OK);
    plan->model_source = request->model;
    plan->cluster_source = "cpu:2";
    plan->workload = *workload;
    plan->ranks[0].limit_bytes = 1e12;
    plan->groups[0].member_count = 1;
    plan->groups[0].members[0] =
        (struct yk_plan_group_member){.share = request->batch, .shard_fraction = 1};
    for (int32_t l = 0; l < model->layer_count; l++) {
        const bool block = strstr(model->layers[l].kind, "-block") != NULL;
        plan->layers[l].recompute = request->recompute && block;
    }
    plan->micro_batches = request->micro_batches;
    plan->pipeline = request->pipeline;
    plan->no_sync = true;
    plan->prefetch = 1;
    plan->block_bytes = 25e6;
    plan->bucket_bytes = 25e6;
    return plan;
}

static struct step open_step(const struct request *request)
{
    struct step step = {0};
    const struct yk_model_config *config = NULL;
    const struct yk_net_options options = {0};
    const struct yk_workload workload = {
        .batch = request->batch,
        .sequence = request->sequence,
        .target_sequence = request->target_sequence,
        .precision = request->precision,
        .lora_rank = request->lora_rank,
        .nf4 = request->nf4,
    };
    assert_int_equal(yk_arena_create(&step.arena), YK_OK);
    assert_int_equal(yk_model_config_find_builtin(request->model, &config), YK_OK);
    assert_int_equal(yk_cluster_parse_line("cpu:2", &step.cluster), YK_OK);
    assert_int_equal(yk_model_cache_create(config, &workload, &step.cache), YK_OK);
    assert_int_equal(yk_program_compile(plan_of(&step, request, &workload), step.cluster,
                                        step.cache, &step.program),
                     YK_OK);
    assert_int_equal(yk_net_create(yk_model_cache_get_whole_batch(step.cache), &options, &step.net),
                     YK_OK);
    struct yk_program_facts *facts = NULL;
    struct yk_op_index *index = NULL;
    assert_int_equal(yk_program_facts_make(step.program, step.arena, &facts), YK_OK);
    assert_int_equal(yk_op_index_make_with_order(facts, 0, step.arena, &index), YK_OK);
    assert_int_equal(
        yk_executor_buffers_assign_offsets(index, step.net, 0, step.arena, &step.buffers), YK_OK);
    return step;
}

static void close_step(struct step *step)
{
    yk_net_destroy(step->net);
    yk_program_destroy(step->program);
    yk_model_cache_destroy(step->cache);
    yk_cluster_destroy(step->cluster);
    yk_arena_destroy(step->arena);
}

/* Written, byte by byte in pieces of 64, by whom: what a pass reads must still be its own. */
struct canvas {
    int32_t *owner; /* (bytes / 64) */
    size_t size;
};

static void paint(struct canvas *canvas, size_t offset, size_t bytes, int32_t owner)
{
    assert_true(offset + bytes <= canvas->size * 64);
    for (size_t i = offset / 64; i < (offset + bytes + 63) / 64; i++) {
        canvas->owner[i] = owner;
    }
}

static void expect_painted(const struct canvas *canvas, size_t offset, size_t bytes, int32_t owner)
{
    for (size_t i = offset / 64; i < (offset + bytes + 63) / 64; i++) {
        assert_int_equal(canvas->owner[i], owner);
    }
}

enum {
    OUTPUT = 1,
    SAVED,
    GRADIENT,
    WORK,
    KINDS,
};

static int32_t owner_of(const struct step *step, const struct yk_op *op, int32_t layer,
                        int32_t kind)
{
    return (layer * step->program->plan->micro_batches + op->micro_batch) * KINDS + kind;
}

static const struct yk_layer_buffer_offsets *offsets_of(const struct step *step,
                                                        const struct yk_op *op, int32_t layer)
{
    return &step->buffers.passes[layer * step->program->plan->micro_batches + op->micro_batch];
}

static struct yk_batch_shape extent_of(const struct step *step, const struct yk_op *op,
                                       int32_t layer)
{
    const struct yk_workload *workload = &step->net->workload;
    const int64_t target =
        workload->target_sequence > 0 ? workload->target_sequence : workload->sequence;
    return (struct yk_batch_shape){
        .samples = op->samples,
        .sequence = step->net->layers[layer].decodes ? target : workload->sequence,
        .memory = step->net->layers[layer].memory >= 0 ? workload->sequence : 0,
    };
}

/* The bytes of what a layer puts out, and of its gradient. */
static size_t stream_of(const struct step *step, const struct yk_op *op, int32_t layer)
{
    const struct yk_batch_shape batch = extent_of(step, op, layer);
    return (size_t)(batch.samples * batch.sequence * step->net->config->width *
                    yk_precision_bytes(step->net->workload.precision));
}

/* What the layers before it put out is still there where it is needed. */
static void expect_inputs(const struct step *step, const struct canvas *canvas,
                          const struct yk_op *op)
{
    const struct yk_net_layer *layer = &step->net->layers[op->layer];
    const int32_t before[] = {layer->input, layer->memory};
    const bool keeps = yk_model_cache_get_whole_batch(step->cache)->layers[op->layer].keeps_input;
    for (int i = 0; i < 2; i++) {
        if (before[i] >= 0 && (op->kind != YK_OP_BACKWARD || keeps)) {
            expect_painted(canvas, offsets_of(step, op, before[i])->output,
                           stream_of(step, op, before[i]), owner_of(step, op, before[i], OUTPUT));
        }
    }
}

static void run_forward(const struct step *step, struct canvas *canvas, const struct yk_op *op,
                        const struct yk_layer_memory_sizes *sizes)
{
    const bool forward = op->kind == YK_OP_FORWARD;
    const bool head = op->layer + 1 == step->net->layer_count;
    const struct yk_layer_buffer_offsets *offsets = offsets_of(step, op, op->layer);
    const size_t saved = forward ? offsets->forward_saved : offsets->saved;
    paint(canvas, saved, sizes->saved_bytes, owner_of(step, op, op->layer, SAVED));
    paint(canvas, forward ? offsets->forward_work : offsets->recompute_work, sizes->forward_bytes,
          owner_of(step, op, op->layer, WORK));
    if (forward && !head) {
        paint(canvas, offsets->output, stream_of(step, op, op->layer),
              owner_of(step, op, op->layer, OUTPUT));
    }
    expect_painted(canvas, saved, sizes->saved_bytes, owner_of(step, op, op->layer, SAVED));
}

static void run_backward(const struct step *step, struct canvas *canvas, const struct yk_op *op,
                         const struct yk_layer_memory_sizes *sizes)
{
    const struct yk_net_layer *layer = &step->net->layers[op->layer];
    const struct yk_layer_buffer_offsets *offsets = offsets_of(step, op, op->layer);
    const int32_t before[] = {layer->input, layer->memory};
    paint(canvas, offsets->backward_work, sizes->backward_bytes,
          owner_of(step, op, op->layer, WORK));
    for (int i = 0; i < 2; i++) {
        if (before[i] >= 0) {
            paint(canvas, offsets_of(step, op, before[i])->output_gradient,
                  stream_of(step, op, before[i]), owner_of(step, op, before[i], GRADIENT));
        }
    }
    expect_painted(canvas, offsets->saved, sizes->saved_bytes,
                   owner_of(step, op, op->layer, SAVED));
    expect_painted(canvas, offsets->backward_work, sizes->backward_bytes,
                   owner_of(step, op, op->layer, WORK));
    if (op->layer + 1 < step->net->layer_count) {
        expect_painted(canvas, offsets->output_gradient, stream_of(step, op, op->layer),
                       owner_of(step, op, op->layer, GRADIENT));
    }
}

/* What one op writes and reads, painted and looked at. */
static void run_op(const struct step *step, struct canvas *canvas, const struct yk_op *op)
{
    const struct yk_batch_shape batch = extent_of(step, op, op->layer);
    struct yk_layer_memory_sizes sizes;
    step->net->layers[op->layer].kind->measure(step->net, op->layer, &batch, &sizes);
    expect_inputs(step, canvas, op);
    if (op->kind == YK_OP_BACKWARD) {
        run_backward(step, canvas, op, &sizes);
    } else {
        run_forward(step, canvas, op, &sizes);
    }
    expect_inputs(step, canvas, op);
}

static void nothing_lies_on_what_is_still_needed(void **state)
{
    (void)state;
    for (int w = 0; w < REQUESTS; w++) {
        struct step step = open_step(&requests[w]);
        struct canvas canvas = {.size = step.buffers.bytes / 64 + 1};
        canvas.owner = yk_arena_allocate(step.arena, canvas.size, sizeof *canvas.owner);
        assert_non_null(canvas.owner);
        const struct yk_op_list *list = &step.program->ranks[0];
        for (int32_t i = 0; i < list->op_count; i++) {
            const struct yk_op *op = &list->ops[i];
            if (op->kind == YK_OP_FORWARD || op->kind == YK_OP_RECOMPUTE ||
                op->kind == YK_OP_BACKWARD) {
                run_op(&step, &canvas, op);
            }
        }
        close_step(&step);
    }
}

/* Two per cent, for pieces that do not fit together without gaps, and the alignment of small ones.
 */
static void buffers_need_no_more_than_was_counted(void **state)
{
    (void)state;
    for (int w = 0; w < REQUESTS; w++) {
        struct step step = open_step(&requests[w]);
        struct yk_program_memory *memory = NULL;
        struct yk_memory_peak peak;
        assert_int_equal(yk_program_memory_count_for_rank(step.program, 0, step.arena, &memory),
                         YK_OK);
        assert_int_equal(yk_program_memory_find_peak(step.program, 0, memory, &peak), YK_OK);
        double always = 0;
        for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
            always += memory->permanent_bytes[k];
        }
        const double counted = peak.bytes - always;
        if (!((double)step.buffers.bytes <= 1.02 * counted + 65536)) {
            fail_msg("%s, %d micro-batches: %zu bytes, counted %.0f", requests[w].model,
                     (int)requests[w].micro_batches, step.buffers.bytes, counted);
        }
        if (!((double)step.buffers.bytes >= 0.8 * counted)) {
            fail_msg("%s, %d micro-batches: only %zu bytes, counted %.0f", requests[w].model,
                     (int)requests[w].micro_batches, step.buffers.bytes, counted);
        }
        close_step(&step);
    }
}

/* Micro-batches of one sample follow each other, so a thousand times as many lie where four do.
 * Some 100,000 buffers: were each compared with all others, this would take an hour. */
static void thousands_of_micro_batches_lie_where_a_few_do(void **state)
{
    (void)state;
    const struct request few = {.model = "gpt-nano",
                                .batch = 4,
                                .sequence = 8,
                                .micro_batches = 4,
                                .pipeline = YK_PIPELINE_1F1B};
    const struct request many = {.model = "gpt-nano",
                                 .batch = 4000,
                                 .sequence = 8,
                                 .micro_batches = 4000,
                                 .pipeline = YK_PIPELINE_1F1B};
    struct step small = open_step(&few);
    struct step large = open_step(&many);
    assert_int_equal(large.buffers.bytes, small.buffers.bytes);
    close_step(&large);
    close_step(&small);
}

static void samples_that_cannot_be_counted_are_refused(void **state)
{
    (void)state;
    static const int64_t wrong[] = {-1, 13, INT64_MAX / 4};
    struct step step = open_step(&requests[0]);
    struct yk_program_facts *facts = NULL;
    struct yk_op_index *index = NULL;
    struct yk_executor_buffers buffers;
    assert_int_equal(yk_program_facts_make(step.program, step.arena, &facts), YK_OK);
    assert_int_equal(yk_op_index_make_with_order(facts, 0, step.arena, &index), YK_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(
            yk_executor_buffers_assign_offsets(index, step.net, wrong[i], step.arena, &buffers),
            YK_ERROR_INPUT);
    }
    close_step(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_lies_on_what_is_still_needed),
        cmocka_unit_test(buffers_need_no_more_than_was_counted),
        cmocka_unit_test(thousands_of_micro_batches_lie_where_a_few_do),
        cmocka_unit_test(samples_that_cannot_be_counted_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
