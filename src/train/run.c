#include "train/run.h"

#include "base/log.h"
#include "comm/exchange.h"
#include "train/batches.h"
#include "train/metrics.h"
#include "train/partitions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MAX_PENDING = 4,
    MAX_BAD_STEPS = 8, /* in a row */
    MEMORY_NOTED = 16, /* of so many steps, once */
};

/* A step that has begun and not ended. */
struct pending_step {
    double rate;
    double scale;
    int64_t present;
};

/* The steps of a run that are on their way, with all they go by. */
struct steps {
    struct yk_run *run;
    struct yk_executor *executor;
    struct yk_batches *batches;
    struct yk_metrics *metrics;  /* owned, though opened by the run; NULL: none */
    const struct yk_batch *now;  /* of the step that begins next */
    const struct yk_batch *next; /* of the one after: prepared while others run */
    int64_t next_unit;           /* units of the sampler in all of these */
    struct pending_step pending[MAX_PENDING];
    int32_t pending_count;
    struct yk_op_time *times; /* (ops) for those of a round */
    double *seconds;          /* of the steps of this run */
    int64_t count;
    bool stopped;
    const struct yk_program *change; /* to go on with */
};

/* ---- what the ranks come to together: all make the same calls ---- */

static int32_t own_rank(const struct yk_run *run)
{
    return run->executor.ranks ? run->executor.ranks->rank : 0;
}

/* A failure that ranks have come to together, unless it is that they cannot hear each other. */
static void note_agreed(struct yk_run *run, yk_status status)
{
    const struct yk_ranks *ranks = run->executor.ranks;
    run->agreed = ranks && status != YK_OK && ranks->comm->check(ranks->world) == YK_OK;
}

/* What all ranks come to. */
static yk_status agree(struct yk_run *run, yk_status mine)
{
    const yk_status status =
        run->executor.ranks ? yk_exchange_agree(run->executor.ranks, mine) : mine;
    note_agreed(run, status);
    return status;
}

/* ---- whether the numbers are still good ---- */

static yk_status fail_named(const struct yk_run *run, const char *name,
                            const char *what)
{
    const char *advice =
        run->options.clip > 0 ? "try a lower --rate" : "try a lower --rate, or --clip 1";
    if (strcmp(what, "weights") == 0) {
        return yk_fail(YK_ERROR_NUMBERS,
                       "step %lld: the weights %s hold numbers that are not finite; %s",
                       (long long)run->state.step, name, advice);
    }
    return yk_fail(YK_ERROR_NUMBERS,
                   "step %lld: the gradient of %s is not finite, %lld times in a row; %s",
                   (long long)run->state.step, name, (long long)run->state.bad, advice);
}

/* Always a failure. All ranks come here together: one that holds the bad numbers names them. */
static yk_status fail_nonfinite(struct yk_run *run, double loss)
{
    const char *name = NULL;
    const char *what = NULL;
    const char *advice =
        run->options.clip > 0 ? "try a lower --rate" : "try a lower --rate, or --clip 1";
    yk_status status = yk_store_find_nonfinite_values(run->store, &name, &what);
    if (status == YK_OK && name) {
        status = fail_named(run, name, what);
    }
    status = agree(run, status);
    run->agreed = true;
    return status != YK_OK
               ? status
               : yk_fail(YK_ERROR_NUMBERS, "step %lld: the loss is %g, %lld times in a row; %s",
                         (long long)run->state.step, loss, (long long)run->state.bad, advice);
}

/* A run that ends while its numbers are bad: steps that were skipped did no harm, unless the loss
 * or the weights themselves are not finite. */
static yk_status check_end(struct yk_run *run)
{
    const char *name = NULL;
    const char *what = NULL;
    double harmed = 0;
    if (run->state.bad > 0 && isfinite(run->last_loss)) {
        YK_TRY(yk_store_find_nonfinite_values(run->store, &name, &what));
        harmed = name && strcmp(what, "weights") == 0 ? 1 : 0;
        if (run->executor.ranks) {
            YK_TRY(yk_exchange_max(run->executor.ranks, &harmed, 1));
        }
    }
    return run->state.bad > 0 && (harmed > 0 || !isfinite(run->last_loss))
               ? fail_nonfinite(run, run->last_loss)
               : YK_OK;
}

/* A step whose numbers are bad counts as done, but updates nothing; fails where it was not skipped,
 * or too many follow each other. */
