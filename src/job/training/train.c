#include "job/training/request.h"

#include "base/log.h"
#include "base/system.h"
#include "job/device.h"
#include "job/planning/plan_job.h"
#include "job/rank.h"
#include "job/training/rebalancer.h"
#include "job/training/training.h"
#include "planner/planner.h"

#include <inttypes.h>
#include <math.h>

/* Time limit of an op before its rank counts as hanging: a multiple of the predicted step time. */
#define MIN_HANG_S 30.0
#define HANG_FACTOR 5.0

/* Weight of a new step in the moving average of the step time. */
#define FORGETTING 0.1

/* State of the run's callbacks: reports each step to the job's callbacks, and passes it to the
 * rebalancer and to the counter recorder. The first two members are set, the others start as 0. */
struct steps {
    const struct yk_training *training;
    struct yk_train_rebalancer *rebalancer; /* NULL: alone */

    double usual_step_s;       /* of late: for the time that is left */
    struct yk_text checkpoint; /* the path of the newest */
};

static bool is_rank_0(const struct steps *steps)
{
    return yk_train_team_rank(&steps->training->team) == 0;
}

/* The callbacks of the request on rank 0; empty ones on other ranks. */
static const struct yk_train_progress_callbacks *progress_of(const struct steps *steps)
{
    static const struct yk_train_progress_callbacks none;
    const struct yk_train_progress_callbacks *progress = steps->training->request.progress;
    return is_rank_0(steps) && progress ? progress : &none;
}

static void update_usual_step(struct steps *steps, double seconds)
{
    steps->usual_step_s = steps->usual_step_s > 0
                              ? (1 - FORGETTING) * steps->usual_step_s + FORGETTING * seconds
                              : seconds;
}

/* Finds the rank with the longest compute time and its fraction of the step. */
static void find_slowest(const struct yk_step_metrics *step, struct yk_train_step_report *out)
{
    int32_t slowest = 0;
    for (int32_t r = 1; r < step->ranks; r++) {
        slowest = step->compute_s[r] > step->compute_s[slowest] ? r : slowest;
    }
    out->slowest = -1;
    if (step->ranks > 1 && step->seconds > 0 && step->compute_s[slowest] > 0) {
        out->slowest = slowest;
        out->slowest_compute_fraction = fmin(1, step->compute_s[slowest] / step->seconds);
    }
}

static void on_step(void *user, const struct yk_step_metrics *step)
{
    struct steps *steps = user;
    const struct yk_train_progress_callbacks *progress = progress_of(steps);
    const struct yk_planner_outcome *planned = yk_training_current_plan(steps->training);
    update_usual_step(steps, step->seconds);
    if (!progress->step) {
        return;
    }
    const struct yk_mfu mfu = yk_planner_mfu_at_throughput(planned, step->tokens_per_s);
    struct yk_train_step_report report = {
        .metrics = step,
        .unit = yk_model_config_throughput_unit(planned->context->model->config),
        .scaled = planned->plan->workload.precision == YK_PRECISION_FP16,
        .mfu = mfu.formula,
        .exact_mfu = mfu.exact,
        .memory_bytes = yk_system_process_memory().resident_bytes,
        .predicted_s = planned->evaluation.step_s,
        .remaining_s = (double)(step->steps - step->step) * steps->usual_step_s,
    };
    find_slowest(step, &report);
    progress->step(progress->user, &report);
}

static void on_evaluated(void *user, int64_t step, const struct yk_evaluation_result *result)
{
    const struct yk_train_progress_callbacks *progress = progress_of(user);
    if (progress->evaluation) {
        progress->evaluation(
            progress->user, &(struct yk_train_evaluation_report){step, result->loss, result->tokens,
                                                                 result->accuracy});
    }
}

static void on_saved(void *user, int64_t step, const char *path, const char *fault)
{
    struct steps *steps = user;
    const struct yk_train_progress_callbacks *progress = progress_of(steps);
    if (fault) {
        if (is_rank_0(steps)) {
            yk_log(YK_LOG_WARNING, "step %" PRId64 ": no checkpoint was written: %s", step, fault);
        }
        return;
    }
    steps->checkpoint.length = 0;
    yk_text_add(&steps->checkpoint, path);
    if (progress->checkpoint) {
        progress->checkpoint(progress->user, &(struct yk_train_checkpoint_report){step, path});
    }
}

static const struct yk_program *on_change(void *user, const struct yk_step_metrics *step)
{
    const struct steps *steps = user;
    return steps->rebalancer ? yk_train_rebalancer_check_step(steps->rebalancer, step) : NULL;
}

