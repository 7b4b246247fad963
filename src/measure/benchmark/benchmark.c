#include "measure/benchmark/benchmark.h"

#include "base/random.h"
#include "measure/benchmark/plan.h"
#include "program/program.h"
#include "train/executor/executor.h"

struct yk_benchmark {
    struct yk_arena *arena;
    struct yk_benchmark_model *practice;
    struct yk_benchmark_plan plan;
    struct yk_executor *executor;
    struct yk_batch batch;
    struct yk_benchmark_step round;
    struct yk_op_time *times; /* (ops) of the round */
    double *from_s;           /* (ops) of the round, with pauses */
    double *until_s;
};

static void fill(struct yk_random *random, int64_t count, int64_t below, int32_t *out)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = (int32_t)yk_random_below(random, below);
    }
}

static yk_status make_piece(struct yk_benchmark *rehearsal, const struct yk_workload *workload,
                            int64_t samples, struct yk_random *random, struct yk_slice *out)
{
    const struct yk_model_config *config = rehearsal->practice->wish.config;
    const int64_t T = workload->sequence;
    const bool decodes = config->encoder_layers > 0;
    const int64_t S = workload->target_sequence > 0 ? workload->target_sequence : T;
    struct yk_slice piece = {.samples = samples, .sequence = T};
    YK_TRY_NEW(rehearsal->arena, piece.tokens, samples * T);
    YK_TRY_NEW(rehearsal->arena, piece.lengths, samples);
    YK_TRY_NEW(rehearsal->arena, piece.targets, samples * (decodes ? S : T));
    fill(random, samples * T, config->vocabulary, piece.tokens);
    for (int64_t i = 0; i < samples; i++) {
        piece.lengths[i] = (int32_t)T;
    }
    piece.counted = samples * (decodes ? S : T);
    piece.present = piece.counted;
    fill(random, piece.counted, yk_model_config_target_vocabulary(config), piece.targets);
    if (decodes) {
        piece.target_sequence = S;
        YK_TRY_NEW(rehearsal->arena, piece.target_tokens, samples * S);
        fill(random, samples * S, yk_model_config_target_vocabulary(config), piece.target_tokens);
    }
    *out = piece;
    return YK_OK;
}

static yk_status make_batch(struct yk_benchmark *rehearsal)
{
    const struct yk_workload *workload = &rehearsal->plan.workload;
    struct yk_random random = yk_random_from_seed(1);
    struct yk_batch *batch = &rehearsal->batch;
    const int64_t samples = workload->batch / YK_BENCHMARK_MICRO_BATCHES;
    batch->slice_count = YK_BENCHMARK_MICRO_BATCHES;
    YK_TRY_NEW(rehearsal->arena, batch->slices, batch->slice_count);
    for (int32_t m = 0; m < batch->slice_count; m++) {
        struct yk_batch_slice *piece = &batch->slices[m];
        YK_TRY(make_piece(rehearsal, workload, samples, &random, &piece->own));
        piece->all = samples;
        piece->own.first_sample = batch->units;
        batch->units += samples;
        batch->counted += piece->own.counted;
        batch->present += piece->own.present;
    }
    return YK_OK;
}

static yk_status set_up(struct yk_benchmark *rehearsal, int64_t samples)
{
    const struct yk_benchmark_model *practice = rehearsal->practice;
    YK_TRY(yk_benchmark_plan_make(practice->wish.config, &practice->wish.workload,
                                  practice->cluster, samples, rehearsal->arena, &rehearsal->plan));
    YK_TRY(make_batch(rehearsal));
    const int32_t op_count = rehearsal->plan.program->ranks[0].op_count;
    YK_TRY_NEW(rehearsal->arena, rehearsal->round.op_s, op_count);
    YK_TRY_NEW(rehearsal->arena, rehearsal->round.begin_s, op_count);
    YK_TRY_NEW(rehearsal->arena, rehearsal->round.end_s, op_count);
    YK_TRY_NEW(rehearsal->arena, rehearsal->times, op_count);
    YK_TRY_NEW(rehearsal->arena, rehearsal->from_s, op_count);
    YK_TRY_NEW(rehearsal->arena, rehearsal->until_s, op_count);
    return YK_OK;
}

