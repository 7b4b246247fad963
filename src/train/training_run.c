#include "train/training_run.h"

#include "base/folder.h"
#include "base/log.h"
#include "comm/host_collective.h"
#include "train/batch_prefetcher.h"
#include "train/metrics_file.h"
#include "train/rank_partitions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MAX_PENDING = 4,
    MAX_BAD_STEPS = 8, /* in a row */
    MEMORY_STEPS = 16, /* device memory is read once in this many steps */
};

/* A step that has begun and not ended. */
struct pending_step {
    double lr;
    double scale;
    int64_t present;
};

/* The state of a run while it trains. */
struct running {
    struct yk_training_run *run;
    struct yk_executor *executor;
    struct yk_batch_prefetcher *prefetcher;
    struct yk_metrics_file *metrics;  /* NULL: no metrics are written */
    const struct yk_rank_batch *now;  /* of the step that begins next */
    const struct yk_rank_batch *next; /* of the step after that; read while steps run */
    int64_t next_unit;                /* first unit of the sampler that was not read yet */
    struct pending_step pending[MAX_PENDING];
    int32_t pending_count;
    struct yk_op_interval *times; /* (ops) of one round */
    double *seconds;              /* (count) of each step of this run */
    int64_t count;
    bool stopped;
    const struct yk_program *change; /* program to continue with; NULL: the current one */
    struct yk_arena *arena;
    struct yk_layer_partition *saves; /* (L) what this rank saves */
    int64_t saved_step;               /* −1: none */
    int64_t evaluated_step;
};

/* ---- agreement of the ranks ---- */

static int32_t own_rank(const struct yk_training_run *run)
{
    return yk_communicator_rank(run->executor.ranks);
}

/* Records whether a failure is known to all ranks: it is, unless communication itself failed. */
static void note_agreed(struct yk_training_run *run, yk_status status)
{
    const struct yk_communicator *ranks = run->executor.ranks;
    run->agreed = ranks && status != YK_OK && ranks->comm->check(ranks->world) == YK_OK;
}

/* Returns the same status on all ranks. */
static yk_status agree(struct yk_training_run *run, yk_status mine)
{
    const yk_status status = yk_host_collective_agree_on_status(run->executor.ranks, mine);
    note_agreed(run, status);
    return status;
}

/* ---- non-finite numbers ---- */

static yk_status fail_named(const struct yk_training_run *run, const char *name, const char *what,
                            const char *advice)
{
    if (strcmp(what, "weights") == 0) {
        return yk_fail(YK_ERROR_NUMBERS,
                       "step %lld: the weights %s hold numbers that are not finite; %s",
                       (long long)run->state.step, name, advice);
    }
    return yk_fail(YK_ERROR_NUMBERS,
                   "step %lld: the gradient of %s is not finite, %lld times in a row; %s",
                   (long long)run->state.step, name, (long long)run->state.bad, advice);
}

/* Always fails. All ranks call it together; the rank that stores the bad numbers names them. */
static yk_status fail_nonfinite(struct yk_training_run *run, double loss)
{
    const char *name = NULL;
    const char *what = NULL;
    const char *advice =
        run->options.clip > 0 ? "try a lower --rate" : "try a lower --rate, or --clip 1";
    yk_status status = yk_parameter_store_find_nonfinite_values(run->store, &name, &what);
    if (status == YK_OK && name) {
        status = fail_named(run, name, what, advice);
    }
    status = agree(run, status);
    run->agreed = true;
    return status != YK_OK
               ? status
               : yk_fail(YK_ERROR_NUMBERS, "step %lld: the loss is %g, %lld times in a row; %s",
                         (long long)run->state.step, loss, (long long)run->state.bad, advice);
}

/* Checks a run whose last steps were skipped. It fails if the loss or the weights are not finite.
 */
static yk_status check_end(struct yk_training_run *run)
{
    const char *name = NULL;
    const char *what = NULL;
    double harmed = 0;
    if (run->state.bad > 0 && isfinite(run->last_loss)) {
        YK_TRY(yk_parameter_store_find_nonfinite_values(run->store, &name, &what));
        harmed = name && strcmp(what, "weights") == 0 ? 1 : 0;
        if (run->executor.ranks) {
            YK_TRY(yk_host_collective_all_reduce_max(run->executor.ranks, &harmed, 1));
        }
    }
    return run->state.bad > 0 && (harmed > 0 || !isfinite(run->last_loss))
               ? fail_nonfinite(run, run->last_loss)
               : YK_OK;
}

