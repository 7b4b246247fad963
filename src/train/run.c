#include "train/run.h"

#include "train/checkpoint/space.h"
#include "train/partitions.h"
#include "train/run_agree.h"
#include "train/run_numbers.h"
#include "train/run_steps.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

struct running {
    struct yk_vector_span_array *run;
    struct yk_run_steps steps;
    struct yk_arena *arena;
    struct yk_partition *saves; /* (L) what this rank saves */
    int64_t saved_step;         /* −1: not yet */
    int64_t evaluated_step;
};

static yk_status make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot make the folder %s: %s", path, strerror(errno));
    }
    return YK_OK;
}

static struct yk_checkpoint_content content_of(const struct running *running)
{
    const struct yk_vector_span_array *run = running->run;
    return (struct yk_checkpoint_content){
        .store = run->store,
        .state = run->state,
        .tokenizer = run->tokenizer,
        .options_json = run->options_json,
        .base_model = run->base_model,
        .ranks = run->executor.ranks,
        .saves = running->saves,
    };
}

/* What the last step has made is lost; say what is not. */
static yk_status fail_last(const struct running *running, yk_status status)
{
    return running->saved_step < 0
               ? status
               : yk_fail(status, "%s; the newest checkpoint is that of step %lld",
                         yk_status_message(), (long long)running->saved_step);
}

static yk_status save(struct running *running, bool last)
{
    struct yk_vector_span_array *run = running->run;
    const struct yk_checkpoint_content content = content_of(running);
    struct yk_text folder = {0};
    struct yk_text path = {0};
    yk_text_addf(&folder, "%s/checkpoints", run->folder);
    yk_status status = yk_text_status(&folder);
    status = yk_run_steps_agree(run, status);
    if (status == YK_OK) {
        status = yk_checkpoint_save(yk_text_chars(&folder), &content, run->options.keep, &path);
        yk_run_steps_note_agreed(run, status); /* ranks have come to it together in there */
    }
    running->saved_step = status == YK_OK ? run->state.step : running->saved_step;
    if (run->callbacks.saved && (status == YK_OK || !last)) {
        run->callbacks.saved(run->callbacks.user, run->state.step, yk_text_chars(&path),
                             status == YK_OK ? NULL : yk_status_message());
    }
    yk_text_free(&folder);
    yk_text_free(&path);
    run->agreed = run->agreed && last;
    if (last && status != YK_OK) {
        return fail_last(running, status);
    }
    return last ? status : YK_OK; /* an older one is still there, and training goes on */
}

static yk_status evaluate(struct running *running)
{
    struct yk_vector_span_array *run = running->run;
    struct yk_run_steps *steps = &running->steps;
    int64_t tokens = 0;
    struct yk_run_memory loan = {0};
    const struct yk_run_evaluation evaluation = {
        .batch = run->options.batch,
        .samples = run->options.evaluate_samples,
        .loan = &loan,
    };
    loan.memory = yk_executor_memory(steps->executor, &loan.bytes);
    if (run->program->rank_count > 1) {
        YK_TRY(yk_run_evaluate_ranks(steps->executor, run->program, run, &run->evaluation_loss,
                                     &tokens));
    } else {
        YK_TRY(yk_run_evaluate(run->store, run->evaluation, &evaluation, &run->evaluation_loss,
                               &tokens));
    }
    running->evaluated_step = run->state.step;
    if (run->callbacks.evaluated) {
        run->callbacks.evaluated(run->callbacks.user, run->state.step, run->evaluation_loss,
                                 tokens);
    }
    if (steps->metrics) {
        yk_run_steps_note_metrics(steps,
                                  yk_metrics_write_evaluation(steps->metrics, run->state.step,
                                                              run->evaluation_loss, tokens));
    }
    return YK_OK;
}

static bool saves(const struct yk_vector_span_array *run)
{
    return run->folder && !run->options.saves_nothing;
}

static bool is_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

/* Something happens between this step and the next. */
static bool is_break(const struct yk_vector_span_array *run, int64_t step)
{
    const struct yk_run_options *options = &run->options;
    return step == options->steps || (run->evaluation && is_due(step, options->evaluate_every)) ||
           (saves(run) && is_due(step, options->save_every));
}

/* What happened in the last step, before anything else happens on the lanes. */
static yk_status keep_trace(struct running *running)
{
    const struct yk_run_steps *steps = &running->steps;
    struct yk_round_times times;
    YK_TRY(yk_executor_times(steps->executor, 0, steps->times, &times));
    running->run->traced_s = times.began_s;
    return yk_round_times_trace(&times, &running->run->trace);
}

