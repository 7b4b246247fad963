#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/launch.h"
#include "cli/options/command.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/device.h"
#include "job/training/request.h"

#include <inttypes.h>
#include <math.h>

static yk_status write_forecast(const struct yk_train_request *request,
                                const struct yk_train_result *result, struct yk_text *out)
{
    if (request->json && result->planned) {
        return yk_train_result_write_json(result, out);
    }
    yk_text_add_bytes(out, yk_text_chars(&result->plan), result->plan.length);
    if (!result->planned) {
        return yk_text_status(out);
    }
    yk_text_addf(out, "\n%" PRId64 " step%s in all; ", result->steps,
                 yk_text_plural_suffix(result->steps));
    yk_text_add(out, result->steps == 1 ? "it takes " : "those to come take ");
    yk_text_add_duration(result->predicted_s, out);
    yk_text_addf(out, " ±%.0f %%, as predicted.\n", 100 * result->predicted_error);
    return yk_text_status(out);
}

/* Three digits: images of a large model are few a second. */
static int speed_decimals(double speed)
{
    return speed < 10 ? 2 : speed < 100 ? 1 : 0;
}

static void add_speed(const struct yk_train_result *result, struct yk_text *out)
{
    const bool own = result->device_bytes > 0; /* the device has memory of its own */
    yk_text_addf(out, "  speed       %.*f %s, MFU %.1f %% (exact %.1f)\n",
                 speed_decimals(result->tokens_per_s), result->tokens_per_s, result->unit->speed,
                 100 * result->mfu, 100 * result->exact_mfu);
    yk_text_addf(out, "  step        %s measured, half of them faster; %s predicted (%.2f of it)\n",
                 YK_UNITS_FORMAT_TEMPORARY(result->median_step_s, YK_UNIT_SECONDS),
                 YK_UNITS_FORMAT_TEMPORARY(result->predicted_step_s, YK_UNIT_SECONDS),
                 result->predicted_step_s / result->median_step_s);
    yk_text_addf(
        out, "  memory      %s at most %s; %s planned\n",
        YK_UNITS_FORMAT_TEMPORARY(own ? result->device_bytes : result->peak_bytes, YK_UNIT_BYTES),
        own ? "in use on the GPU" : "in the whole process",
        YK_UNITS_FORMAT_TEMPORARY(result->planned_bytes, YK_UNIT_BYTES));
}

static void add_shares(const int64_t *shares, int32_t count, struct yk_text *out)
{
    for (int32_t r = 0; r < count; r++) {
        yk_text_addf(out, "%s%" PRId64, r > 0 ? " / " : "", shares[r]);
    }
}

/* "after step 40: 8 / 8 samples became 13 / 3", once for every change. */
static void add_rebalancings(const struct yk_train_result *result, struct yk_text *out)
{
    yk_text_add(out, "  rebalanced  ");
    for (int32_t i = 0; i < result->rebalancing_count; i++) {
        const struct yk_train_share_change *change = &result->rebalancings[i];
        yk_text_addf(out, "%safter step %" PRId64 ": ", i > 0 ? "; " : "", change->step);
        add_shares(change->shares_before, result->rank_count, out);
        yk_text_add(out, " samples became ");
        add_shares(change->shares, result->rank_count, out);
    }
    yk_text_add(out, "\n");
}

static yk_status write_summary(const struct yk_train_request *request,
                               const struct yk_train_result *result, struct yk_text *out)
{
    if (request->json) {
        return yk_train_result_write_json(result, out);
    }
    yk_text_addf(out, "%s trained\n\n", result->model);
    yk_text_addf(out, "  steps       %" PRId64 ", %.0f %s%s in ", result->steps_done,
                 result->tokens, result->unit->singular,
                 yk_text_plural_suffix((int64_t)result->tokens));
    yk_text_add_duration(result->seconds, out);
    yk_text_add(out, "\n");
    yk_text_addf(out, "  loss        %.4f, from %.4f\n", fabs(result->last_loss),
                 fabs(result->first_loss));
    if (isfinite(result->evaluation_loss) && result->images) {
        yk_text_addf(out, "  evaluation  %.4f, accuracy %.2f %%\n", result->evaluation_loss,
                     100 * result->accuracy);
    } else if (isfinite(result->evaluation_loss)) {
        yk_text_addf(out, "  evaluation  %.4f, perplexity ", result->evaluation_loss);
        yk_text_add_perplexity(result->evaluation_loss, 2, out);
        yk_text_add(out, "\n");
    }
    add_speed(result, out);
    if (result->rebalancing_count > 0) {
        add_rebalancings(result, out);
    }
    yk_text_addf(out, "  checkpoint  %s\n", request->keep > 0 ? result->checkpoint : "none");
    yk_text_addf(out, "  page        %s/report.html\n", result->folder);
    return yk_device_counters_write_text(&result->counters, out);
}

