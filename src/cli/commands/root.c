#include "cli/options/command.h"

struct arguments {
    bool version;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    if (!arguments->version) {
        return yk_fail(YK_ERROR_USAGE, "a command is missing; yoke --help lists them");
    }
    yk_text_add(out, "yoke " YOKE_VERSION "\n");
    return yk_text_status(out);
}

static const struct yk_option options[] = {
    {YK_OPTION_ROW("version", NULL, NULL, "Show the version"), YK_OPTION_INIT_FLAG,
     YK_OPTION_OFFSET_OF(struct arguments, version)},
};

static const struct yk_command_example examples[] = {
    {"yoke plan --model llama3-8b --lora 32 --nf4 --batch 16 --cluster \"1xrtx6000ada + "
     "2xrtx3090 @ 32GB/s\"",
     "Plan a fine-tuning on three unequal cards"},
    {"yoke train --data book.txt --out runs/book", "Train a small GPT on a text, on this machine"},
    {"yoke generate runs/book --prompt \"The \"", "Let it write"},
    {"yoke devices", "See what this machine has"},
    {"yoke schedule --example --algorithm all", "Compare all algorithms on a small graph"},
};

const struct yk_command yk_command_root = {
    .summary = "train one model on processors that do not match",
    .description =
        "A yoke lets animals of unequal strength pull one load. yoke decides which of several "
        "unequal processors does what, predicts the step, trains, and shows where the time goes. "
        "Plans are made and simulated for any number of devices. Training by them runs on NVIDIA "
        "GPUs or on CPUs, on one rank or on many, on one machine or several: small models from "
        "scratch, others from files in Hugging Face format, whole or with adapters.\n\n"
        "Results go to standard output; notes, progress and errors to standard error. Options are "
        "words: --name value or --name=value; -- ends them.",
    YK_COMMAND_BASIC_INITIALIZERS(struct arguments),
    YK_COMMAND_OPTION_TABLE(options),
};
