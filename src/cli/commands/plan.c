#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/planning/plan_job.h"

enum {
    MAX_MICRO_BATCHES = 4096
};

struct arguments {
    struct yk_plan_job_request request;
    bool json;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_plan_job_request request = arguments->request;
    struct yk_plan_job_result result = {0};
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_INTERRUPT);
    yk_status status = yk_plan_job_run(&request, &result);
    YK_IF_OK(arguments->json ? yk_plan_output_write_json(result.planned, out)
                             : yk_plan_output_write_text(result.planned, out));
    YK_IF_OK(yk_terminal_print_unsaved_result(yk_plan_job_write_files(&request, &result), out));
    yk_plan_job_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, request.member)

static const struct yk_option options[] = {
    YK_PLANNING_INPUT_OPTIONS(
        struct arguments, request.planning, YK_MODEL_OPTION_HELP,
        "A cluster file, or a line such as \"1xrtx6000ada + 2xrtx3090 @ 32GB/s\""),
    YK_WORKLOAD_OPTIONS(struct arguments, request.workload),
    YK_MICRO_BATCHES_OPTION(struct arguments, request.micro_batches, MAX_MICRO_BATCHES,
                            "Split the batch into this many parts; else the search chooses"),
    YK_CLIP_GRADIENTS_OPTION(struct arguments, request.clip),
    YK_MEMORY_LIMIT_OPTION(struct arguments, request.planning.memory_bytes),
    {YK_OPTION_ROW("devices", "NAMES", YK_SEARCH_OPTION_HEADING,
                   "Use none but these devices, with commas between them: gpu0,gpu2"),
     YK_OPTION_INIT_TEXT(NULL), TO(devices)},
    {YK_OPTION_ROW("only", "WORDS", YK_SEARCH_OPTION_HEADING,
                   "Decide only these, with commas between them: shares, parts, strategies, block, "
                   "order, placement, recomputation; all else is as plain as it can be"),
     YK_OPTION_INIT_TEXT(NULL), TO(only)},
    {YK_OPTION_ROW(
         "strategy", "NAME", YK_SEARCH_OPTION_HEADING,
         "One strategy for all layers: replicated, sharded-state, kept or fully-sharded; or "
         "random, one drawn for each layer by the seed"),
     YK_OPTION_INIT_CHOICE(yk_plan_job_strategy_choice_at, NULL), TO(strategy)},
    {YK_OPTION_ROW("placement", "NAME", YK_SEARCH_OPTION_HEADING,
                   "Search for nothing; take each layer to one device as yoke place does: auto "
                   "(Accelerate's rule), map, heft, heft-memory or pipeline"),
     YK_OPTION_INIT_CHOICE(yk_plan_job_placement_choice_at, NULL), TO(placement)},
    {YK_OPTION_ROW("map", "FILE", YK_SEARCH_OPTION_HEADING,
                   "Search for nothing; take each layer where this device_map.json says"),
     YK_OPTION_INIT_INPUT_FILE, TO(map)},
    YK_TIME_BUDGET_OPTION(YK_SEARCH_OPTION_HEADING, struct arguments, request.search.budget_s, "8",
                          "How long to search; 2min is understood, too"),
    {YK_OPTION_ROW(
         "trials", "N", YK_SEARCH_OPTION_HEADING,
         "Look at this many plans instead, and at no integer program: the same result every "
         "time"),
     YK_OPTION_INIT_INTEGER(1, INT64_MAX, NULL), TO(search.moves)},
    YK_SEED_OPTION(struct arguments, request.search.seed, "Seed of random strategies"),
    YK_OUTPUT_OPTION(struct arguments, request.output, "FILE",
                     "Write the plan, for yoke simulate and yoke report, and to be edited"),
    YK_JSON_OPTION(struct arguments, json),
    {YK_OPTION_ROW("export", "FORM", YK_OUTPUT_OPTION_HEADING,
                   "Also write the plan in another tool's words"),
     YK_OPTION_INIT_CHOICE(yk_plan_job_export_choice_at, NULL), TO(export)},
    {YK_OPTION_ROW("export-output", "FILE", YK_OUTPUT_OPTION_HEADING,
                   "What --export writes; else a name that suits the form"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(export_output)},
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress line"),
};

static const struct yk_command_example examples[] = {
    {"yoke plan --model gpt2-xl --batch 16 --cluster \"1xrtx6000ada + 2xrtx3090 @ 32GB/s\" -o "
     "plan.json",
     "Plan a fine-tuning of GPT-2 XL on three unequal cards"},
    {"yoke plan --model llama3-8b --lora 32 --nf4 --batch 16 --cluster cluster.json --memory 20GiB",
     "Use at most 20 GiB of every device"},
    {"yoke plan --model bert-large --batch 64 --cluster \"4xrtx3090\" --only shares,order "
     "--strategy fully-sharded",
     "Decide shares and the order of communication only"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "no plan fits the devices' memory"},
    {YK_ERROR_INPUT, "the model, the cluster or the profile makes no sense"},
};

const struct yk_command yk_command_plan = {
    .name = "plan",
    .summary = "decide who holds which layer, takes which samples, and sends what when",
    .description =
        "Searches for the fastest way to train a model on devices that need not match, within the "
        "memory of each: data parallelism with unequal shares, layers replicated or sharded each "
        "in its own way, pipelines of unequal stages, mixtures of these, micro-batches, "
        "recomputation, and the order of communication. Each candidate is compiled to the program "
        "that would run and simulated.\n\n"
        "Printed are the predicted step and where its times come from, a bound that no plan beats, "
        "what every device computes, waits for and holds, what binds, what the usual ways would "
        "take, and what leaving a device out would change. Ctrl-C ends the search with the best "
        "plan so far.",
    YK_COMMAND_INITIALIZERS_NO_OPERANDS(struct arguments),
};