/* Prints one line per step to standard error, rewritten in place on a terminal. The first ten lines
 * and every log_every-th line are kept. The first member is set, the others start as 0. */
struct lines {
    int64_t log_every;
    int64_t first_step;  /* done before this run began */
    struct yk_text line; /* being written */
};

enum {
    FIRST_LINES = 10
};

/* Signals ask instead of ending the process once the job looks at its flag. */
static void on_phase(void *user, enum yk_train_job_phase phase)
{
    (void)user;
    yk_terminal_job_catch_signals(phase == YK_TRAIN_JOB_PHASE_PLANNING
                                      ? YK_TERMINAL_JOB_INTERRUPT
                                      : YK_TERMINAL_JOB_TERMINATION);
}

static void show(struct lines *lines, bool keep)
{
    if (yk_text_status(&lines->line) == YK_OK) {
        yk_terminal_print_status_line(yk_text_chars(&lines->line), keep);
    }
    lines->line.length = 0;
}

/* ---- the beginning ---- */

static void add_model(const struct yk_train_start_report *start, struct yk_text *out)
{
    const struct yk_train_result *predicted = start->predicted;
    yk_text_addf(out, "%s: %" PRId64 " parameters", predicted->model, predicted->parameters);
    if (predicted->trainable < predicted->parameters) {
        yk_text_addf(out, ", %" PRId64 " of them trained", predicted->trainable);
    }
    if (predicted->images) {
        yk_text_addf(out, ", %" PRId64 " class%s\n", start->vocabulary,
                     start->vocabulary == 1 ? "" : "es");
        return;
    }
    yk_text_addf(out, ", %" PRId64 " token%s in its vocabulary\n", start->vocabulary,
                 yk_text_plural_suffix(start->vocabulary));
}

static void add_data(const struct yk_train_start_report *start, struct yk_text *out)
{
    const int64_t units = start->epoch_units;
    yk_text_addf(out, "data: %s; ", start->data);
    if (start->batch_rows > 0) {
        yk_text_addf(out, "%" PRId64 " batch%s of up to %" PRId64 " tokens a side an epoch\n",
                     units, units == 1 ? "" : "es", start->batch_rows);
        return;
    }
    if (start->predicted->images) {
        yk_text_addf(out, "%" PRId64 " image%s an epoch\n", units, yk_text_plural_suffix(units));
        return;
    }
    const int64_t sequence = start->predicted->sequence;
    yk_text_addf(out, "%" PRId64 " sample%s of %" PRId64 " token%s an epoch\n", units,
                 yk_text_plural_suffix(units), sequence, yk_text_plural_suffix(sequence));
}

static void add_plan(const struct yk_train_start_report *start, struct yk_text *out)
{
    const struct yk_train_result *predicted = start->predicted;
    yk_text_addf(out, "plan: %" PRId64 " %s%s a step, %s; %s\n", predicted->batch,
                 predicted->unit->sample, yk_text_plural_suffix(predicted->batch),
                 predicted->precision, start->plan);
    yk_text_addf(out, "predicted: %s a step ±%.0f %%, ",
                 YK_UNITS_FORMAT_TEMPORARY(predicted->predicted_step_s, YK_UNIT_SECONDS),
                 100 * predicted->predicted_error);
    yk_text_add_duration(predicted->predicted_s, out);
    yk_text_addf(out, " in all, %s of %s memory",
                 YK_UNITS_FORMAT_TEMPORARY(predicted->planned_bytes, YK_UNIT_BYTES),
                 YK_UNITS_FORMAT_TEMPORARY(predicted->limit_bytes, YK_UNIT_BYTES));
    if (start->resumed) {
        yk_text_addf(out, "\nresumed: %s", start->resumed);
    }
}