/* A skipped step counts as done. Fails if a bad step was not skipped, or if too many follow each
 * other. */
static yk_status check_result(struct yk_training_run *run, struct yk_executor *executor,
                              const struct yk_step_result *result)
{
    const bool bad = result->skipped || !isfinite(result->loss) || !isfinite(result->norm);
    run->state.bad = bad ? run->state.bad + 1 : 0;
    if (bad && (!result->skipped || run->state.bad >= MAX_BAD_STEPS)) {
        YK_TRY(yk_executor_finish_steps(executor));
        return fail_nonfinite(run, result->loss);
    }
    return YK_OK;
}

/* ---- steps ---- */

static yk_status create_times(struct running *running)
{
    const struct yk_training_run *run = running->run;
    const size_t ops = (size_t)run->program->ranks[own_rank(run)].op_count;
    free(running->times);
    running->times = calloc(ops + 1, sizeof *running->times);
    return running->times ? YK_OK : yk_fail_out_of_memory();
}

/* Starts a new log for the current program. */
static yk_status begin_log(struct yk_training_run *run)
{
    yk_op_timeline_log_destroy(run->log);
    run->log = NULL;
    return yk_op_timeline_log_create(run->program->ranks[own_rank(run)].op_count, &run->log);
}

/* Creates what runs the current program. */
static yk_status open_program(struct running *running)
{
    struct yk_training_run *run = running->run;
    YK_TRY(agree(run, begin_log(run)));
    YK_TRY(agree(run, yk_executor_create(run->program, run->store, &run->options.optimizer,
                                         &run->executor, &running->executor)));
    YK_TRY(agree(run, yk_batch_prefetcher_create_for_plan(run->program->plan, own_rank(run),
                                                          run->samples, &run->store->context,
                                                          &running->prefetcher)));
    return agree(run, create_times(running));
}

/* close_steps() must be called even if it fails. */
static yk_status open_steps(struct running *running)
{
    const struct yk_training_run *run = running->run;
    const int64_t left = run->options.steps - run->state.step;
    running->seconds = calloc((size_t)(left > 0 ? left : 0) + 1, sizeof *running->seconds);
    YK_TRY_ALLOCATED(running->seconds);
    return open_program(running);
}

/* Sets the run's median step time and frees everything. */
static void close_steps(struct running *running)
{
    if (running->count > 0) {
        running->run->median_step_s =
            yk_op_durations_sort_and_find_median(running->seconds, running->count);
    }
    yk_metrics_file_close(running->metrics);
    yk_batch_prefetcher_destroy(running->prefetcher);
    yk_executor_destroy(running->executor);
    free(running->times);
    free(running->seconds);
}

static yk_status next_batch(struct running *running, const struct yk_rank_batch **out)
{
    YK_TRY(yk_batch_prefetcher_read_batch(running->prefetcher, running->next_unit, INT64_MAX, out));
    running->next_unit += (*out)->units;
    return YK_OK;
}

/* Reads the samples of the next two steps. */
static yk_status prepare_steps(struct running *running)
{
    running->next_unit = running->run->state.samples;
    YK_TRY(next_batch(running, &running->now));
    return next_batch(running, &running->next);
}

/* If metrics cannot be written, training continues and writes no more of them. */
static void check_metrics(struct running *running, yk_status written)
{
    if (written != YK_OK) {
        yk_log(YK_LOG_WARNING, "step %lld: %s; the metrics end here",
               (long long)running->run->state.step, yk_status_message());
        yk_metrics_file_close(running->metrics);
        running->metrics = NULL;
    }
}

/* Switches to the program `change` after all steps have ended. */
static yk_status change_program(struct running *running)
{
    struct yk_training_run *run = running->run;
    yk_executor_destroy(running->executor);
    yk_batch_prefetcher_destroy(running->prefetcher);
    running->executor = NULL;
    running->prefetcher = NULL;
    run->program = running->change;
    running->change = NULL;
    if (run->callbacks.changed) {
        run->callbacks.changed(run->callbacks.user, run->state.step);
    }
    if (running->metrics) {
        check_metrics(running, yk_metrics_file_add_rank_shares(running->metrics, run->state.step,
                                                               run->program->plan));
    }
    YK_TRY(open_program(running));
    return prepare_steps(running);
}