static void on_changed(void *user, int64_t step)
{
    yk_train_rebalancer_record_change(((struct steps *)user)->rebalancer, step);
}

static void on_timed(void *user, const struct yk_op_timeline *timeline)
{
    const struct steps *steps = user;
    yk_counter_recorder_add_step_timeline(steps->training->counter_recorder, timeline);
}

static bool on_stop(void *user)
{
    const struct steps *steps = user;
    return yk_job_stop_requested(steps->training->request.job);
}

static struct yk_training_run_callbacks run_callbacks(struct steps *steps)
{
    return (struct yk_training_run_callbacks){
        .user = steps,
        .step = on_step,
        .evaluated = on_evaluated,
        .saved = on_saved,
        .stop = on_stop,
        .change = on_change,
        .changed = on_changed,
        .timed = steps->training->counter_recorder ? on_timed : NULL,
    };
}

yk_status yk_train_check_request(const struct yk_train_request *request)
{
    if (!isnan(request->lora_alpha) && request->lora_rank == 0 && !request->adapter) {
        return yk_fail(YK_ERROR_USAGE, "--lora-alpha scales adapters; add them with --lora 8");
    }
    if (request->shuffle > 0 && request->rebalance) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rebalance goes on by the order of a plan, which --shuffle "
                       "is to do without; leave one of them out");
    }
    const struct yk_lr_schedule schedule = yk_training_make_lr_schedule(request, 1);
    if (schedule.min_lr > schedule.max_lr) {
        return yk_fail(YK_ERROR_USAGE, "--least-rate %g is more than --rate, which is %g",
                       schedule.min_lr, schedule.max_lr);
    }
    return YK_OK;
}

static yk_status fail_stopped(const struct yk_training *training)
{
    const struct yk_training_run *run = &training->run;
    return yk_fail(YK_ERROR_STOPPED,
                   "stopped after step %" PRId64 " of %" PRId64
                   " and saved; go on with: yoke train --resume --out %s",
                   run->state.step, run->options.steps, training->folder);
}

/* Collects the measurements and lets rank 0 write them, after the last step or a stop. */
static yk_status finish(struct yk_training *training, const char *checkpoint, yk_status trained,
                        struct yk_train_result *out)
{
    yk_status status = yk_train_measurements_collect(training);
    YK_IF_OK(yk_train_measurements_collect_op_times(training));
    if (status == YK_OK && yk_train_team_rank(&training->team) == 0) {
        out->stopped = trained != YK_OK;
        status = yk_train_summary_fill_result(training, checkpoint, out);
        YK_IF_OK(yk_train_summary_write_files(training, out));
    }
    out->stopped = trained != YK_OK;
    YK_TRY(yk_train_team_combine_status(&training->team, status));
    return trained == YK_OK ? YK_OK : fail_stopped(training);
}

/* Runs all steps; with --counters, records hardware counters meanwhile. */
static yk_status run_with_counters(struct yk_training *training)
{
    if (!training->counter_recorder) {
        return yk_training_run_execute(&training->run);
    }
    YK_TRY(yk_counter_recorder_start(training->counter_recorder));
    const yk_status status = yk_training_run_execute(&training->run);
    yk_counter_recorder_stop(training->counter_recorder);
    return status;
}

static yk_status report_start(const struct yk_training *training)
{
    const struct yk_train_progress_callbacks *progress = training->request.progress;
    const struct yk_planner_outcome *planned = training->plan.planned;
    struct yk_train_result predicted = {0};
    struct yk_text data = {0};
    if (!progress || !progress->start || yk_train_team_rank(&training->team) > 0) {
        return YK_OK;
    }
    YK_TRY(yk_train_summary_fill_result_predictions(training, &predicted));
    yk_dataset_describe(training->inputs.dataset, &data);
    const struct yk_train_start_report start = {
        .predicted = &predicted,
        .vocabulary = yk_model_config_target_vocabulary_size(training->inputs.config),
        .data = yk_text_chars(&data),
        .epoch_units = training->inputs.samples->epoch_units,
        .batch_rows = training->inputs.samples->max_slice_tokens,
        .plan = planned->summary,
        .resumed = training->checkpoint ? training->checkpoint->path : NULL,
        .steps_done = training->checkpoint ? training->checkpoint->state.step : 0,
    };
    const yk_status status = yk_text_status(&data);
    if (status == YK_OK) {
        progress->start(progress->user, &start);
    }
    yk_text_free(&data);
    return status;
}