static void on_start(void *user, const struct yk_train_start_report *start)
{
    struct lines *lines = user;
    lines->first_step = start->steps_done;
    add_model(start, &lines->line);
    add_data(start, &lines->line);
    add_plan(start, &lines->line);
    show(lines, true);
}

/* ---- steps ---- */

/* "0:42", "3:07", "2:15:00". */
static void add_duration(double seconds, struct yk_text *out)
{
    const int64_t all = (int64_t)fmin(ceil(seconds), 1e9);
    const int64_t hours = all / 3600;
    if (hours > 0) {
        yk_text_addf(out, "%" PRId64 ":%02d:%02d", hours, (int)(all / 60 % 60), (int)(all % 60));
    } else {
        yk_text_addf(out, "%d:%02d", (int)(all / 60), (int)(all % 60));
    }
}

static void add_step_speed(const struct yk_train_step_report *report, struct yk_text *out)
{
    const struct yk_step_metrics *step = report->metrics;
    yk_text_addf(out, "  %s  %.*f %s", YK_UNITS_FORMAT_TEMPORARY(step->seconds, YK_UNIT_SECONDS),
                 speed_decimals(step->tokens_per_s), step->tokens_per_s, report->unit->speed);
    if (step->seconds > 0) {
        yk_text_addf(out, "  MFU %.1f %% (exact %.1f)", 100 * report->mfu, 100 * report->exact_mfu);
        yk_text_addf(out, "  memory %s  predicted/measured %.2f",
                     YK_UNITS_FORMAT_TEMPORARY(report->memory_bytes, YK_UNIT_BYTES),
                     report->predicted_s / step->seconds);
    }
    if (report->slowest >= 0) {
        yk_text_addf(out, "  slowest rank %d, computing %.0f %%", (int)report->slowest,
                     100 * report->slowest_compute_fraction);
    }
}

static void on_step(void *user, const struct yk_train_step_report *report)
{
    const struct yk_step_metrics *step = report->metrics;
    struct lines *lines = user;
    struct yk_text *line = &lines->line;
    const bool keep = step->step - lines->first_step <= FIRST_LINES ||
                      step->step % lines->log_every == 0 || step->step == step->steps ||
                      step->skipped;
    /* Neither is ever less than 0; what is no number may have a sign nonetheless. */
    yk_text_addf(line, "step %" PRId64 "/%" PRId64 "  loss %.4f  norm %.3f  rate %.2e", step->step,
                 step->steps, fabs(step->loss), fabs(step->norm), step->lr);
    yk_text_add(line, step->skipped ? "  skipped" : "");
    if (step->skipped && report->scaled) {
        yk_text_addf(line, ", loss scale %g", step->loss_scale);
    }
    yk_text_add(line, "  left ");
    add_duration(report->remaining_s, line);
    add_step_speed(report, line);
    show(lines, keep);
}

static void on_evaluation(void *user, const struct yk_train_evaluation_report *evaluation)
{
    struct lines *lines = user;
    const double loss = fabs(evaluation->loss);
    if (isfinite(evaluation->accuracy)) {
        yk_text_addf(&lines->line,
                     "step %" PRId64 ": evaluation loss %.4f, accuracy %.2f %%, over %" PRId64
                     " image%s",
                     evaluation->step, loss, 100 * evaluation->accuracy, evaluation->tokens,
                     yk_text_plural_suffix(evaluation->tokens));
        show(lines, true);
        return;
    }
    yk_text_addf(&lines->line, "step %" PRId64 ": evaluation loss %.4f, perplexity ",
                 evaluation->step, loss);
    yk_text_add_perplexity(loss, 2, &lines->line);
    yk_text_addf(&lines->line, ", over %" PRId64 " token%s", evaluation->tokens,
                 yk_text_plural_suffix(evaluation->tokens));
    show(lines, true);
}

static void on_checkpoint(void *user, const struct yk_train_checkpoint_report *checkpoint)
{
    struct lines *lines = user;
    yk_text_addf(&lines->line, "step %" PRId64 ": saved %s", checkpoint->step, checkpoint->path);
    show(lines, true);
}

