#include "train/run.h"

#include "base/log.h"
#include "comm/exchange.h"
#include "train/batches.h"
#include "train/executor.h"
#include "train/holdings.h"
#include "train/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_BAD_STEPS = 8, /* in a row */
    MOST_PENDING = 4,
    MEMORY_NOTED = 16, /* of so many steps, once */
};

/* A step that has begun and not ended. */
struct pending {
    double rate;
    double scale;
    int64_t present;
};

struct running {
    struct yk_run *run;
    struct yk_executor *executor;
    struct yk_batches *batches;
    struct yk_metrics *metrics;
    const struct yk_batch *now;  /* of the step that begins next */
    const struct yk_batch *next; /* of the one after: prepared while others run */
    int64_t taken;               /* units of the sampler in all of these */
    struct pending pending[MOST_PENDING];
    int32_t pending_count;
    struct yk_op_time *times; /* (ops) where the watch asks for them; else NULL */
    double *seconds;          /* of the steps of this run */
    int64_t count;
    bool stopped;
    const struct yk_program *change; /* to go on with */
    struct yk_arena *arena;
    struct yk_holding *saves; /* (L) what this rank saves */
    int64_t saved_step;       /* −1: not yet */
    int64_t evaluated_step;
};

static int32_t rank_of(const struct yk_run *run)
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

static yk_status make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot make the folder %s: %s", path, strerror(errno));
    }
    return YK_OK;
}

static yk_status save(struct running *running, bool last)
{
    struct yk_run *run = running->run;
    const struct yk_checkpoint_content content = {
        .store = run->store,
        .state = run->state,
        .tokenizer = run->tokenizer,
        .settings_json = run->settings_json,
        .base_model = run->base_model,
        .ranks = run->executor.ranks,
        .saves = running->saves,
    };
    struct yk_text folder = {0};
    struct yk_text path = {0};
    yk_text_addf(&folder, "%s/checkpoints", run->folder);
    yk_status status = yk_text_status(&folder);
    if (status == YK_OK && rank_of(run) == 0) {
        status = make_folder(yk_text_chars(&folder));
    }
    status = agree(run, status);
    if (status == YK_OK) {
        status = yk_checkpoint_save(yk_text_chars(&folder), &content, run->settings.keep, &path);
        note_agreed(run, status); /* ranks have come to it together in there */
    }
    running->saved_step = status == YK_OK ? run->state.step : running->saved_step;
    if (run->watch.saved && (status == YK_OK || !last)) {
        run->watch.saved(run->watch.user, run->state.step, yk_text_chars(&path),
                         status == YK_OK ? NULL : yk_status_message());
    }
    yk_text_free(&folder);
    yk_text_free(&path);
    run->agreed = run->agreed && last;
    return last ? status : YK_OK; /* an older one is still there, and training goes on */
}

/* A line that cannot be written is no reason to lose the training; later ones are not tried. */
static void keep_metrics(struct running *running, yk_status written)
{
    if (written != YK_OK) {
        yk_log(YK_LOG_WARNING, "step %lld: %s; the metrics end here",
               (long long)running->run->state.step, yk_status_message());
        yk_metrics_close(running->metrics);
        running->metrics = NULL;
    }
}

static yk_status evaluate(struct running *running)
{
    struct yk_run *run = running->run;
    int64_t tokens = 0;
    struct yk_run_loan loan = {0};
    const struct yk_run_evaluation evaluation = {
        .batch = run->settings.batch,
        .samples = run->settings.evaluate_samples,
        .loan = &loan,
    };
    loan.memory = yk_executor_lend(running->executor, &loan.bytes);
    if (run->program->rank_count > 1) {
        YK_TRY(yk_run_evaluate_ranks(running->executor, run->program, run, &run->evaluation_loss,
                                     &tokens));
    } else {
        YK_TRY(yk_run_evaluate(run->store, run->evaluation, &evaluation, &run->evaluation_loss,
                               &tokens));
    }
    running->evaluated_step = run->state.step;
    if (run->watch.evaluated) {
        run->watch.evaluated(run->watch.user, run->state.step, run->evaluation_loss, tokens);
    }
    if (running->metrics) {
        keep_metrics(running, yk_metrics_evaluation(running->metrics, run->state.step,
                                                    run->evaluation_loss, tokens));
    }
    return YK_OK;
}