/* Prepares everything that the first step needs. */
static yk_status prepare_first_step(struct yk_training *training)
{
    const struct yk_planner_outcome *planned = training->plan.planned;
    struct yk_train_team *team = &training->team;
    if (!planned->plan) {
        return yk_planner_fail_no_plan_found(planned);
    }
    YK_TRY(report_start(training));
    YK_TRY(yk_train_team_connect_gpus(team, &training->plan.device, training->request.wire));
    YK_TRY(yk_train_team_report_cores_or_transport(team, training->arena));
    if (training->request.counters) {
        YK_TRY(yk_train_team_combine_status(
            team,
            yk_device_counters_open_recorder(&training->plan.device, &training->counter_recorder)));
    }
    YK_TRY(yk_training_prepare_first_step(training));
    return yk_train_team_watchdog_start(team, planned->evaluation.program,
                                        fmax(MIN_HANG_S, HANG_FACTOR * planned->evaluation.step_s));
}

static yk_status run_steps(struct yk_training *training, struct steps *steps,
                           struct yk_train_result *out)
{
    struct yk_train_team *team = &training->team;
    training->run.callbacks = run_callbacks(steps);
    yk_train_progress_report_phase(training->request.progress, YK_TRAIN_JOB_PHASE_TRAINING);
    const yk_status status = run_with_counters(training);
    yk_job_report_end(training->request.job);
    if (status == YK_OK || status == YK_ERROR_STOPPED) {
        return finish(training, yk_text_chars(&steps->checkpoint), status, out);
    }
    if (training->run.agreed) {
        return yk_train_team_report_failure(team, status);
    }
    yk_train_team_watchdog_abort_all_ranks(team, status);
    return status;
}

static yk_status train(struct yk_training *training, struct yk_train_result *out)
{
    const struct yk_planner_outcome *planned = training->plan.planned;
    struct yk_train_team *team = &training->team;
    YK_TRY(prepare_first_step(training));
    struct yk_train_rebalancer rebalancer = {
        .request = &training->plan.request,
        .planned = planned,
        .arena = training->arena,
        .changes = training->request.rebalance,
        .reports = yk_train_team_rank(team) == 0,
    };
    YK_TRY(yk_train_rebalancer_open(&rebalancer));
    YK_TRY(yk_train_team_broadcast_numbers(team, rebalancer.planned_s, planned->plan->rank_count));
    training->rebalancer = yk_train_team_is_single_rank(team) ? NULL : &rebalancer;
    struct steps steps = {
        .training = training,
        .rebalancer = yk_train_team_is_single_rank(team) ? NULL : &rebalancer,
    };
    const yk_status status = run_steps(training, &steps, out);
    training->run.program = planned->evaluation.program;
    training->rebalancer = NULL;
    yk_train_rebalancer_close(&rebalancer);
    yk_text_free(&steps.checkpoint);
    return status;
}

static yk_status run_dry(const struct yk_training *training, struct yk_train_result *out)
{
    const struct yk_planner_outcome *planned = training->plan.planned;
    const bool json = training->request.json;
    if (!planned->plan) {
        YK_TRY(json ? yk_plan_output_write_json(planned, &out->plan)
                    : yk_plan_output_write_text(planned, &out->plan));
        return yk_planner_fail_no_plan_found(planned);
    }
    YK_TRY(yk_train_summary_fill_result_predictions(training, out));
    return json ? YK_OK : yk_plan_output_write_text(planned, &out->plan);
}

yk_status yk_train_run(const struct yk_train_request *request, struct yk_train_result *out)
{
    struct yk_training training = {.request = *request};
    struct yk_launcher launcher;
    bool launches = false;
    YK_TRY(yk_train_check_request(request));
    YK_TRY(yk_rank_detect(&request->rank_options, &launcher));
    YK_TRY(yk_rank_must_start_ranks(&launcher, request->ranks, &launches));
    if (launches && !request->dry_run) {
        return yk_fail(YK_ERROR_USAGE,
                       "%" PRId64 " ranks are as many processes, which are not there; start them "
                       "by a launcher",
                       request->ranks);
    }
    out->rank = launcher.rank;
    out->size = launcher.size;
    yk_status status = yk_training_open(&training, &launcher);
    YK_IF_OK(request->dry_run ? run_dry(&training, out) : train(&training, out));
    /* The result takes over the training's arena, which it points into. */
    out->arena = training.arena;
    training.arena = NULL;
    yk_training_close(&training);
    return status;
}
