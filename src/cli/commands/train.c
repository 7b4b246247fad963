#include "job/training/train.h"

#include "base/log.h"
#include "cli/commands/launch.h"
#include "cli/commands/train_output.h"
#include "cli/commands/train_progress.h"
#include "cli/options/command.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/training/option_sources.h"

/* What is logged here has been before, where this is one of several ranks or was launched. */
static yk_status find_layers(void *given, struct yk_arena *arena, struct yk_option_sources *out)
{
    if (yk_terminal_is_repeat()) {
        yk_log_set_sink(NULL, NULL);
    }
    const yk_status status = yk_train_option_sources(given, arena, out);
    yk_log_set_sink(yk_terminal_log, NULL);
    return status;
}

/* The text of what there is, though the job may have failed in the end. */
static yk_status write_result(const struct yk_train_request *request,
                              const struct yk_train_result *result, yk_status status,
                              struct yk_text *out)
{
    if (request->dry_run) {
        YK_TRY(yk_train_output_forecast(request, result, out));
        return status;
    }
    if (!result->trained || result->stopped) {
        return status;
    }
    YK_TRY(yk_train_output_summary(request, result, out));
    return yk_terminal_print_despite(status, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    struct yk_train_request request = *(const struct yk_train_request *)given;
    struct yk_train_result result = {0};
    struct yk_launcher launcher;
    bool launches = false;
    YK_TRY(yk_train_check(&request));
    YK_TRY(yk_command_launch_find(&request.hand, request.ranks, &launcher, &launches));
    if (launches && !request.dry_run) {
        return yk_command_launch(request.ranks);
    }
    struct yk_train_lines lines = {.log_every = request.log_every};
    const struct yk_train_progress progress = yk_train_lines_progress(&lines);
    request.job = yk_terminal_job_unwatched();
    request.progress = &progress;
    const yk_status status = write_result(&request, &result, yk_train_run(&request, &result), out);
    yk_train_lines_free(&lines);
    yk_train_result_free(&result);
    return status;
}

static const struct yk_example examples[] = {
    {"yoke train --data poems.txt", "Train a small GPT on a text, character by character"},
    {"yoke train --model gpt-nano --data poems.txt --steps 500 --out runs/poems",
     "Train a smaller one on a text"},
    {"yoke train --resume --out runs/poems --steps 1000", "Go on for 500 more steps"},
    {"yoke train --model transformer-small --tokenizer tokenizer.json --data train.en --target "
     "train.de --batch-tokens 4096",
     "Train a Transformer that translates"},
    {"yoke train --weights ./gpt2 --data tokens.bin --lora 8 --rate 2e-4 --dry-run",
     "See what fine-tuning GPT-2 with adapters would take"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "the model does not fit the memory"},
    {YK_ERROR_INPUT, "the model, data, weights, plan or checkpoint makes no sense"},
    {YK_ERROR_NUMBERS, "numbers went bad and stayed so"},
    {YK_ERROR_LOST, "a rank was lost"},
    {YK_ERROR_STOPPED, "stopped by Ctrl-C or TERM, and saved"},
    {0, NULL},
};

const struct yk_command yk_command_train = {
    .name = "train",
    .summary = "train a model by a plan, and keep checkpoints, metrics and a trace",
    .description =
        "Finds a plan for one step, says what it will take, and trains by it on this machine's "
        "GPU, or on its CPU. Text is cut into tokens by --tokenizer, or learned by character: a "
        "new model gets as many tokens as the tokenizer or the text has. GPT and Llama learn from "
        "text, or from instructions (.jsonl, .json), of which only what completes a prompt bears "
        "loss; "
        "BERT from text with tokens masked; an encoder–decoder from sentences and their "
        "translations (--target).\n\n"
        "The folder of the run gets run.json (the settings), config.json (the model), plan.json, "
        "metrics.jsonl, checkpoints, and at the end summary.json, trace.json and "
        "trace-predicted.json (the last step as it was and as it was predicted), and report.html, "
        "a page of it all. Ctrl-C or TERM saves a checkpoint and ends the run, a second one ends "
        "it at once; --resume goes on as if it had never stopped.",
    .examples = examples,
    .table = &yk_train_option_table,
    .exits = exits,
    .arguments_size = sizeof(struct yk_train_request),
    .by_ranks = true,
    .layers = find_layers,
    .run = run,
};