static void report_step(struct running *running, const struct yk_step_result *result,
                        const struct pending_step *pending)
{
    struct yk_training_run *run = running->run;
    const struct yk_step_metrics line = {
        .step = run->state.step,
        .steps = run->options.steps,
        .loss = result->loss,
        .norm = result->norm,
        .lr = pending->lr,
        .seconds = result->seconds,
        .tokens_per_s = (double)pending->present / result->seconds,
        .loss_scale = pending->scale,
        .skipped = result->skipped,
        .compute_s = result->compute_s,
        .ranks = run->program->rank_count,
    };
    run->first_loss = running->count == 0 ? result->loss : run->first_loss;
    run->last_loss = result->loss;
    run->tokens += (double)pending->present;
    run->seconds += result->seconds;
    running->seconds[running->count++] = result->seconds;
    if (run->callbacks.step) {
        run->callbacks.step(run->callbacks.user, &line);
    }
    if (run->callbacks.change) {
        const struct yk_program *change = run->callbacks.change(run->callbacks.user, &line);
        running->change = change ? change : running->change;
    }
    if (running->metrics) {
        check_metrics(running, yk_metrics_file_add_step(running->metrics, &line));
    }
}

/* Begins a step, and reads the samples of a later step while it runs. */
static yk_status begin_step(struct running *running)
{
    struct yk_training_run *run = running->run;
    const int64_t number = run->state.step + running->pending_count;
    const struct yk_step_options step = {
        .batch = running->now,
        .lr = yk_lr_schedule_lr_at_step(&run->options.lr_schedule, number),
        .updates = run->state.updates,
        .loss_scale = run->state.scaler.scale,
        .clip = run->options.clip,
    };
    bool skipped = false;
    YK_TRY(yk_executor_begin_step(running->executor, &step, running->next));
    running->pending[running->pending_count++] =
        (struct pending_step){step.lr, step.loss_scale, step.batch->unpadded_tokens};
    run->state.samples += step.batch->units;
    running->now = running->next;
    YK_TRY(next_batch(running, &running->next));
    YK_TRY(yk_executor_get_last_step_skipped(running->executor, &skipped));
    yk_loss_scaler_update(&run->state.scaler, run->store->net->workload.precision, skipped);
    run->state.updates += skipped ? 0 : 1;
    return YK_OK;
}

/* Reads memory seldom: the query is slow, and all memory is allocated in the first steps. */
static void note_memory(struct yk_training_run *run)
{
    const struct yk_device_context *context = &run->store->context;
    if (context->backend->used_bytes && run->state.step % MEMORY_STEPS == 1) {
        run->device_bytes =
            fmax(run->device_bytes, (double)context->backend->used_bytes(context->device));
    }
}

static yk_status report_times(const struct running *running)
{
    const struct yk_training_run_callbacks *callbacks = &running->run->callbacks;
    struct yk_op_timeline timeline;
    if (callbacks->timed) {
        YK_TRY(yk_executor_get_timeline(running->executor, 0, running->times, &timeline));
        callbacks->timed(callbacks->user, &timeline);
    }
    return YK_OK;
}

/* Ends the oldest step that has begun. */
static yk_status end_step(struct running *running)
{
    struct yk_training_run *run = running->run;
    struct yk_step_result result = {0};
    YK_TRY(yk_executor_end_step(running->executor, &result));
    YK_TRY(report_times(running));
    const struct pending_step ended = running->pending[0];
    running->pending_count--;
    for (int32_t i = 0; i < running->pending_count; i++) {
        running->pending[i] = running->pending[i + 1];
    }
    run->state.step++;
    YK_TRY(yk_op_timeline_log_record_due_round(run->log, running->executor, run->state.step));
    note_memory(run);
    running->stopped = running->stopped || result.stopped;
    report_step(running, &result, &ended);
    return check_result(run, running->executor, &result);
}

static yk_status end_all(struct running *running)
{
    YK_TRY(yk_executor_finish_steps(running->executor));
    while (running->pending_count > 0) {
        YK_TRY(end_step(running));
    }
    return YK_OK;
}

/* ---- evaluations and checkpoints ---- */

