#include "measure/rehearsal.h"

#include "base/random.h"
#include "measure/rehearsal_plan.h"
#include "train/executor.h"

#include <math.h>

struct yk_rehearsal {
    struct yk_arena *arena;
    struct yk_practice *practice;
    struct yk_rehearsal_plan plan;
    struct yk_executor *executor;
    struct yk_batch batch;
    struct yk_rehearsal_round round;
};

static void fill(struct yk_random *random, int64_t count, int64_t below, int32_t *out)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = (int32_t)yk_random_below(random, below);
    }
}

static yk_status make_piece(struct yk_rehearsal *rehearsal, const struct yk_workload *workload,
                            int64_t samples, struct yk_random *random, struct yk_piece *out)
{
    const struct yk_model_config *config = rehearsal->practice->wish.config;
    const int64_t T = workload->sequence;
    const bool decodes = config->encoder_layers > 0;
    const int64_t S = workload->target_sequence > 0 ? workload->target_sequence : T;
    struct yk_piece piece = {.samples = samples, .sequence = T};
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

static yk_status make_batch(struct yk_rehearsal *rehearsal)
{
    const struct yk_workload *workload = &rehearsal->plan.workload;
    struct yk_random random = yk_random_from_seed(1);
    struct yk_batch *batch = &rehearsal->batch;
    const int64_t samples = workload->batch / YK_REHEARSAL_MICRO_BATCHES;
    batch->piece_count = YK_REHEARSAL_MICRO_BATCHES;
    YK_TRY_NEW(rehearsal->arena, batch->pieces, batch->piece_count);
    for (int32_t m = 0; m < batch->piece_count; m++) {
        struct yk_batch_piece *piece = &batch->pieces[m];
        YK_TRY(make_piece(rehearsal, workload, samples, &random, &piece->own));
        piece->all = samples;
        piece->own.first_sample = batch->units;
        batch->units += samples;
        batch->counted += piece->own.counted;
        batch->present += piece->own.present;
    }
    return YK_OK;
}

static yk_status set_up(struct yk_rehearsal *rehearsal, int64_t samples)
{
    const struct yk_practice *practice = rehearsal->practice;
    YK_TRY(yk_rehearsal_plan_make(practice->wish.config, &practice->wish.workload,
                                  practice->cluster, samples, rehearsal->arena, &rehearsal->plan));
    YK_TRY(make_batch(rehearsal));
    const int32_t op_count = rehearsal->plan.program->ranks[0].op_count;
    YK_TRY_NEW(rehearsal->arena, rehearsal->round.op_s, op_count);
    YK_TRY_NEW(rehearsal->arena, rehearsal->round.begin_s, op_count);
    YK_TRY_NEW(rehearsal->arena, rehearsal->round.end_s, op_count);
    return YK_OK;
}

yk_status yk_rehearsal_create(struct yk_practice *practice, int64_t samples,
                              struct yk_rehearsal **out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_rehearsal *rehearsal = yk_arena_take(arena, 1, sizeof *rehearsal);
    if (!rehearsal) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    *rehearsal = (struct yk_rehearsal){.arena = arena, .practice = practice};
    const yk_status status = set_up(rehearsal, samples);
    if (status != YK_OK) {
        yk_rehearsal_destroy(rehearsal);
        return status;
    }
    *out = rehearsal;
    return YK_OK;
}

void yk_rehearsal_destroy(struct yk_rehearsal *rehearsal)
{
    if (rehearsal) {
        yk_rehearsal_leave(rehearsal);
        yk_rehearsal_plan_free(&rehearsal->plan);
        yk_arena_destroy(rehearsal->arena);
    }
}

yk_status yk_rehearsal_enter(struct yk_rehearsal *rehearsal)
{
    struct yk_practice *practice = rehearsal->practice;
    const struct yk_executor_options options = {.slow = practice->wish.slowness};
    return yk_executor_create(rehearsal->plan.program, practice->store, &practice->optimizer,
                              &options, &rehearsal->executor);
}

void yk_rehearsal_leave(struct yk_rehearsal *rehearsal)
{
    if (rehearsal->executor) {
        const yk_status settled = yk_executor_settle(rehearsal->executor);
        (void)settled; /* nobody needs the numbers any more */
        yk_executor_destroy(rehearsal->executor);
        rehearsal->executor = NULL;
    }
}

const struct yk_program *yk_rehearsal_program(const struct yk_rehearsal *rehearsal)
{
    return rehearsal->plan.program;
}

double yk_rehearsal_bytes(const struct yk_rehearsal *rehearsal)
{
    return (double)rehearsal->practice->store->bytes +
           (double)yk_executor_bytes(rehearsal->executor);
}

static bool waits_for_another_lane(const struct yk_program_rank *list, const struct yk_op *op)
{
    for (int32_t w = 0; w < op->wait_count; w++) {
        if (list->ops[list->waits[op->first_wait + w].op].lane != op->lane) {
            return true;
        }
    }
    return false;
}

/* Ops of one lane follow each other: what lies between two belongs to the later one, unless it
 * waits for another lane. */
static void read_times(const struct yk_program_rank *list, const struct yk_trace *trace,
                       double began_s, struct yk_rehearsal_round *round)
{
    double last_s[YK_LANE_COUNT];
    for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
        last_s[lane] = NAN;
    }
    /* In the first step of all, what it would do for the one before is left out. */
    round->whole = yk_trace_event_count(trace) == list->op_count;
    for (int32_t i = 0; round->whole && i < list->op_count; i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        const double before_s = last_s[event->lane];
        const bool waits = isnan(before_s) || waits_for_another_lane(list, &list->ops[i]);
        round->op_s[i] = event->end_s - (waits ? event->start_s : before_s);
        round->begin_s[i] = began_s + event->start_s;
        round->end_s[i] = began_s + event->end_s;
        last_s[event->lane] = event->end_s;
    }
}

yk_status yk_rehearsal_begin(struct yk_rehearsal *rehearsal)
{
    const struct yk_step step = {
        .batch = &rehearsal->batch, .updates = rehearsal->practice->steps++, .loss_scale = 1};
    return yk_executor_begin(rehearsal->executor, &step, &rehearsal->batch);
}

int32_t yk_rehearsal_depth(const struct yk_rehearsal *rehearsal)
{
    return yk_executor_depth(rehearsal->executor);
}

yk_status yk_rehearsal_end(struct yk_rehearsal *rehearsal, const struct yk_rehearsal_round **out)
{
    struct yk_step_result result;
    struct yk_trace *trace = NULL;
    YK_TRY(yk_executor_end(rehearsal->executor, &result));
    YK_TRY(yk_executor_trace(rehearsal->executor, rehearsal->practice->cluster->devices[0].name,
                             &trace));
    read_times(&rehearsal->plan.program->ranks[0], trace, yk_executor_round_s(rehearsal->executor),
               &rehearsal->round);
    yk_trace_destroy(trace);
    *out = &rehearsal->round;
    return YK_OK;
}
