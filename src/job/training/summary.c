#include "job/training/summary.h"

#include "base/process_memory.h"
#include "base/units.h"
#include "base/wording.h"
#include "cli/terminal.h"
#include "job/counters.h"
#include "job/outputs.h"
#include "job/planning/plan_output.h"
#include "job/reporting/run_report.h"
#include "job/training/balance.h"
#include "job/training/spent.h"
#include "planner/planned_facts.h"
#include "trace/chrome.h"

#include <inttypes.h>
#include <math.h>

/* ,"key": value; null where it is no number. */
static void add_value(struct yk_text *out, const char *key, double value)
{
    yk_text_addf(out, ",\"%s\":", key);
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_words(struct yk_text *out, const char *key, const char *words)
{
    yk_text_addf(out, ",\"%s\":", key);
    yk_text_add_json(out, words);
}

static double left_s(const struct yk_training *training)
{
    const int64_t done = training->checkpoint ? training->checkpoint->state.step : 0;
    return (double)(training->steps - done) * training->plan.planned->trial.step_s;
}

static void announce_model(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_model *model = training->plan.planned->study->model;
    const int64_t known = yk_model_config_target_vocabulary(model->config);
    const int64_t samples = training->source.samples->epoch_units;
    const int64_t length = model->workload.sequence;
    yk_text_addf(out, "%s: %" PRId64 " parameters", model->config->name, model->parameters);
    if (model->trainable < model->parameters) {
        yk_text_addf(out, ", %" PRId64 " of them trained", model->trainable);
    }
    yk_text_addf(out, ", %" PRId64 " token%s in its vocabulary\n", known, yk_wording_plural(known));
    yk_text_add(out, "data: ");
    yk_dataset_describe(training->source.dataset, out);
    if (training->source.samples->piece_rows > 0) {
        yk_text_addf(out, "; %" PRId64 " batch%s of up to %" PRId64 " tokens a side an epoch\n",
                     samples, samples == 1 ? "" : "es", training->source.samples->piece_rows);
        return;
    }
    yk_text_addf(out, "; %" PRId64 " sample%s of %" PRId64 " token%s an epoch\n", samples,
                 yk_wording_plural(samples), length, yk_wording_plural(length));
}

static void announce_plan(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_planned *planned = training->plan.planned;
    const int64_t batch = planned->plan->workload.batch;
    char step[YK_UNITS_SIZE];
    char memory[YK_UNITS_SIZE];
    char limit[YK_UNITS_SIZE];
    yk_units_format(planned->trial.step_s, YK_UNIT_SECONDS, step);
    yk_units_format(yk_training_planned_bytes(training, 0), YK_UNIT_BYTES, memory);
    yk_units_format(planned->plan->ranks[0].limit_bytes, YK_UNIT_BYTES, limit);
    yk_text_addf(out, "plan: %" PRId64 " sample%s a step, %s; %s\n", batch,
                 yk_wording_plural(batch), yk_precision_name(planned->plan->workload.precision),
                 planned->summary);
    yk_text_addf(out, "predicted: %s a step ±%.0f %%, ", step,
                 100 * yk_band_error(&planned->trial.band));
    yk_wording_add_time(left_s(training), out);
    yk_text_addf(out, " in all, %s of %s memory", memory, limit);
    if (training->checkpoint) {
        yk_text_addf(out, "\nresumed: %s", training->checkpoint->path);
    }
}

yk_status yk_train_announce(const struct yk_training *training)
{
    struct yk_text text = {0};
    announce_model(training, &text);
    announce_plan(training, &text);
    const yk_status status = yk_text_status(&text);
    if (status == YK_OK) {
        yk_terminal_line(yk_text_chars(&text), true);
    }
    yk_text_free(&text);
    return status;
}

/* What both forms of JSON begin with. */
static void begin_json(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_planned *planned = yk_training_planned(training);
    const struct yk_model *model = planned->study->model;
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"training\"");
    add_words(out, "model", model->config->name);
    yk_text_addf(out, ",\"parameters\":%" PRId64 ",\"trainable\":%" PRId64, model->parameters,
                 model->trainable);
    add_words(out, "folder", training->folder);
    yk_text_addf(out, ",\"steps\":%" PRId64 ",\"batch\":%" PRId64 ",\"sequence\":%" PRId64,
                 training->steps, model->workload.batch, model->workload.sequence);
    add_words(out, "precision", yk_precision_name(model->workload.precision));
    yk_text_addf(out, ",\"micro_batches\":%d", (int)planned->plan->micro_batches);
    add_value(out, "predicted_step_s", planned->trial.step_s);
    add_value(out, "predicted_error", yk_band_error(&planned->trial.band));
    add_value(out, "planned_bytes", yk_training_planned_bytes(training, 0));
    add_value(out, "limit_bytes", planned->plan->ranks[0].limit_bytes);
}