static yk_status make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot make the folder %s: %s", path, strerror(errno));
    }
    return YK_OK;
}

static struct yk_checkpoint_content content_of(const struct running *running)
{
    const struct yk_training_run *run = running->run;
    return (struct yk_checkpoint_content){
        .store = run->store,
        .state = run->state,
        .tokenizer = run->tokenizer,
        .images = run->images,
        .options_json = run->options_json,
        .base_model = run->base_model,
        .ranks = run->executor.ranks,
        .saves = running->saves,
    };
}

/* Adds the newest checkpoint to the message, because the last one could not be saved. */
static yk_status fail_last(const struct running *running, yk_status status)
{
    return running->saved_step < 0
               ? status
               : yk_fail(status, "%s; the newest checkpoint is that of step %lld",
                         yk_status_message(), (long long)running->saved_step);
}

static yk_status save(struct running *running, bool last)
{
    struct yk_training_run *run = running->run;
    const struct yk_checkpoint_content content = content_of(running);
    const char *folder = NULL;
    struct yk_text path = {0};
    yk_status status =
        agree(run, yk_folder_join_path(run->folder, "checkpoints", running->arena, &folder));
    if (status == YK_OK) {
        status = yk_checkpoint_save(folder, &content, run->options.keep, &path);
        note_agreed(run, status); /* yk_checkpoint_save() has agreed on it */
    }
    running->saved_step = status == YK_OK ? run->state.step : running->saved_step;
    if (run->callbacks.saved && (status == YK_OK || !last)) {
        run->callbacks.saved(run->callbacks.user, run->state.step, yk_text_chars(&path),
                             status == YK_OK ? NULL : yk_status_message());
    }
    yk_text_free(&path);
    run->agreed = run->agreed && last;
    /* Unless it is the last one, training continues; an older checkpoint remains. */
    return last && status != YK_OK ? fail_last(running, status) : YK_OK;
}

static yk_status evaluate(struct running *running)
{
    struct yk_training_run *run = running->run;
    struct yk_evaluation_borrowed_memory loan = {0};
    const struct yk_evaluation_options evaluation = {
        .batch = run->options.batch,
        .samples = run->options.evaluate_samples,
        .borrowed = &loan,
    };
    loan.memory = yk_executor_get_buffer_memory(running->executor, &loan.bytes);
    if (run->program->rank_count > 1) {
        YK_TRY(yk_evaluate_on_all_ranks(running->executor, run, &run->evaluated));
    } else {
        YK_TRY(yk_evaluate_on_this_rank(run->store, run->evaluation, &evaluation, &run->evaluated));
    }
    running->evaluated_step = run->state.step;
    if (run->callbacks.evaluated) {
        run->callbacks.evaluated(run->callbacks.user, run->state.step, &run->evaluated);
    }
    if (running->metrics) {
        check_metrics(running, yk_metrics_file_add_evaluation(running->metrics, run->state.step,
                                                              &run->evaluated));
    }
    return YK_OK;
}

static bool saves(const struct yk_training_run *run)
{
    return run->folder && !run->options.saves_nothing;
}

static bool is_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

/* Whether an evaluation or a checkpoint follows this step, or it is the last. */
static bool is_break(const struct yk_training_run *run, int64_t step)
{
    const struct yk_training_run_options *options = &run->options;
    return step == options->steps || (run->evaluation && is_due(step, options->evaluate_every)) ||
           (saves(run) && is_due(step, options->save_every));
}

/* Must be called before any other work is enqueued. */
static yk_status keep_trace(struct running *running)
{
    struct yk_op_timeline timeline;
    YK_TRY(yk_executor_get_timeline(running->executor, 0, running->times, &timeline));
    running->run->traced_s = timeline.began_s;
    return yk_op_timeline_to_trace(&timeline, &running->run->trace);
}

static yk_status pause(struct running *running)
{
    struct yk_training_run *run = running->run;
    const struct yk_training_run_options *options = &run->options;
    const bool last = run->state.step == options->steps;
    running->stopped = running->stopped && !last;
    if (last || running->stopped) {
        YK_TRY(keep_trace(running));
    }
    if (run->evaluation && !running->stopped && is_due(run->state.step, options->evaluate_every)) {
        YK_TRY(evaluate(running));
    }
    /* While steps are skipped, no checkpoint replaces an older one. */
    if (saves(run) && !last && run->state.bad == 0 &&
        is_due(run->state.step, options->save_every)) {
        YK_TRY(save(running, false));
    }
    return YK_OK;
}

