#include "base/array.h"
#include "job/training/request.h"
#include "library/library.h"

#include <stdlib.h>

struct yoke_training {
    struct yk_arena *arena; /* owns the names and values of `options` */
    struct yk_train_option *options;
    int32_t count;
    int32_t capacity;
    struct yk_train_result outcome; /* owns the strings of `result` */
    struct yoke_training_result result;
    bool has_result;
};

/* One call of yoke_training_run(). */
struct call {
    const struct yoke_training_callbacks *callbacks;
    struct yk_arena *arena;
    const char *failure; /* the message of a failure of all ranks; NULL means: none */
};

yoke_status yoke_training_create(yoke_training **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(out);
    yoke_training *training = calloc(1, sizeof *training);
    const yk_status status = training ? yk_arena_create(&training->arena) : yk_fail_out_of_memory();
    YK_LIBRARY_TRY_OR_CLEANUP(status, free(training));
    *out = training;
    return YOKE_OK;
}

void yoke_training_destroy(yoke_training *training)
{
    if (training) {
        yk_train_result_free(&training->outcome);
        yk_arena_destroy(training->arena);
        free(training->options);
        free(training);
    }
}

static yk_status set(yoke_training *training, const char *name, const char *value)
{
    struct yk_train_option option = {0};
    YK_TRY(yk_train_request_check_option(&(struct yk_train_option){name, value}));
    YK_TRY(yk_arena_strdup(training->arena, name, &option.name));
    YK_TRY(yk_arena_strdup(training->arena, value, &option.value));
    YK_TRY_GROW_ARRAY(training->options, training->capacity, training->count);
    training->options[training->count++] = option;
    return YK_OK;
}

yoke_status yoke_training_set(yoke_training *training, const char *name, const char *value)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(training, name, value);
    return yk_library_to_public_status(set(training, name, value));
}

static void report_progress(void *user, const char *what, double done)
{
    const struct yoke_training_callbacks *callbacks = ((const struct call *)user)->callbacks;
    callbacks->progress(callbacks->user, what, done);
}

static void report_lost(void *user, const char *sentence)
{
    const struct yoke_training_callbacks *callbacks = ((const struct call *)user)->callbacks;
    callbacks->lost(callbacks->user, sentence);
}

static void report_leave(void *user, yk_status status)
{
    const struct yoke_training_callbacks *callbacks = ((const struct call *)user)->callbacks;
    callbacks->leave(callbacks->user, yk_library_to_public_status(status));
}

/* Keeps the message until the call returns. */
static void keep_failure(void *user, const char *sentence)
{
    struct call *call = user;
    (void)!yk_arena_strdup(call->arena, sentence, &call->failure);
}

static void report_step(void *user, const struct yk_train_step_report *report)
{
    const struct yk_step_metrics *step = report->metrics;
    const struct yoke_training_callbacks *callbacks = ((const struct call *)user)->callbacks;
    const struct yoke_training_step reported = {
        .step = step->step,
        .steps = step->steps,
        .loss = step->loss,
        .norm = step->norm,
        .lr = step->lr,
        .seconds = step->seconds,
        .tokens_per_s = step->tokens_per_s,
        .skipped = step->skipped,
    };
    callbacks->step(callbacks->user, &reported);
}

static void report_evaluation(void *user, const struct yk_train_evaluation_report *evaluation)
{
    const struct yoke_training_callbacks *callbacks = ((const struct call *)user)->callbacks;
    callbacks->evaluated(callbacks->user, evaluation->step, evaluation->loss);
}

static void report_checkpoint(void *user, const struct yk_train_checkpoint_report *checkpoint)
{
    const struct yoke_training_callbacks *callbacks = ((const struct call *)user)->callbacks;
    callbacks->saved(callbacks->user, checkpoint->step, checkpoint->path);
}

static void fill_result(yoke_training *training)
{
    const struct yk_train_result *outcome = &training->outcome;
    const bool saved = outcome->checkpoint && *outcome->checkpoint;
    training->has_result = true;
    training->result = (struct yoke_training_result){
        .folder = outcome->folder,
        .checkpoint = saved ? outcome->checkpoint : NULL,
        .rank = outcome->rank,
        .rank_count = outcome->size,
        .steps_done = outcome->steps_done,
        .stopped = outcome->stopped,
        .first_loss = outcome->first_loss,
        .last_loss = outcome->last_loss,
        .evaluation_loss = outcome->evaluation_loss,
        .seconds = outcome->seconds,
        .tokens = outcome->tokens,
        .median_step_s = outcome->median_step_s,
        .predicted_step_s = outcome->predicted_step_s,
        .mfu = outcome->mfu,
    };
}

/* The arena of the call owns the strings of the request and the message of a failure. */
static yk_status run(yoke_training *training, struct call *call)
{
    const struct yoke_training_callbacks *callbacks = call->callbacks;
    const struct yk_job_callbacks job = {
        .user = call,
        .progress = callbacks->progress ? report_progress : NULL,
        .failed = keep_failure,
        .lost = callbacks->lost ? report_lost : NULL,
        .exit_process = callbacks->leave ? report_leave : NULL,
        .stop = callbacks->stop ? &callbacks->stop->raised : NULL,
    };
    const struct yk_train_progress_callbacks progress = {
        .user = call,
        .step = callbacks->step ? report_step : NULL,
        .evaluation = callbacks->evaluated ? report_evaluation : NULL,
        .checkpoint = callbacks->saved ? report_checkpoint : NULL,
    };
    struct yk_train_request request = {0};
    YK_TRY(yk_train_request_from_options(training->options, (size_t)training->count, call->arena,
                                         &request));
    request.job = &job;
    request.progress = &progress;
    const yk_status status = yk_train_run(&request, &training->outcome);
    return status != YK_OK && call->failure ? yk_fail(status, "%s", call->failure) : status;
}

yoke_status yoke_training_run(yoke_training *training,
                              const struct yoke_training_callbacks *callbacks)
{
    static const struct yoke_training_callbacks none;
    YK_LIBRARY_REQUIRE_NOT_NULL(training);
    struct call call = {.callbacks = callbacks ? callbacks : &none};
    yk_train_result_free(&training->outcome);
    training->outcome = (struct yk_train_result){0};
    training->has_result = false;
    yk_status status = yk_arena_create(&call.arena);
    if (status == YK_OK) {
        status = run(training, &call);
        yk_arena_destroy(call.arena);
    }
    if (status == YK_OK || status == YK_ERROR_STOPPED) {
        fill_result(training);
        status = YK_OK;
    }
    return yk_library_to_public_status(status);
}

const struct yoke_training_result *yoke_training_result(const yoke_training *training)
{
    return training->has_result ? &training->result : NULL;
}
