#include "job/training/training.h"

#include "base/folder.h"
#include "base/system.h"
#include "job/output_files.h"
#include "job/reporting/run_report.h"
#include "job/training/rebalancer.h"
#include "planner/planner.h"
#include "trace/trace.h"

yk_status yk_train_summary_fill_result_predictions(const struct yk_training *training,
                                                   struct yk_train_result *out)
{
    const struct yk_planner_outcome *planned = yk_training_current_plan(training);
    const struct yk_model *model = planned->context->model;
    const int64_t done = training->checkpoint ? training->checkpoint->state.step : 0;
    YK_TRY(yk_arena_strdup(training->arena, model->config->name, &out->model));
    YK_TRY(yk_arena_strdup(training->arena, training->folder, &out->folder));
    out->parameters = model->parameters;
    out->trainable = model->trainable;
    out->steps = training->steps;
    out->batch = model->workload.batch;
    out->sequence = model->workload.sequence;
    out->images = yk_model_config_reads_images(model->config);
    out->unit = yk_model_config_throughput_unit(model->config);
    out->precision = yk_precision_name(model->workload.precision);
    out->micro_batches = planned->plan->micro_batches;
    out->predicted_step_s = planned->evaluation.step_s;
    out->predicted_error = yk_error_band_relative_error(&planned->evaluation.band);
    out->predicted_s = (double)(training->steps - done) * training->plan.planned->evaluation.step_s;
    out->planned_bytes = yk_training_planned_peak_bytes(training, 0);
    out->limit_bytes = planned->plan->ranks[0].limit_bytes;
    out->planned = true;
    return YK_OK;
}

/* Sets the device and the backend of this rank. */
static yk_status describe_device(const struct yk_training *training, struct yk_train_result *out)
{
    const struct yk_device_context *context = &training->context;
    struct yk_text name = {0};
    context->backend->describe(context->device, &name);
    YK_TRY(yk_text_move_to_arena(&name, training->arena, &out->device));
    return yk_arena_strdup(training->arena, context->backend->name, &out->backend);
}

/* Copies device names, because they belong to the cluster, which is freed with the training. */
static yk_status copy_ranks(const struct yk_training *training, struct yk_train_result *out)
{
    out->rank_count = training->plan.planned->plan->rank_count;
    YK_TRY_NEW(training->arena, out->ranks, out->rank_count);
    for (int32_t r = 0; r < out->rank_count; r++) {
        out->ranks[r] = training->ranks[r];
        YK_TRY(yk_arena_strdup(training->arena, training->ranks[r].device, &out->ranks[r].device));
    }
    return YK_OK;
}

yk_status yk_train_summary_fill_result(const struct yk_training *training, const char *checkpoint,
                                       struct yk_train_result *out)
{
    const struct yk_training_run *run = &training->run;
    const struct yk_train_rebalancer *rebalancer = training->rebalancer;
    YK_TRY(yk_train_summary_fill_result_predictions(training, out));
    YK_TRY(describe_device(training, out));
    YK_TRY(yk_arena_strdup(training->arena, checkpoint, &out->checkpoint));
    YK_TRY(copy_ranks(training, out));
    if (rebalancer && rebalancer->changed_count > 0) {
        YK_TRY(yk_train_rebalancer_list_changes(rebalancer, training->arena, &out->rebalancings));
        out->rebalancing_count = rebalancer->changed_count;
    }
    out->steps_done = run->state.step;
    out->first_loss = run->first_loss;
    out->last_loss = run->last_loss;
    out->evaluation_loss = run->evaluated.loss;
    out->accuracy = run->evaluated.accuracy;
    out->top5_accuracy = run->evaluated.top5_accuracy;
    out->tokens = run->tokens;
    out->seconds = run->seconds;
    out->tokens_per_s = run->tokens / run->seconds;
    const struct yk_mfu mfu =
        yk_planner_mfu_at_throughput(training->plan.planned, out->tokens_per_s);
    out->mfu = mfu.formula;
    out->exact_mfu = mfu.exact;
    out->median_step_s = run->median_step_s;
    out->peak_bytes = yk_system_process_memory().peak_bytes;
    out->device_bytes = run->device_bytes;
    out->counters = training->counters;
    out->trained = true;
    return YK_OK;
}

static yk_status add_files(const struct yk_training *training, const struct yk_train_result *result,
                           struct yk_output_files *outputs)
{
    const char *path = NULL;
    struct yk_trace *predicted = NULL;
    YK_TRY(yk_folder_join_path(training->folder, "summary.json", training->arena, &path));
    YK_TRY(yk_train_result_write_json(result, yk_output_files_add_nofollow(outputs, path)));
    YK_TRY(yk_train_measurements_add_op_times_file(training, outputs));
    if (training->run.trace) {
        YK_TRY(yk_folder_join_path(training->folder, "trace.json", training->arena, &path));
        YK_TRY(yk_chrome_trace_write_json(training->run.trace,
                                          yk_output_files_add_nofollow(outputs, path)));
    }
    if (training->counters.count > 0) {
        YK_TRY(yk_folder_join_path(training->folder, "counters.json", training->arena, &path));
        YK_TRY(yk_counters_file_write_json(&training->counters,
                                           yk_output_files_add_nofollow(outputs, path)));
    }
    YK_TRY(yk_folder_join_path(training->folder, "trace-predicted.json", training->arena, &path));
    YK_TRY(yk_sim_make_trace(yk_training_current_plan(training)->evaluation.sim, &predicted));
    const yk_status status =
        yk_chrome_trace_write_json(predicted, yk_output_files_add_nofollow(outputs, path));
    yk_trace_destroy(predicted);
    YK_TRY(status);
    return yk_output_files_write_and_free(outputs);
}

static yk_status write_files(const struct yk_training *training,
                             const struct yk_train_result *result)
{
    struct yk_output_files outputs = {0};
    const yk_status status = add_files(training, result, &outputs);
    yk_output_files_free(&outputs);
    return status;
}

static yk_status write_page(const struct yk_training *training)
{
    const char *page = NULL;
    YK_TRY(yk_folder_join_path(training->folder, "report.html", training->arena, &page));
    return yk_run_report_write(&(struct yk_run_report_paths){
        .run_folder = training->folder, .page = page, .nofollow = true});
}

yk_status yk_train_summary_write_files(const struct yk_training *training,
                                       const struct yk_train_result *result)
{
    struct yk_output_files outputs = {0};
    yk_output_files_drop_added_on_failure(&outputs, write_files(training, result));
    yk_output_files_drop_added_on_failure(&outputs, write_page(training));
    const yk_status status = yk_output_files_write_and_free(&outputs);
    yk_output_files_free(&outputs);
    return status;
}