static yk_status pause(struct running *running)
{
    struct yk_vector_span_array *run = running->run;
    struct yk_run_steps *steps = &running->steps;
    const struct yk_run_options *options = &run->options;
    const bool last = run->state.step == options->steps;
    steps->stopped = steps->stopped && !last;
    if (last || steps->stopped) {
        YK_TRY(keep_trace(running));
    }
    if (run->evaluation && !steps->stopped && is_due(run->state.step, options->evaluate_every)) {
        YK_TRY(evaluate(running));
    }
    /* Steps that were skipped changed nothing that is worth an older checkpoint. */
    if (saves(run) && !last && run->state.bad == 0 &&
        is_due(run->state.step, options->save_every)) {
        YK_TRY(save(running, false));
    }
    return YK_OK;
}

/* Each rank may be asked to stop; all do when they hear of it with a step's result. */
static void check_stop(struct running *running)
{
    const struct yk_vector_span_array *run = running->run;
    struct yk_run_steps *steps = &running->steps;
    if (run->callbacks.stop && run->callbacks.stop(run->callbacks.user)) {
        yk_executor_request_stop(steps->executor);
        steps->stopped = steps->stopped || run->program->rank_count == 1;
    }
}

static yk_status train_steps(struct running *running)
{
    struct yk_vector_span_array *run = running->run;
    struct yk_run_steps *steps = &running->steps;
    const int32_t depth = yk_executor_depth(steps->executor);
    while (run->state.step < run->options.steps && !steps->stopped) {
        YK_TRY(yk_run_steps_begin(steps));
        const bool breaks = is_break(run, run->state.step + steps->pending_count);
        if (!breaks && steps->pending_count < depth) {
            continue;
        }
        YK_TRY(breaks ? yk_run_steps_end_all(steps) : yk_run_steps_end(steps));
        check_stop(running);
        if (breaks || steps->stopped || steps->change) {
            YK_TRY(yk_run_steps_end_all(steps));
            YK_TRY(pause(running));
        }
        if (steps->change && run->state.step < run->options.steps && !steps->stopped) {
            YK_TRY(yk_run_steps_change(steps));
        }
    }
    return YK_OK;
}

static yk_status train(struct running *running)
{
    struct yk_vector_span_array *run = running->run;
    const struct yk_run_options *options = &run->options;
    YK_TRY(yk_run_steps_prepare(&running->steps));
    YK_TRY(train_steps(running));
    YK_TRY(yk_run_steps_check_end(run));
    if (run->evaluation && !running->steps.stopped && running->evaluated_step != run->state.step) {
        YK_TRY(evaluate(running));
    }
    if (run->evaluation && running->evaluated_step == run->state.step &&
        !isfinite(run->evaluation_loss)) {
        return yk_run_steps_fail_nonfinite(run, run->evaluation_loss);
    }
    if (saves(run) && running->saved_step != run->state.step) {
        YK_TRY(save(running, true));
    }
    return running->steps.stopped ? yk_fail(YK_ERROR_STOPPED, "stopped after step %lld of %lld",
                                            (long long)run->state.step, (long long)options->steps)
                                  : YK_OK;
}

/* Checkpoints that will be written: at times, and the last. */
static int64_t count_saves(const struct yk_vector_span_array *run)
{
    const int64_t every = run->options.save_every;
    const int64_t last = run->options.steps;
    const int64_t done = run->state.step;
    return done >= last ? 0 : 1 + (every > 0 ? (last - 1) / every - done / every : 0);
}

/* The folder of a run and what is to be written there, by rank 0. */
static yk_status open_folder(struct running *running)
{
    struct yk_vector_span_array *run = running->run;
    struct yk_text path = {0};
    YK_TRY(make_folder(run->folder));
    if (saves(run)) {
        const struct yk_checkpoint_content content = content_of(running);
        YK_TRY(yk_checkpoint_check_save_space(run->folder, &content, count_saves(run),
                                              run->options.keep));
    }
    yk_text_addf(&path, "%s/metrics.jsonl", run->folder);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        status = yk_metrics_open(yk_text_chars(&path), run->state.step, &running->steps.metrics);
    }
    yk_text_free(&path);
    return status;
}

static yk_status open_all(struct running *running)
{
    struct yk_vector_span_array *run = running->run;
    run->state.epoch = run->samples->epoch_units;
    YK_TRY(yk_arena_create(&running->arena));
    if (run->executor.ranks) {
        YK_TRY(yk_partitions_to_save(run->program, yk_run_own_rank(run), running->arena,
                                     &running->saves));
    }
    YK_TRY(yk_run_steps_open(run, &running->steps));
    const bool writes = run->folder && yk_run_own_rank(run) == 0;
    return yk_run_steps_agree(run, writes ? open_folder(running) : YK_OK);
}

yk_status yk_run_train(struct yk_vector_span_array *run)
{
    struct running running = {.run = run, .saved_step = -1, .evaluated_step = -1};
    run->evaluation_loss = NAN;
    yk_status status = open_all(&running);
    if (status == YK_OK) {
        status = train(&running);
    }
    yk_run_steps_close(&running.steps);
    yk_arena_destroy(running.arena);
    return status;
}