/* Does not log if rank 0 or the launching process has already logged the same messages. */
static yk_status find_sources(void *given, struct yk_arena *arena, struct yk_option_files *out)
{
    if (yk_terminal_other_process_printed_notes()) {
        yk_log_set_sink(NULL, NULL);
    }
    const yk_status status = yk_train_request_read_option_sources(given, arena, out);
    yk_log_set_sink(yk_terminal_print_log_line, NULL);
    return status;
}

/* Writes the result that there is, even if the job has failed in the end. */
static yk_status write_result(const struct yk_train_request *request,
                              const struct yk_train_result *result, yk_status status,
                              struct yk_text *out)
{
    if (request->dry_run) {
        YK_TRY(write_forecast(request, result, out));
        return status;
    }
    if (!result->trained || result->stopped) {
        return status;
    }
    YK_TRY(write_summary(request, result, out));
    return yk_terminal_print_unsaved_result(status, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    struct yk_train_request request = *(const struct yk_train_request *)given;
    struct yk_train_result result = {0};
    struct yk_launcher launcher;
    bool launches = false;
    YK_TRY(yk_train_check_request(&request));
    YK_TRY(
        yk_command_launch_detect_rank(&request.rank_options, request.ranks, &launcher, &launches));
    if (launches && !request.dry_run) {
        return yk_command_launch_ranks_and_wait(request.ranks);
    }
    struct lines lines = {.log_every = request.log_every};
    const struct yk_train_progress_callbacks progress = {
        .user = &lines,
        .phase = on_phase,
        .start = on_start,
        .step = on_step,
        .evaluation = on_evaluation,
        .checkpoint = on_checkpoint,
    };
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_NO_SIGNALS);
    request.progress = &progress;
    const yk_status status = write_result(&request, &result, yk_train_run(&request, &result), out);
    yk_text_free(&lines.line);
    yk_train_result_free(&result);
    return status;
}

static const struct yk_command_example examples[] = {
    {"yoke train --data poems.txt", "Train a small GPT on a text, character by character"},
    {"yoke train --model gpt-nano --data poems.txt --steps 500 --out runs/poems",
     "Train a smaller one on a text"},
    {"yoke train --resume --out runs/poems --steps 1000", "Go on for 500 more steps"},
    {"yoke train --model transformer-small --tokenizer tokenizer.json --data train.en --target "
     "train.de --batch-tokens 4096",
     "Train a Transformer that translates"},
    {"yoke train --model vit-tiny --data flowers/ --augment resized-crop,flip --out runs/flowers",
     "Train a ViT on images, in a folder for each class"},
    {"yoke train --weights ./gpt2 --data tokens.bin --lora 8 --rate 2e-4 --dry-run",
     "See what fine-tuning GPT-2 with adapters would take"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "the model does not fit the memory"},
    {YK_ERROR_INPUT, "the model, data, weights, plan or checkpoint makes no sense"},
    {YK_ERROR_NUMBERS, "numbers went bad and stayed so"},
    {YK_ERROR_LOST, "a rank was lost"},
    {YK_ERROR_STOPPED, "stopped by Ctrl-C or TERM, and saved"},
};

const struct yk_command yk_command_train = {
    .name = "train",
    .summary = "train a model by a plan, and keep checkpoints, metrics and a trace",
    .description =
        "Finds a plan for one step, says what it will take, and trains by it on this machine's "
        "GPU, or on its CPU. Text is cut into tokens by --tokenizer, or learned by character: a "
        "new model gets as many tokens as the tokenizer or the text has. Decoders such as GPT and "
        "Llama learn from text, or from instructions (.jsonl, .json), of which only what completes "
        "a prompt bears loss; BERT and RoBERTa from text with tokens masked; an encoder–decoder "
        "from sentences and their translations (--target); a ViT from images and their classes, of "
        "which a new model gets as many as the data has.\n\n"
        "The folder of the run gets run.json (the settings), config.json (the model), plan.json, "
        "metrics.jsonl, checkpoints, and at the end summary.json, trace.json and "
        "trace-predicted.json (the last step as it was and as it was predicted), and report.html, "
        "a page of it all. Ctrl-C or TERM saves a checkpoint and ends the run, a second one ends "
        "it at once; --resume goes on as if it had never stopped.",
    YK_COMMAND_BASIC_INITIALIZERS(struct yk_train_request),
    YK_COMMAND_EXIT_ROWS_AND_COUNT(exits),
    .options = &yk_train_option_table,
    .by_ranks = true,
    .sources = find_sources,
};
