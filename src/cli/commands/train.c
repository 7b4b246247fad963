#include "job/training/train.h"

#include "cli/options/command.h"

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
    .table = &yk_train_options,
    .exits = exits,
    .arguments_size = sizeof(struct yk_train_words),
    .by_ranks = true,
    .layers = yk_train_layers,
    .run = yk_train_run,
};