static yk_status check_result(struct yk_run *run, struct yk_executor *executor,
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

static yk_status create_times(struct steps *steps)
{
    const struct yk_run *run = steps->run;
    const size_t ops = (size_t)run->program->ranks[own_rank(run)].op_count;
    free(steps->times);
    steps->times = calloc(ops + 1, sizeof *steps->times);
    return steps->times ? YK_OK : yk_fail_out_of_memory();
}

static yk_status create_batches(struct steps *steps)
{
    const struct yk_run *run = steps->run;
    const struct yk_plan *plan = run->program->plan;
    struct yk_batch_share *shares = calloc((size_t)plan->micro_batches, sizeof *shares);
    if (!shares) {
        return yk_fail_out_of_memory();
    }
    yk_batches_find_shares(plan, own_rank(run), shares);
    const yk_status status = yk_batches_create(run->samples, &run->store->engine,
                                               plan->micro_batches, shares, &steps->batches);
    free(shares);
    return status;
}

/* Times of another program's ops go. */
static yk_status begin_log(struct yk_run *run)
{
    yk_round_log_destroy(run->log);
    run->log = NULL;
    return yk_round_log_create(run->program->ranks[own_rank(run)].op_count, &run->log);
}

static yk_status create_executor(struct steps *steps)
{
    const struct yk_run *run = steps->run;
    return yk_executor_create(run->program, run->store, &run->options.optimizer, &run->executor,
                              &steps->executor);
}

/* To be closed also where it fails. */
static yk_status open_steps(struct yk_run *run, struct steps *out)
{
    const int64_t left = run->options.steps - run->state.step;
    *out = (struct steps){.run = run};
    out->seconds = calloc((size_t)(left > 0 ? left : 0) + 1, sizeof *out->seconds);
    if (!out->seconds) {
        return yk_fail_out_of_memory();
    }
    YK_TRY(begin_log(run));
    YK_TRY(agree(run, create_executor(out)));
    YK_TRY(create_batches(out));
    return create_times(out);
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double find_median(double *seconds, int64_t count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    return (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

/* Leaves the median of their seconds in the run. */
static void close_steps(struct steps *steps)
{
    if (steps->count > 0) {
        steps->run->median_step_s = find_median(steps->seconds, steps->count);
    }
    yk_metrics_close(steps->metrics);
    yk_batches_destroy(steps->batches);
    yk_executor_destroy(steps->executor);
    free(steps->times);
    free(steps->seconds);
}

static yk_status next_batch(struct steps *steps, const struct yk_batch **out)
{
    YK_TRY(yk_batches_next(steps->batches, steps->next_unit, INT64_MAX, out));
    steps->next_unit += (*out)->units;
    return YK_OK;
}

/* The samples of the next two steps: once, before the first begins. */
static yk_status prepare_steps(struct steps *steps)
{
    steps->next_unit = steps->run->state.samples;
    YK_TRY(next_batch(steps, &steps->now));
    return next_batch(steps, &steps->next);
}

/* A line of the metrics that cannot be written is no reason to end the training; later ones are not
 * tried. */
static void note_metrics(struct steps *steps, yk_status written)
{
    if (written != YK_OK) {
        yk_log(YK_LOG_WARNING, "step %lld: %s; the metrics end here",
               (long long)steps->run->state.step, yk_status_message());
        yk_metrics_close(steps->metrics);
        steps->metrics = NULL;
    }
}

/* When all have ended: another program with the same store, `change`. Samples are divided otherwise
 * from the next step on. */
static yk_status change_program(struct steps *steps)
{
    struct yk_run *run = steps->run;
    yk_executor_destroy(steps->executor);
    yk_batches_destroy(steps->batches);
    steps->executor = NULL;
    steps->batches = NULL;
    run->program = steps->change;
    steps->change = NULL;
    if (run->callbacks.changed) {
        run->callbacks.changed(run->callbacks.user, run->state.step);
    }
    if (steps->metrics) {
        note_metrics(steps,
                     yk_metrics_write_shares(steps->metrics, run->state.step, run->program->plan));
    }
    YK_TRY(agree(run, begin_log(run)));
    YK_TRY(agree(run, create_executor(steps)));
    YK_TRY(agree(run, create_batches(steps)));
    YK_TRY(agree(run, create_times(steps)));
    return prepare_steps(steps);
}

static void report_step(struct steps *steps, const struct yk_step_result *result,
                        const struct pending_step *pending)
{
    struct yk_run *run = steps->run;
    const struct yk_run_step line = {
        .step = run->state.step,
        .steps = run->options.steps,
        .loss = result->loss,
        .norm = result->norm,
        .rate = pending->rate,
        .seconds = result->seconds,
        .tokens_per_s = (double)pending->present / result->seconds,
        .loss_scale = pending->scale,
        .skipped = result->skipped,
        .compute_s = result->compute_s,
        .ranks = run->program->rank_count,
    };
    run->first_loss = steps->count == 0 ? result->loss : run->first_loss;
    run->last_loss = result->loss;
    run->tokens += (double)pending->present;
    run->seconds += result->seconds;
    steps->seconds[steps->count++] = result->seconds;
    if (run->callbacks.step) {
        run->callbacks.step(run->callbacks.user, &line);
    }
    if (run->callbacks.change) {
        const struct yk_program *change = run->callbacks.change(run->callbacks.user, &line);
        steps->change = change ? change : steps->change;
    }
    if (steps->metrics) {
        note_metrics(steps, yk_metrics_write_step(steps->metrics, &line));
    }
}

/* Begins a step, and while it runs prepares the samples of the one after the next. What the one
 * after depends on is known when this returns. */
static yk_status begin_step(struct steps *steps)
{
    struct yk_run *run = steps->run;
    const int64_t number = run->state.step + steps->pending_count;
    const struct yk_step step = {
        .batch = steps->now,
        .rate = yk_lr_schedule_at(&run->options.lr_schedule, number),
        .updates = run->state.updates,
        .loss_scale = run->state.scaler.scale,
        .clip = run->options.clip,
    };
    bool skipped = false;
    YK_TRY(yk_executor_begin_step(steps->executor, &step, steps->next));
    steps->pending[steps->pending_count++] =
        (struct pending_step){step.rate, step.loss_scale, step.batch->present};
    run->state.samples += step.batch->units;
    steps->now = steps->next;
    YK_TRY(next_batch(steps, &steps->next));
    YK_TRY(yk_executor_step_verdict(steps->executor, &skipped));
    yk_loss_scaler_update(&run->state.scaler, run->store->net->workload.precision, skipped);
    run->state.updates += skipped ? 0 : 1;
    return YK_OK;
}

/* All is taken by the end of the first steps; asking takes the driver a while. */
static void note_memory(struct yk_run *run)
{
    const struct yk_engine *engine = &run->store->engine;
    if (engine->backend->used_bytes && run->state.step % MEMORY_NOTED == 1) {
        run->device_bytes =
            fmax(run->device_bytes, (double)engine->backend->used_bytes(engine->device));
    }
}

static yk_status report_times(const struct steps *steps)
{
    const struct yk_run_callbacks *callbacks = &steps->run->callbacks;
    struct yk_round_times times;
    if (callbacks->timed) {
        YK_TRY(yk_executor_times(steps->executor, 0, steps->times, &times));
        callbacks->timed(callbacks->user, &times);
    }
    return YK_OK;
}

/* Ends the oldest step that has begun. */
static yk_status end_step(struct steps *steps)
{
    struct yk_run *run = steps->run;
    struct yk_step_result result = {0};
    YK_TRY(yk_executor_end_step(steps->executor, &result));
    YK_TRY(report_times(steps));
    const struct pending_step ended = steps->pending[0];
    steps->pending_count--;
    for (int32_t i = 0; i < steps->pending_count; i++) {
        steps->pending[i] = steps->pending[i + 1];
    }
    run->state.step++;
    YK_TRY(yk_round_log_add(run->log, steps->executor, run->state.step));
    note_memory(run);
    steps->stopped = steps->stopped || result.stopped;
    report_step(steps, &result, &ended);
    return check_result(run, steps->executor, &result);
}

static yk_status end_all(struct steps *steps)
{
    YK_TRY(yk_executor_finish_steps(steps->executor));
    while (steps->pending_count > 0) {
        YK_TRY(end_step(steps));
    }
    return YK_OK;
}

/* ---- evaluations and checkpoints between steps ---- */

struct running {
    struct yk_run *run;
    struct steps steps;
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
    const struct yk_run *run = running->run;
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
    struct yk_run *run = running->run;
    const struct yk_checkpoint_content content = content_of(running);
    struct yk_text folder = {0};
    struct yk_text path = {0};
    yk_text_addf(&folder, "%s/checkpoints", run->folder);
    yk_status status = yk_text_status(&folder);
    status = agree(run, status);
    if (status == YK_OK) {
        status = yk_checkpoint_save(yk_text_chars(&folder), &content, run->options.keep, &path);
        note_agreed(run, status); /* ranks have come to it together in there */
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
    struct yk_run *run = running->run;
    struct steps *steps = &running->steps;
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
        note_metrics(steps, yk_metrics_write_evaluation(steps->metrics, run->state.step,
                                                        run->evaluation_loss, tokens));
    }
    return YK_OK;
}

static bool saves(const struct yk_run *run)
{
    return run->folder && !run->options.saves_nothing;
}

static bool is_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

/* Something happens between this step and the next. */
static bool is_break(const struct yk_run *run, int64_t step)
{
    const struct yk_run_options *options = &run->options;
    return step == options->steps || (run->evaluation && is_due(step, options->evaluate_every)) ||
           (saves(run) && is_due(step, options->save_every));
}

/* What happened in the last step, before anything else happens on the lanes. */
static yk_status keep_trace(struct running *running)
{
    const struct steps *steps = &running->steps;
    struct yk_round_times times;
    YK_TRY(yk_executor_times(steps->executor, 0, steps->times, &times));
    running->run->traced_s = times.began_s;
    return yk_round_times_trace(&times, &running->run->trace);
}

static yk_status pause(struct running *running)
{
    struct yk_run *run = running->run;
    struct steps *steps = &running->steps;
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
    const struct yk_run *run = running->run;
    struct steps *steps = &running->steps;
    if (run->callbacks.stop && run->callbacks.stop(run->callbacks.user)) {
        yk_executor_request_stop(steps->executor);
        steps->stopped = steps->stopped || run->program->rank_count == 1;
    }
}

static yk_status train_steps(struct running *running)
{
    struct yk_run *run = running->run;
    struct steps *steps = &running->steps;
    const int32_t depth = yk_executor_depth(steps->executor);
    while (run->state.step < run->options.steps && !steps->stopped) {
        YK_TRY(begin_step(steps));
        const bool breaks = is_break(run, run->state.step + steps->pending_count);
        if (!breaks && steps->pending_count < depth) {
            continue;
        }
        YK_TRY(breaks ? end_all(steps) : end_step(steps));
        check_stop(running);
        if (breaks || steps->stopped || steps->change) {
            YK_TRY(end_all(steps));
            YK_TRY(pause(running));
        }
        if (steps->change && run->state.step < run->options.steps && !steps->stopped) {
            YK_TRY(change_program(steps));
        }
    }
    return YK_OK;
}

static yk_status train(struct running *running)
{
    struct yk_run *run = running->run;
    const struct yk_run_options *options = &run->options;
    YK_TRY(prepare_steps(&running->steps));
    YK_TRY(train_steps(running));
    YK_TRY(check_end(run));
    if (run->evaluation && !running->steps.stopped && running->evaluated_step != run->state.step) {
        YK_TRY(evaluate(running));
    }
    if (run->evaluation && running->evaluated_step == run->state.step &&
        !isfinite(run->evaluation_loss)) {
        return fail_nonfinite(run, run->evaluation_loss);
    }
    if (saves(run) && running->saved_step != run->state.step) {
        YK_TRY(save(running, true));
    }
    return running->steps.stopped ? yk_fail(YK_ERROR_STOPPED, "stopped after step %lld of %lld",
                                            (long long)run->state.step, (long long)options->steps)
                                  : YK_OK;
}

/* Checkpoints that will be written: at times, and the last. */
static int64_t count_saves(const struct yk_run *run)
{
    const int64_t every = run->options.save_every;
    const int64_t last = run->options.steps;
    const int64_t done = run->state.step;
    return done >= last ? 0 : 1 + (every > 0 ? (last - 1) / every - done / every : 0);
}

/* The folder of a run and what is to be written there, by rank 0. */
static yk_status open_folder(struct running *running)
{
    struct yk_run *run = running->run;
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
    struct yk_run *run = running->run;
    run->state.epoch = run->samples->epoch_units;
    YK_TRY(yk_arena_create(&running->arena));
    if (run->executor.ranks) {
        YK_TRY(yk_partitions_to_save(run->program, own_rank(run), running->arena, &running->saves));
    }
    YK_TRY(open_steps(run, &running->steps));
    const bool writes = run->folder && own_rank(run) == 0;
    return agree(run, writes ? open_folder(running) : YK_OK);
}

yk_status yk_run_train(struct yk_run *run)
{
    struct running running = {.run = run, .saved_step = -1, .evaluated_step = -1};
    run->evaluation_loss = NAN;
    yk_status status = open_all(&running);
    if (status == YK_OK) {
        status = train(&running);
    }
    close_steps(&running.steps);
    yk_arena_destroy(running.arena);
    return status;
}
