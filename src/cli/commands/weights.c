#include "nn/weights.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "job/loaded.h"

struct arguments {
    struct yk_loaded_request loaded;
    const char *output;
    bool merge;
    double shard_bytes;
    bool quiet;
};

/* With what makes tokens of text, the folder is whole for yoke and for other tools. */
static yk_status save_tokenizer(const struct arguments *arguments, const struct yk_loaded *loaded)
{
    const char *path = NULL;
    struct yk_text text = {0};
    if (!loaded->tokenizer) {
        return YK_OK;
    }
    YK_TRY(yk_folder_path(arguments->output, yk_tokenizer_file_name(loaded->tokenizer),
                         loaded->arena, &path));
    yk_tokenizer_write(loaded->tokenizer, &text);
    yk_status status = yk_text_status(&text);
    if (status == YK_OK) {
        status = yk_file_write_own(path, &text);
    }
    yk_text_free(&text);
    return status;
}

/* What is read while it is written over is lost. */
static yk_status check_apart(const struct arguments *arguments, const struct yk_loaded *loaded,
                             const char *base)
{
    if (yk_folder_is_same(arguments->output, loaded->checkpoint->path) ||
        (base && yk_folder_is_same(arguments->output, base))) {
        return yk_fail(YK_ERROR_USAGE, "%s is what is read; write into another folder",
                       arguments->output);
    }
    return YK_OK;
}

static yk_status save(const struct arguments *arguments, struct yk_loaded *loaded)
{
    YK_TRY(yk_loaded_open(&arguments->loaded, loaded));
    const bool adapter = loaded->checkpoint->workload.lora_rank > 0;
    const char *base =
        arguments->loaded.weights ? arguments->loaded.weights : loaded->checkpoint->base_model;
    YK_TRY(check_apart(arguments, loaded, adapter ? base : NULL));
    if (arguments->merge && !adapter) {
        yk_log(YK_LOG_NOTE, "%s has no adapter: there is nothing to merge",
               loaded->checkpoint->path);
    }
    YK_TRY(yk_folder_make(arguments->output));
    if (adapter && !arguments->merge) {
        YK_TRY(yk_adapter_save(loaded->store, arguments->output, base));
    } else {
        YK_TRY(yk_weights_save(loaded->store, arguments->output, (uint64_t)arguments->shard_bytes,
                               arguments->merge));
    }
    return save_tokenizer(arguments, loaded);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_loaded loaded = {0};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    if (!arguments->output) {
        return yk_fail(YK_ERROR_USAGE, "name the folder to write: -o model");
    }
    if (yk_folder_has(arguments->output, "manifest.json") ||
        yk_folder_has(arguments->output, "checkpoints")) {
        return yk_fail(YK_ERROR_USAGE, "%s holds a run; write into another folder",
                       arguments->output);
    }
    const yk_status status = save(arguments, &loaded);
    if (status == YK_OK) {
        yk_text_addf(out, "%s\n", arguments->output);
    }
    yk_loaded_close(&loaded);
    return status == YK_OK ? yk_text_status(out) : status;
}

/* TF32 is a way to multiply: what is kept is FP32. */
static bool stored_precisions(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {{"fp32", NULL}, {"fp16", NULL}, {"bf16", NULL}};
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static const struct yk_operand operands[] = {
    YK_LOADED_OPERAND(struct arguments, loaded),
};

static const struct yk_option options[] = {
    {
        .name = "output",
        .letter = 'o',
        .placeholder = "FOLDER",
        .help = "The folder to write, made where it is missing",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, output),
    },
    {
        .name = "merge",
        .help = "Add adapters to the weights they adapt; else they become a folder of their own, "
                "as PEFT keeps them",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, merge),
    },
    {
        .name = "shard-size",
        .placeholder = "BYTES",
        .help = "Several files of at most this size, 5GB for one; else one file",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_UNIT,
        .unit = YK_UNIT_BYTES,
        .offset = offsetof(struct arguments, shard_bytes),
    },
    {
        .name = "precision",
        .placeholder = "NAME",
        .help = "What the numbers are written in: fp32, fp16 or bf16; else that of the training",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_CHOICE,
        .choices = stored_precisions,
        .offset = offsetof(struct arguments, loaded.precision),
    },
    {
        .name = "quiet",
        .help = "No notes on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
    YK_LOADED_OPTIONS(struct arguments, loaded),
};

static const struct yk_example examples[] = {
    {"yoke weights runs/gpt-mini -o gpt-mini", "A folder for AutoModelForCausalLM.from_pretrained"},
    {"yoke weights runs/tuned -o tuned --merge --precision bf16",
     "Adapters added to the weights they were trained beside, in half the bytes"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "the checkpoint makes no sense, or what its adapter adapts is gone"},
    {0, NULL},
};

const struct yk_command yk_command_weights = {
    .name = "weights",
    .summary = "write a checkpoint's weights as a folder of Hugging Face's",
    .description = "Writes config.json and model.safetensors under the names that Hugging Face's "
                   "transformers knows, or adapter_config.json and adapter_model.safetensors as "
                   "PEFT does, with the tokenizer.json (by character, the vocabulary.json) beside "
                   "them, so that yoke generate, yoke eval, yoke translate and yoke train "
                   "--weights take the folder, too.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
