#include "job/loaded_model.h"

#include "cli/options/command.h"
#include "cli/options/common_options.h"

struct arguments {
    struct yk_weights_export_request request;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    if (!arguments->request.output) {
        return yk_fail(YK_ERROR_USAGE, "name the folder to write: -o model");
    }
    YK_TRY(yk_weights_export_run(&arguments->request));
    yk_text_addf(out, "%s\n", arguments->request.output);
    return yk_text_status(out);
}

/* TF32 is a way to multiply: what is kept is FP32. */
static bool stored_precisions(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"fp32", NULL}, {"fp16", NULL}, {"bf16", NULL}};
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)

static const struct yk_operand operands[] = {
    YK_LOADED_MODEL_OPERAND(struct arguments, request.model),
};

static const struct yk_option options[] = {
    YK_OUTPUT_OPTION(struct arguments, request.output, "FOLDER",
                     "The folder to write, made where it is missing"),
    {YK_OPTION_ROW(
         "merge", NULL, YK_OUTPUT_OPTION_HEADING,
         "Add adapters to the weights they adapt; else they become a folder of their own, as "
         "PEFT keeps them"),
     YK_OPTION_INIT_FLAG, TO(request.merge)},
    {YK_OPTION_ROW("shard-size", "BYTES", YK_OUTPUT_OPTION_HEADING,
                   "Several files of at most this size, 5GB for one; else one file"),
     YK_OPTION_INIT_BYTES, TO(request.shard_bytes)},
    {YK_OPTION_ROW(
         "precision", "NAME", YK_OUTPUT_OPTION_HEADING,
         "What the numbers are written in: fp32, fp16 or bf16; else that of the training"),
     YK_OPTION_INIT_CHOICE(stored_precisions, NULL), TO(request.model.precision)},
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
    YK_LOADED_MODEL_OPTIONS(struct arguments, request.model),
};

static const struct yk_command_example examples[] = {
    {"yoke weights runs/gpt-mini -o gpt-mini", "A folder for AutoModelForCausalLM.from_pretrained"},
    {"yoke weights runs/tuned -o tuned --merge --precision bf16",
     "Adapters added to the weights they were trained beside, in half the bytes"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "the checkpoint makes no sense, or what its adapter adapts is gone"},
};

const struct yk_command yk_command_weights = {
    .name = "weights",
    .summary = "write a checkpoint's weights as a folder of Hugging Face's",
    .description = "Writes config.json and model.safetensors under the names that Hugging Face's "
                   "transformers knows, or adapter_config.json and adapter_model.safetensors as "
                   "PEFT does, with the tokenizer.json (by character, the vocabulary.json) beside "
                   "them, so that yoke generate, yoke eval, yoke translate and yoke train "
                   "--weights take the folder, too.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