yk_status yk_benchmark_create(struct yk_benchmark_model *practice, int64_t samples,
                              struct yk_benchmark **out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_benchmark *rehearsal = yk_arena_allocate(arena, 1, sizeof *rehearsal);
    if (!rehearsal) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    *rehearsal = (struct yk_benchmark){.arena = arena, .practice = practice};
    const yk_status status = set_up(rehearsal, samples);
    if (status != YK_OK) {
        yk_benchmark_destroy(rehearsal);
        return status;
    }
    *out = rehearsal;
    return YK_OK;
}

void yk_benchmark_destroy(struct yk_benchmark *rehearsal)
{
    if (rehearsal) {
        yk_benchmark_free(rehearsal);
        yk_benchmark_plan_free(&rehearsal->plan);
        yk_arena_destroy(rehearsal->arena);
    }
}

yk_status yk_benchmark_allocate(struct yk_benchmark *rehearsal)
{
    struct yk_benchmark_model *practice = rehearsal->practice;
    const struct yk_executor_options options = {.slow = practice->wish.slowness};
    return yk_executor_create(rehearsal->plan.program, practice->store, &practice->optimizer,
                              &options, &rehearsal->executor);
}

void yk_benchmark_free(struct yk_benchmark *rehearsal)
{
    if (rehearsal->executor) {
        const yk_status settled = yk_executor_finish_steps(rehearsal->executor);
        (void)settled; /* nobody needs the numbers any more */
        yk_executor_destroy(rehearsal->executor);
        rehearsal->executor = NULL;
    }
}

const struct yk_program *yk_benchmark_program(const struct yk_benchmark *rehearsal)
{
    return rehearsal->plan.program;
}

double yk_benchmark_bytes(const struct yk_benchmark *rehearsal)
{
    return (double)rehearsal->practice->store->bytes +
           (double)yk_executor_bytes(rehearsal->executor);
}

/* In the first step of all, what it would do for the one before is left out. */
static yk_status read_times(struct yk_benchmark *rehearsal)
{
    const struct yk_program_rank *list = &rehearsal->plan.program->ranks[0];
    struct yk_benchmark_step *round = &rehearsal->round;
    struct yk_round_times times;
    YK_TRY(yk_executor_times(rehearsal->executor, 0, rehearsal->times, &times));
    round->whole = yk_round_times_are_whole(&times);
    for (int32_t i = 0; round->whole && i < list->op_count; i++) {
        round->begin_s[i] = times.ops[i].start_s;
        round->end_s[i] = times.ops[i].end_s;
    }
    if (round->whole) {
        yk_op_spans_find(list, round->begin_s, round->end_s, rehearsal->from_s, rehearsal->until_s);
    }
    for (int32_t i = 0; round->whole && i < list->op_count; i++) {
        round->op_s[i] = rehearsal->until_s[i] - rehearsal->from_s[i];
    }
    return YK_OK;
}

yk_status yk_benchmark_begin(struct yk_benchmark *rehearsal)
{
    const struct yk_step step = {
        .batch = &rehearsal->batch, .updates = rehearsal->practice->steps++, .loss_scale = 1};
    return yk_executor_begin_step(rehearsal->executor, &step, &rehearsal->batch);
}

int32_t yk_benchmark_depth(const struct yk_benchmark *rehearsal)
{
    return yk_executor_depth(rehearsal->executor);
}

yk_status yk_benchmark_end(struct yk_benchmark *rehearsal, const struct yk_benchmark_step **out)
{
    struct yk_step_result result;
    YK_TRY(yk_executor_end_step(rehearsal->executor, &result));
    YK_TRY(read_times(rehearsal));
    *out = &rehearsal->round;
    return YK_OK;
}