yk_status yk_train_forecast(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_planned *planned = training->plan.planned;
    if (!planned->plan) {
        YK_TRY(training->words.json ? yk_plan_output_json(planned, out)
                                    : yk_plan_output_text(planned, out));
        return yk_planned_fail_unfound(planned);
    }
    if (training->words.json) {
        begin_json(training, out);
        add_value(out, "predicted_s", left_s(training));
        yk_text_add(out, "}\n");
        return yk_text_status(out);
    }
    YK_TRY(yk_plan_output_text(planned, out));
    yk_text_addf(out, "\n%" PRId64 " step%s in all; ", training->steps,
                 yk_wording_plural(training->steps));
    yk_text_add(out, training->steps == 1 ? "it takes " : "those to come take ");
    yk_wording_add_time(left_s(training), out);
    yk_text_addf(out, " ±%.0f %%, as predicted.\n", 100 * yk_band_error(&planned->trial.band));
    return yk_text_status(out);
}

/* Which device this rank has computed on. */
static yk_status add_device(const struct yk_engine *engine, struct yk_text *out)
{
    struct yk_text name = {0};
    engine->backend->describe(engine->device, &name);
    const yk_status status = yk_text_status(&name);
    add_words(out, "backend", engine->backend->name);
    add_words(out, "device", yk_text_chars(&name));
    yk_text_free(&name);
    return status;
}

static yk_status write_json(const struct yk_training *training, const char *checkpoint,
                            struct yk_text *out)
{
    const struct yk_run *run = &training->run;
    begin_json(training, out);
    YK_TRY(add_device(&training->engine, out));
    yk_text_addf(out, ",\"steps_done\":%" PRId64, run->state.step);
    add_value(out, "first_loss", run->first_loss);
    add_value(out, "last_loss", run->last_loss);
    add_value(out, "evaluation_loss", run->evaluation_loss);
    add_value(out, "tokens", run->tokens);
    add_value(out, "seconds", run->seconds);
    const double tokens_per_s = run->tokens / run->seconds;
    const struct yk_mfu mfu = yk_planned_mfu_at(training->plan.planned, tokens_per_s);
    add_value(out, "tokens_per_s", tokens_per_s);
    add_value(out, "mfu", mfu.formula);
    add_value(out, "exact_mfu", mfu.exact);
    add_value(out, "median_step_s", run->median_step_s);
    add_value(out, "peak_bytes", yk_process_memory().peak_bytes);
    if (run->device_bytes > 0) {
        add_value(out, "device_bytes", run->device_bytes);
    }
    add_words(out, "checkpoint", checkpoint);
    if (training->balance && training->balance->changed_count > 0) {
        yk_text_add(out, ",\"rebalanced\":");
        yk_train_balance_add_json(training->balance, out);
    }
    if (training->ranks && training->plan.planned->plan->rank_count > 1) {
        yk_text_add(out, ",\"ranks\":");
        yk_run_summary_write_ranks(training->ranks, training->plan.planned->plan->rank_count, out);
    }
    if (training->counters.count > 0) {
        yk_text_add(out, ",\"counters\":");
        yk_counters_write_averages(&training->counters, out);
    }
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}

