#include "base/wording.h"
#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "job/counters.h"
#include "job/known.h"
#include "job/loaded.h"
#include "job/models/eval_outputs.h"
#include "job/outputs.h"
#include "job/workload.h"
#include "train/run.h"

#include <inttypes.h>
#include <math.h>

struct arguments {
    struct yk_loaded_request loaded;
    const char *data;
    const char *target;
    double data_part;
    bool skip_faulty;
    int64_t samples;
    const char *outputs;
    int64_t output_samples;
    bool json;
    bool quiet;
    bool counters;
};

/* Starts as {0}. */
struct result {
    double loss;
    int64_t tokens;
    struct yk_gauge *gauge;         /* with --counters; else NULL */
    struct yk_counter_rank counted; /* what it has come to */
    struct yk_outputs outputs;      /* how --outputs went */
};

static void note_pass(void *user, double began_s, double done_s)
{
    yk_gauge_pass(user, YK_GAUGE_FORWARD, NULL, began_s, done_s);
}

static yk_status evaluate(const struct arguments *arguments, const struct yk_loaded *loaded,
                          const struct yk_dataset *dataset, struct result *out)
{
    const struct yk_workload *workload = &loaded->model->workload;
    const struct yk_dataset_cut cut = {
        .sequence = workload->sequence,
        .piece_rows = workload->batch * workload->sequence,
    };
    const struct yk_run_evaluation evaluation = {
        .batch = workload->batch,
        .samples = arguments->samples,
        .ran = out->gauge ? note_pass : NULL,
        .user = out->gauge,
    };
    struct yk_sampler *sampler = NULL;
    YK_TRY(yk_dataset_sample_in_order(dataset, &cut, true, &sampler));
    yk_status status = out->gauge ? yk_gauge_start(out->gauge) : YK_OK;
    if (status == YK_OK) {
        status = yk_run_evaluate(loaded->store, sampler, &evaluation, &out->loss, &out->tokens);
    }
    yk_sampler_destroy(sampler);
    if (status == YK_OK && out->gauge) {
        yk_gauge_stop(out->gauge);
        status = yk_gauge_tell(out->gauge, NAN, loaded->arena, &out->counted);
        out->counted.device = loaded->engine.backend->name;
    }
    return status;
}

static yk_status open_and_evaluate(const struct arguments *arguments, struct yk_loaded *loaded,
                                   struct result *out)
{
    struct yk_dataset *dataset = NULL;
    struct yk_device_choice device = {0};
    if (arguments->counters) {
        YK_TRY(yk_device_choose(arguments->loaded.device, &device));
        YK_TRY(yk_counters_open(&device, &out->gauge));
    }
    YK_TRY(yk_loaded_open(&arguments->loaded, loaded));
    const struct yk_known known = {
        .model = loaded->checkpoint->path,
        .tokenizer = loaded->tokenizer,
        .config = loaded->checkpoint->config,
    };
    enum yk_dataset_kind kind = YK_DATASET_WINDOWS;
    YK_TRY(yk_known_kind(known.config, arguments->data, &kind));
    const struct yk_dataset_request request = {
        .kind = kind,
        .path = arguments->data,
        .target_path = arguments->target,
        .part = arguments->data_part,
        .longest =
            kind == YK_DATASET_PAIRS ? known.config->positions : loaded->model->workload.sequence,
        .skip_faulty = arguments->skip_faulty,
        .packed = false,
    };
    YK_TRY(yk_known_open(&request, &known, &dataset));
    yk_status status = evaluate(arguments, loaded, dataset, out);
    if (status == YK_OK && arguments->outputs) {
        yk_outputs_made(&out->outputs,
                        yk_eval_outputs_write(loaded->store, dataset, arguments->output_samples,
                                              arguments->outputs));
    }
    yk_dataset_close(dataset);
    return status;
}

static struct yk_counter_ranks counted(struct result *result)
{
    return (struct yk_counter_ranks){&result->counted, result->gauge ? 1 : 0};
}

static yk_status write_json(const struct yk_loaded *loaded, struct result *result,
                            struct yk_text *out)
{
    const struct yk_counter_ranks counters = counted(result);
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"evaluation\",\"checkpoint\":");
    yk_text_add_json(out, loaded->checkpoint->path);
    yk_text_addf(out, ",\"step\":%" PRId64 ",\"loss\":", loaded->checkpoint->state.step);
    yk_text_add_number(out, result->loss);
    yk_text_add(out, ",\"perplexity\":");
    if (isfinite(exp(result->loss))) {
        yk_text_add_number(out, exp(result->loss));
    } else {
        yk_text_add(out, "null");
    }
    yk_text_addf(out, ",\"tokens\":%" PRId64, result->tokens);
    if (counters.count > 0) {
        yk_text_add(out, ",\"counters\":");
        yk_counters_write_averages(&counters, out);
    }
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}

