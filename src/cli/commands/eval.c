#include "job/models/eval.h"

#include "base/text.h"
#include "cli/options/command.h"
#include "cli/options/common_options.h"
#include "cli/terminal.h"
#include "job/device.h"
#include "job/workload.h"

#include <inttypes.h>

enum {
    FEW_CLASSES = 10 /* of which five are no small part */
};

struct arguments {
    struct yk_eval_request request;
    bool json;
    bool quiet;
};

static yk_status write_text(const struct yk_eval_result *result, struct yk_text *out)
{
    yk_text_addf(out, "%s\n\n", result->checkpoint);
    yk_text_addf(out, "  step        %" PRId64 "\n", result->step);
    yk_text_addf(out, "  loss        %.4f\n", result->loss);
    if (result->classes > 0) {
        yk_text_addf(out, "  accuracy    %.2f %%\n", 100 * result->accuracy);
        if (result->classes > FEW_CLASSES) {
            yk_text_addf(out, "  in first 5  %.2f %%\n", 100 * result->top5_accuracy);
        }
        yk_text_addf(out, "  images      %" PRId64 "\n", result->tokens);
    } else {
        yk_text_add(out, "  perplexity  ");
        yk_text_add_perplexity(result->loss, 3, out);
        yk_text_add(out, "\n");
        yk_text_addf(out, "  tokens      %" PRId64 "\n", result->tokens);
    }
    return yk_device_counters_write_text(&result->counters, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_eval_result result = {0};
    if (!arguments->request.data) {
        return yk_fail(YK_ERROR_USAGE,
                       "name what to evaluate on: --data text.txt, or a folder of images");
    }
    yk_status status = yk_eval_run(&arguments->request, &result);
    YK_IF_OK(arguments->json ? yk_eval_write_json(&result, out) : write_text(&result, out));
    YK_IF_OK(
        yk_terminal_print_unsaved_result(yk_output_files_write_and_free(&result.outputs), out));
    yk_eval_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)

static const struct yk_operand operands[] = {
    YK_LOADED_MODEL_OPERAND(struct arguments, request.model),
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW(
         "data", "PATH", YK_DATA_OPTION_HEADING,
         "Text, a folder of texts, token shards (.bin), instructions (.jsonl, .json), with "
         "--target sentences, one a line, or images: a folder for each class, CIFAR-10 or IDX"),
     YK_OPTION_INIT_INPUT_FILE, TO(request.data)},
    {YK_OPTION_ROW("target", "PATH", YK_DATA_OPTION_HEADING,
                   "The translations of those sentences, line by line"),
     YK_OPTION_INIT_INPUT_FILE, TO(request.target)},
    YK_CHAT_OPTIONS(struct arguments, request.chat, YK_DATA_OPTION_HEADING),
    {YK_OPTION_ROW(
         "skip-faulty", NULL, YK_DATA_OPTION_HEADING,
         "Leave out pairs and instructions that are empty or too long, and broken images"),
     YK_OPTION_INIT_FLAG, TO(request.skip_faulty)},
    {YK_OPTION_ROW("data-part", "PART", YK_DATA_OPTION_HEADING,
                   "Use only this much of it, from its beginning"),
     YK_OPTION_INIT_PERCENT(1, "100%"), TO(request.data_fraction)},
    {YK_OPTION_ROW("samples", "N", YK_DATA_OPTION_HEADING, "At most so many samples; 0: all"),
     YK_OPTION_INIT_INTEGER(0, INT64_MAX, "0"), TO(request.samples)},
    {YK_OPTION_ROW("batch", "N", YK_DATA_OPTION_HEADING, "Samples at a time"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, "16"), TO(request.model.batch)},
    {YK_OPTION_ROW("seq", "TOKENS", YK_DATA_OPTION_HEADING,
                   "Length of a sample; else as it was trained"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, NULL), TO(request.model.sequence)},
    YK_LOADED_MODEL_OPTIONS(struct arguments, request.model),
    {YK_OPTION_ROW(
         "outputs", "FILE", YK_OUTPUT_OPTION_HEADING,
         "Also write the logits of the first samples, as safetensors: \"logits\" (samples, "
         "tokens, words)"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(request.outputs)},
    {YK_OPTION_ROW("output-samples", "N", YK_OUTPUT_OPTION_HEADING, "How many samples those are"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, "4"), TO(request.output_samples)},
    {YK_OPTION_ROW("counters", NULL, YK_OUTPUT_OPTION_HEADING, YK_DEVICE_COUNTERS_OPTION_HELP),
     YK_OPTION_INIT_FLAG, TO(request.counters)},
    YK_JSON_OPTION(struct arguments, json),
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
};

static const struct yk_command_example examples[] = {
    {"yoke eval runs/gpt-mini --data book.txt", "How well a trained model foretells a text"},
    {"yoke eval runs/gpt-mini/checkpoints/step-00000500 --data book.txt --data-part 10%",
     "An earlier one, on a tenth of it"},
    {"yoke eval runs/flowers --data flowers/", "How many images a ViT classifies correctly"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "the checkpoint or the data makes no sense, or does not fit the other"},
    {YK_ERROR_NUMBERS, "the loss is not a number"},
};

const struct yk_command yk_command_eval = {
    .name = "eval",
    .summary = "measure how well a trained model foretells a text, or classifies images",
    .description = "Runs the text through the model in samples that lie end to end, and prints the "
                   "mean loss of all tokens but the first (in nats), the perplexity that is its "
                   "exponential, and how many tokens that was over. Of a model that classifies "
                   "images, it prints loss and accuracy; the classes of the data are matched by "
                   "name with those of the model.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