static void write_speed(const struct yk_training *training, struct yk_text *out)
{
    const struct yk_run *run = &training->run;
    const struct yk_planned *planned = yk_training_planned(training);
    const double ratio = planned->trial.step_s / run->median_step_s;
    char measured[YK_UNITS_SIZE];
    char predicted[YK_UNITS_SIZE];
    char peak[YK_UNITS_SIZE];
    char planned_memory[YK_UNITS_SIZE];
    yk_units_format(run->median_step_s, YK_UNIT_SECONDS, measured);
    yk_units_format(planned->trial.step_s, YK_UNIT_SECONDS, predicted);
    const bool own = run->device_bytes > 0; /* the device has memory of its own */
    yk_units_format(own ? run->device_bytes : yk_process_memory().peak_bytes, YK_UNIT_BYTES, peak);
    yk_units_format(yk_training_planned_bytes(training, 0), YK_UNIT_BYTES, planned_memory);
    const double tokens_per_s = run->tokens / run->seconds;
    const struct yk_mfu mfu = yk_planned_mfu_at(planned, tokens_per_s);
    yk_text_addf(out, "  speed       %.0f tokens/s, MFU %.1f %% (exact %.1f)\n", tokens_per_s,
                 100 * mfu.formula, 100 * mfu.exact);
    yk_text_addf(out, "  step        %s measured, half of them faster; %s predicted (%.2f of it)\n",
                 measured, predicted, ratio);
    yk_text_addf(out, "  memory      %s at most %s; %s planned\n", peak,
                 own ? "in use on the GPU" : "in the whole process", planned_memory);
}

yk_status yk_train_summarise(const struct yk_training *training,
                             const struct yk_train_progress *progress, struct yk_text *out)
{
    const struct yk_run *run = &training->run;
    const char *checkpoint = yk_text_chars(&progress->checkpoint);
    if (training->words.json) {
        return write_json(training, checkpoint, out);
    }
    yk_text_addf(out, "%s trained\n\n", training->source.config->name);
    yk_text_addf(out, "  steps       %" PRId64 ", %.0f token%s in ", run->state.step, run->tokens,
                 yk_wording_plural((int64_t)run->tokens));
    yk_wording_add_time(run->seconds, out);
    yk_text_add(out, "\n");
    yk_text_addf(out, "  loss        %.4f, from %.4f\n", fabs(run->last_loss),
                 fabs(run->first_loss));
    if (isfinite(run->evaluation_loss)) {
        yk_text_addf(out, "  evaluation  %.4f, perplexity ", run->evaluation_loss);
        yk_wording_add_perplexity(run->evaluation_loss, 2, out);
        yk_text_add(out, "\n");
    }
    write_speed(training, out);
    if (training->balance && training->balance->changed_count > 0) {
        yk_text_add(out, "  rebalanced  ");
        yk_train_balance_add_text(training->balance, out);
        yk_text_add(out, "\n");
    }
    yk_text_addf(out, "  checkpoint  %s\n", training->words.keep > 0 ? checkpoint : "none");
    yk_text_addf(out, "  page        %s/report.html\n", training->folder);
    return yk_counters_add_text(&training->counters, out);
}

static yk_status add_results(const struct yk_training *training,
                             const struct yk_train_progress *progress, struct yk_outputs *outputs)
{
    const char *path = NULL;
    struct yk_trace *predicted = NULL;
    YK_TRY(yk_train_path(training->folder, "summary.json", training->arena, &path));
    YK_TRY(write_json(training, yk_text_chars(&progress->checkpoint),
                      yk_outputs_add_own(outputs, path)));
    YK_TRY(yk_train_add_spent(training, outputs));
    if (training->run.trace) {
        YK_TRY(yk_train_path(training->folder, "trace.json", training->arena, &path));
        YK_TRY(yk_trace_write_chrome(training->run.trace, yk_outputs_add_own(outputs, path)));
    }
    if (training->counters.count > 0) {
        YK_TRY(yk_train_path(training->folder, "counters.json", training->arena, &path));
        YK_TRY(yk_counters_write(&training->counters, yk_outputs_add_own(outputs, path)));
    }
    YK_TRY(yk_train_path(training->folder, "trace-predicted.json", training->arena, &path));
    YK_TRY(yk_sim_trace(yk_training_planned(training)->trial.sim, &predicted));
    const yk_status status = yk_trace_write_chrome(predicted, yk_outputs_add_own(outputs, path));
    yk_trace_destroy(predicted);
    YK_TRY(status);
    return yk_outputs_write(outputs);
}

yk_status yk_train_write_results(const struct yk_training *training,
                                 const struct yk_train_progress *progress)
{
    struct yk_outputs outputs = {0};
    const yk_status status = add_results(training, progress, &outputs);
    yk_outputs_free(&outputs);
    return status;
}

yk_status yk_train_write_page(const struct yk_training *training)
{
    const char *page = NULL;
    YK_TRY(yk_train_path(training->folder, "report.html", training->arena, &page));
    return yk_run_report_write(training->folder, page);
}