static yk_status write_text(const struct yk_loaded *loaded, struct result *result,
                            struct yk_text *out)
{
    const struct yk_counter_ranks counters = counted(result);
    yk_text_addf(out, "%s\n\n", loaded->checkpoint->path);
    yk_text_addf(out, "  step        %" PRId64 "\n", loaded->checkpoint->state.step);
    yk_text_addf(out, "  loss        %.4f\n", result->loss);
    yk_text_add(out, "  perplexity  ");
    yk_wording_add_perplexity(result->loss, 3, out);
    yk_text_add(out, "\n");
    yk_text_addf(out, "  tokens      %" PRId64 "\n", result->tokens);
    return yk_counters_add_text(&counters, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_loaded loaded = {0};
    struct result result = {0};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    if (!arguments->data) {
        return yk_fail(YK_ERROR_USAGE, "name what to evaluate on: --data text.txt");
    }
    yk_status status = open_and_evaluate(arguments, &loaded, &result);
    if (status == YK_OK && !isfinite(result.loss)) {
        status =
            yk_fail(YK_ERROR_NUMBERS, "%s: the loss is not a number; its weights have gone bad",
                    loaded.checkpoint->path);
    }
    if (status == YK_OK) {
        status =
            arguments->json ? write_json(&loaded, &result, out) : write_text(&loaded, &result, out);
    }
    if (status == YK_OK) {
        status = yk_terminal_print_despite(yk_outputs_write(&result.outputs), out);
    }
    yk_outputs_free(&result.outputs);
    yk_gauge_close(result.gauge);
    yk_loaded_close(&loaded);
    return status;
}

static const struct yk_operand operands[] = {
    YK_LOADED_OPERAND(struct arguments, loaded),
};

static const struct yk_option options[] = {
    {
        .name = "data",
        .placeholder = "PATH",
        .help = "Text, a folder of texts, token shards (.bin), instructions (.jsonl, .json), or "
                "with --target sentences, one a line",
        .group = "Data options",
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, data),
    },
    {
        .name = "target",
        .placeholder = "PATH",
        .help = "The translations of those sentences, line by line",
        .group = "Data options",
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, target),
    },
    {
        .name = "skip-faulty",
        .help = "Leave out pairs and instructions that are empty or too long",
        .group = "Data options",
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, skip_faulty),
    },
    {
        .name = "data-part",
        .placeholder = "PART",
        .help = "Use only this much of it, from its beginning",
        .group = "Data options",
        .kind = YK_OPTION_PERCENT,
        .ceiling = 1,
        .preset = "100%",
        .offset = offsetof(struct arguments, data_part),
    },
    {
        .name = "samples",
        .placeholder = "N",
        .help = "At most so many samples; 0: all",
        .group = "Data options",
        .preset = "0",
        .kind = YK_OPTION_INTEGER,
        .most = INT64_MAX,
        .offset = offsetof(struct arguments, samples),
    },
    {
        .name = "batch",
        .placeholder = "N",
        .help = "Samples at a time",
        .group = "Data options",
        .preset = "16",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_WORKLOAD_MOST_TOKENS,
        .offset = offsetof(struct arguments, loaded.batch),
    },
    {
        .name = "seq",
        .placeholder = "TOKENS",
        .help = "Length of a sample; else as it was trained",
        .group = "Data options",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_WORKLOAD_MOST_TOKENS,
        .offset = offsetof(struct arguments, loaded.sequence),
    },
    YK_LOADED_OPTIONS(struct arguments, loaded),
    {
        .name = "outputs",
        .placeholder = "FILE",
        .help = "Also write the logits of the first samples, as safetensors: \"logits\" (samples, "
                "tokens, words)",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, outputs),
    },
    {
        .name = "output-samples",
        .placeholder = "N",
        .help = "How many samples those are",
        .group = YK_OUTPUT_GROUP,
        .preset = "4",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_WORKLOAD_MOST_TOKENS,
        .offset = offsetof(struct arguments, output_samples),
    },
    {
        .name = "counters",
        .help = YK_COUNTERS_HELP,
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, counters),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "quiet",
        .help = "No notes on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke eval runs/gpt-mini --data book.txt", "How well a trained model foretells a text"},
    {"yoke eval runs/gpt-mini/checkpoints/step-00000500 --data book.txt --data-part 10%",
     "An earlier one, on a tenth of it"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "the checkpoint or the data makes no sense, or does not fit the other"},
    {YK_ERROR_NUMBERS, "the loss is not a number"},
    {0, NULL},
};

const struct yk_command yk_command_eval = {
    .name = "eval",
    .summary = "measure how well a trained model foretells a text",
    .description = "Runs the text through the model in samples that lie end to end, and prints the "
                   "mean loss of all tokens but the first (in nats), the perplexity that is its "
                   "exponential, and how many tokens that was over.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