static yk_status fail_named(const struct yk_run *run, const char *name, const char *what)
{
    const char *advice =
        run->settings.clip > 0 ? "try a lower --rate" : "try a lower --rate, or --clip 1";
    if (strcmp(what, "weights") == 0) {
        return yk_fail(YK_ERROR_NUMBERS,
                       "step %lld: the weights %s hold numbers that are not finite; %s",
                       (long long)run->state.step, name, advice);
    }
    return yk_fail(YK_ERROR_NUMBERS,
                   "step %lld: the gradient of %s is not finite, %lld times in a row; %s",
                   (long long)run->state.step, name, (long long)run->state.bad, advice);
}

/* All ranks come here together: one that holds the bad numbers names them. */
static yk_status fail_bad(struct yk_run *run, double loss)
{
    const char *name = NULL;
    const char *what = NULL;
    const char *advice =
        run->settings.clip > 0 ? "try a lower --rate" : "try a lower --rate, or --clip 1";
    yk_status status = yk_store_find_bad(run->store, &name, &what);
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
 * or the weights themselves are no numbers. */
static yk_status check_end(struct yk_run *run)
{
    const char *name = NULL;
    const char *what = NULL;
    double harmed = 0;
    if (run->state.bad > 0 && isfinite(run->last_loss)) {
        YK_TRY(yk_store_find_bad(run->store, &name, &what));
        harmed = name && strcmp(what, "weights") == 0 ? 1 : 0;
        if (run->executor.ranks) {
            YK_TRY(yk_exchange_max(run->executor.ranks, &harmed, 1));
        }
    }
    return run->state.bad > 0 && (harmed > 0 || !isfinite(run->last_loss))
               ? fail_bad(run, run->last_loss)
               : YK_OK;
}

/* A step whose numbers are bad counts as done, but updates nothing. */
static yk_status judge(const struct running *running, const struct yk_step_result *result)
{
    struct yk_run *run = running->run;
    const bool bad = result->skipped || !isfinite(result->loss) || !isfinite(result->norm);
    run->state.bad = bad ? run->state.bad + 1 : 0;
    if (bad && (!result->skipped || run->state.bad >= MOST_BAD_STEPS)) {
        YK_TRY(yk_executor_settle(running->executor));
        return fail_bad(run, result->loss);
    }
    return YK_OK;
}

static void tell(struct running *running, const struct yk_step_result *result,
                 const struct pending *pending)
{
    struct yk_run *run = running->run;
    const struct yk_run_step line = {
        .step = run->state.step,
        .steps = run->settings.steps,
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
    run->first_loss = running->count == 0 ? result->loss : run->first_loss;
    run->last_loss = result->loss;
    run->tokens += (double)pending->present;
    run->seconds += result->seconds;
    running->seconds[running->count++] = result->seconds;
    if (run->watch.step) {
        run->watch.step(run->watch.user, &line);
    }
    if (run->watch.change) {
        const struct yk_program *change = run->watch.change(run->watch.user, &line);
        running->change = change ? change : running->change;
    }
    if (running->metrics) {
        keep_metrics(running, yk_metrics_step(running->metrics, &line));
    }
}

static yk_status prepare(struct running *running, const struct yk_batch **out)
{
    YK_TRY(yk_batches_take(running->batches, running->taken, INT64_MAX, out));
    running->taken += (*out)->units;
    return YK_OK;
}

/* Begins a step, and while it runs prepares the samples of the one after the next. What the one
 * after depends on is known when this returns. */
static yk_status begin(struct running *running)
{
    struct yk_run *run = running->run;
    const int64_t number = run->state.step + running->pending_count;
    const struct yk_step step = {
        .batch = running->now,
        .rate = yk_rate_at(&run->settings.rate, number),
        .updates = run->state.updates,
        .loss_scale = run->state.scaler.scale,
        .clip = run->settings.clip,
    };
    bool skipped = false;
    YK_TRY(yk_executor_begin(running->executor, &step, running->next));
    running->pending[running->pending_count++] =
        (struct pending){step.rate, step.loss_scale, step.batch->present};
    run->state.samples += step.batch->units;
    running->now = running->next;
    YK_TRY(prepare(running, &running->next));
    YK_TRY(yk_executor_verdict(running->executor, &skipped));
    yk_scaler_note(&run->state.scaler, run->store->net->workload.precision, skipped);
    run->state.updates += skipped ? 0 : 1;
    return YK_OK;
}

/* All is taken by the end of the first steps; asking takes the driver a while. */
static void note_memory(struct yk_run *run)
{
    const struct yk_engine *engine = &run->store->engine;
    if (engine->backend->used && run->state.step % MEMORY_NOTED == 1) {
        run->device_bytes = fmax(run->device_bytes, (double)engine->backend->used(engine->device));
    }
}

static yk_status create_times(struct running *running)
{
    const struct yk_run *run = running->run;
    free(running->times);
    running->times = NULL;
    if (run->watch.timed) {
        const size_t ops = (size_t)run->program->ranks[rank_of(run)].op_count;
        running->times = calloc(ops + 1, sizeof *running->times);
        return running->times ? YK_OK : yk_fail_out_of_memory();
    }
    return YK_OK;
}

static yk_status tell_times(struct running *running, const struct yk_step_result *result)
{
    const struct yk_run *run = running->run;
    const double began_s = yk_executor_round_s(running->executor);
    struct yk_run_times times = {
        .program = run->program,
        .rank = rank_of(run),
        .ops = running->times,
        .began_s = began_s,
        .done_s = began_s + result->seconds,
    };
    if (running->times) {
        YK_TRY(yk_executor_times(running->executor, running->times, &times.count));
        run->watch.timed(run->watch.user, &times);
    }
    return YK_OK;
}

/* Ends the oldest step that has begun. */
static yk_status end(struct running *running)
{
    struct yk_run *run = running->run;
    struct yk_step_result result = {0};
    YK_TRY(yk_executor_end(running->executor, &result));
    YK_TRY(tell_times(running, &result));
    const struct pending ended = running->pending[0];
    running->pending_count--;
    for (int32_t i = 0; i < running->pending_count; i++) {
        running->pending[i] = running->pending[i + 1];
    }
    run->state.step++;
    yk_round_log_note(run->log, running->executor, run->state.step);
    note_memory(run);
    running->stopped = running->stopped || result.stopped;
    tell(running, &result, &ended);
    return judge(running, &result);
}

static yk_status end_all(struct running *running)
{
    YK_TRY(yk_executor_settle(running->executor));
    while (running->pending_count > 0) {
        YK_TRY(end(running));
    }
    return YK_OK;
}

static bool saves(const struct yk_run *run)
{
    return run->folder && !run->settings.saves_nothing;
}

static bool is_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

/* Something happens between this step and the next. */
static bool is_break(const struct yk_run *run, int64_t step)
{
    const struct yk_run_settings *settings = &run->settings;
    return step == settings->steps || (run->evaluation && is_due(step, settings->evaluate_every)) ||
           (saves(run) && is_due(step, settings->save_every));
}

/* What happened in the last step, before anything else happens on the lanes. */
static yk_status keep_trace(struct running *running)
{
    struct yk_run *run = running->run;
    const struct yk_program *program = run->program;
    const int32_t device = program->plan->ranks[rank_of(run)].device;
    run->traced_s = yk_executor_round_s(running->executor);
    return yk_executor_trace(running->executor, program->cluster->devices[device].name,
                             &run->trace);
}

static yk_status take_break(struct running *running)
{
    struct yk_run *run = running->run;
    const struct yk_run_settings *settings = &run->settings;
    const bool last = run->state.step == settings->steps;
    running->stopped = running->stopped && !last;
    if (last || running->stopped) {
        YK_TRY(keep_trace(running));
    }
    if (run->evaluation && !running->stopped && is_due(run->state.step, settings->evaluate_every)) {
        YK_TRY(evaluate(running));
    }
    /* Steps that were skipped changed nothing that is worth an older checkpoint. */
    if (saves(run) && !last && run->state.bad == 0 &&
        is_due(run->state.step, settings->save_every)) {
        YK_TRY(save(running, false));
    }
    return YK_OK;
}

/* Each rank may be asked to stop; all do when they hear of it with a step's result. */
static void look_for_stop(struct running *running)
{
    const struct yk_run *run = running->run;
    if (run->watch.stop && run->watch.stop(run->watch.user)) {
        yk_executor_ask_to_stop(running->executor);
        running->stopped = running->stopped || run->program->rank_count == 1;
    }
}

static yk_status create_batches(struct running *running)
{
    const struct yk_run *run = running->run;
    const struct yk_plan *plan = run->program->plan;
    struct yk_batch_cut *cuts = calloc((size_t)plan->micro_batches, sizeof *cuts);
    if (!cuts) {
        return yk_fail_out_of_memory();
    }
    yk_batches_cut(plan, rank_of(run), cuts);
    const yk_status status = yk_batches_create(run->samples, &run->store->engine,
                                               plan->micro_batches, cuts, &running->batches);
    free(cuts);
    return status;
}

/* Times of another program's ops go. */
static yk_status begin_log(struct yk_run *run)
{
    yk_round_log_destroy(run->log);
    run->log = NULL;
    return yk_round_log_create(run->program->ranks[rank_of(run)].op_count, &run->log);
}

/* Another program with the same store: samples are divided otherwise from the next step on. */
static yk_status change_program(struct running *running)
{
    struct yk_run *run = running->run;
    yk_executor_destroy(running->executor);
    yk_batches_destroy(running->batches);
    running->executor = NULL;
    running->batches = NULL;
    run->program = running->change;
    running->change = NULL;
    if (running->metrics) {
        keep_metrics(running,
                     yk_metrics_change(running->metrics, run->state.step, run->program->plan));
    }
    YK_TRY(agree(run, begin_log(run)));
    YK_TRY(agree(run, yk_executor_create(run->program, run->store, &run->settings.optimizer,
                                         &run->executor, &running->executor)));
    YK_TRY(agree(run, create_batches(running)));
    YK_TRY(agree(run, create_times(running)));
    running->taken = run->state.samples;
    YK_TRY(prepare(running, &running->now));
    return prepare(running, &running->next);
}

static yk_status train_steps(struct running *running)
{
    struct yk_run *run = running->run;
    const int32_t depth = yk_executor_depth(running->executor);
    while (run->state.step < run->settings.steps && !running->stopped) {
        YK_TRY(begin(running));
        const bool breaks = is_break(run, run->state.step + running->pending_count);
        if (!breaks && running->pending_count < depth) {
            continue;
        }
        YK_TRY(breaks ? end_all(running) : end(running));
        look_for_stop(running);
        if (breaks || running->stopped || running->change) {
            YK_TRY(end_all(running));
            YK_TRY(take_break(running));
        }
        if (running->change) {
            YK_TRY(change_program(running));
        }
    }
    return YK_OK;
}

static yk_status train(struct running *running)
{
    struct yk_run *run = running->run;
    const struct yk_run_settings *settings = &run->settings;
    running->taken = run->state.samples;
    YK_TRY(prepare(running, &running->now));
    YK_TRY(prepare(running, &running->next));
    YK_TRY(train_steps(running));
    YK_TRY(check_end(run));
    if (run->evaluation && !running->stopped && running->evaluated_step != run->state.step) {
        YK_TRY(evaluate(running));
    }
    if (run->evaluation && running->evaluated_step == run->state.step &&
        !isfinite(run->evaluation_loss)) {
        return fail_bad(run, run->evaluation_loss);
    }
    if (saves(run) && running->saved_step != run->state.step) {
        YK_TRY(save(running, true));
    }
    return running->stopped ? yk_fail(YK_ERROR_STOPPED, "stopped after step %lld of %lld",
                                      (long long)run->state.step, (long long)settings->steps)
                            : YK_OK;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static yk_status open_all(struct running *running)
{
    struct yk_run *run = running->run;
    const int64_t left = run->settings.steps - run->state.step;
    running->seconds = calloc((size_t)(left > 0 ? left : 0) + 1, sizeof *running->seconds);
    if (!running->seconds) {
        return yk_fail_out_of_memory();
    }
    run->state.epoch = run->samples->epoch_units;
    YK_TRY(yk_arena_create(&running->arena));
    if (run->executor.ranks) {
        YK_TRY(yk_holdings_to_save(run->program, rank_of(run), running->arena, &running->saves));
    }
    YK_TRY(begin_log(run));
    YK_TRY(agree(run, yk_executor_create(run->program, run->store, &run->settings.optimizer,
                                         &run->executor, &running->executor)));
    YK_TRY(create_batches(running));
    YK_TRY(create_times(running));
    if (run->folder && rank_of(run) == 0) {
        struct yk_text path = {0};
        YK_TRY(make_folder(run->folder));
        yk_text_addf(&path, "%s/metrics.jsonl", run->folder);
        yk_status status = yk_text_status(&path);
        if (status == YK_OK) {
            status = yk_metrics_open(yk_text_chars(&path), run->state.step, &running->metrics);
        }
        yk_text_free(&path);
        return status;
    }
    return YK_OK;
}

static yk_status finish(struct running *running, yk_status status)
{
    struct yk_run *run = running->run;
    if (running->count > 0) {
        qsort(running->seconds, (size_t)running->count, sizeof *running->seconds, compare);
        run->median_step_s =
            (running->seconds[(running->count - 1) / 2] + running->seconds[running->count / 2]) / 2;
    }
    return status;
}

yk_status yk_run_train(struct yk_run *run)
{
    struct running running = {.run = run, .saved_step = -1, .evaluated_step = -1};
    run->evaluation_loss = NAN;
    yk_status status = open_all(&running);
    if (status == YK_OK) {
        status = train(&running);
        status = finish(&running, status);
    }
    yk_metrics_close(running.metrics);
    yk_batches_destroy(running.batches);
    yk_executor_destroy(running.executor);
    yk_arena_destroy(running.arena);
    free(running.times);
    free(running.seconds);
    return status;
}