/* Any rank may ask to stop; all ranks stop with the result of the same step. */
static void check_stop(struct running *running)
{
    const struct yk_training_run *run = running->run;
    if (run->callbacks.stop && run->callbacks.stop(run->callbacks.user)) {
        yk_executor_request_stop(running->executor);
        running->stopped = running->stopped || run->program->rank_count == 1;
    }
}

static yk_status train_steps(struct running *running)
{
    struct yk_training_run *run = running->run;
    const int32_t depth = yk_executor_max_steps_in_flight(running->executor);
    while (run->state.step < run->options.steps && !running->stopped) {
        YK_TRY(begin_step(running));
        const bool breaks = is_break(run, run->state.step + running->pending_count);
        if (!breaks && running->pending_count < depth) {
            continue;
        }
        YK_TRY(breaks ? end_all(running) : end_step(running));
        check_stop(running);
        if (breaks || running->stopped || running->change) {
            YK_TRY(end_all(running));
            YK_TRY(pause(running));
        }
        if (running->change && run->state.step < run->options.steps && !running->stopped) {
            YK_TRY(change_program(running));
        }
    }
    return YK_OK;
}

static yk_status train(struct running *running)
{
    struct yk_training_run *run = running->run;
    const struct yk_training_run_options *options = &run->options;
    YK_TRY(prepare_steps(running));
    YK_TRY(train_steps(running));
    YK_TRY(check_end(run));
    if (run->evaluation && !running->stopped && running->evaluated_step != run->state.step) {
        YK_TRY(evaluate(running));
    }
    if (run->evaluation && running->evaluated_step == run->state.step &&
        !isfinite(run->evaluated.loss)) {
        return fail_nonfinite(run, run->evaluated.loss);
    }
    if (saves(run) && running->saved_step != run->state.step) {
        YK_TRY(save(running, true));
    }
    return running->stopped ? yk_fail(YK_ERROR_STOPPED, "stopped after step %lld of %lld",
                                      (long long)run->state.step, (long long)options->steps)
                            : YK_OK;
}

/* The number of checkpoints that the run will write. */
static int64_t count_saves(const struct yk_training_run *run)
{
    const int64_t every = run->options.save_every;
    const int64_t last = run->options.steps;
    const int64_t done = run->state.step;
    return done >= last ? 0 : 1 + (every > 0 ? (last - 1) / every - done / every : 0);
}

/* Rank 0 creates the run's folder, checks the free space and opens the metrics. */
static yk_status open_folder(struct running *running)
{
    struct yk_training_run *run = running->run;
    const char *path = NULL;
    YK_TRY(make_folder(run->folder));
    if (saves(run)) {
        const struct yk_checkpoint_content content = content_of(running);
        YK_TRY(yk_checkpoint_check_save_disk_space(run->folder, &content, count_saves(run),
                                                   run->options.keep));
    }
    YK_TRY(yk_folder_join_path(run->folder, "metrics.jsonl", running->arena, &path));
    return yk_metrics_file_open(path, run->state.step,
                                yk_model_config_throughput_unit(run->store->net->config),
                                &running->metrics);
}

static yk_status open_all(struct running *running)
{
    struct yk_training_run *run = running->run;
    run->state.epoch = run->samples->epoch_units;
    YK_TRY(yk_arena_create(&running->arena));
    if (run->executor.ranks) {
        YK_TRY(yk_rank_partitions_compute_saved(run->program, own_rank(run), running->arena,
                                                &running->saves));
    }
    YK_TRY(open_steps(running));
    const bool writes = run->folder && own_rank(run) == 0;
    return agree(run, writes ? open_folder(running) : YK_OK);
}

yk_status yk_training_run_execute(struct yk_training_run *run)
{
    struct running running = {.run = run, .saved_step = -1, .evaluated_step = -1};
    run->evaluated =
        (struct yk_evaluation_result){.loss = NAN, .accuracy = NAN, .top5_accuracy = NAN};
    yk_status status = open_all(&running);
    YK_IF_OK(train(&running));
    close_steps(&running);
    yk_arena_destroy(running.arena);
    return status;
}
