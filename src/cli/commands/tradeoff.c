#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/planning/memory_tradeoff_job.h"

enum {
    MAX_POINTS = 200
};

struct arguments {
    struct yk_memory_tradeoff_job_request request;
    bool json;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_memory_tradeoff_job_request request = arguments->request;
    struct yk_memory_tradeoff_job_result result = {0};
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_INTERRUPT);
    yk_status status = yk_memory_tradeoff_job_run(&request, &result);
    YK_IF_OK(arguments->json ? yk_memory_tradeoff_job_write_json(&result, out)
                             : yk_memory_tradeoff_job_write_text(&result, out));
    YK_IF_OK(yk_terminal_print_unsaved_result(yk_memory_tradeoff_job_write_files(&request, &result),
                                              out));
    yk_memory_tradeoff_job_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, request.member)

static const struct yk_option options[] = {
    YK_PLANNING_INPUT_OPTIONS(struct arguments, request.planning, YK_MODEL_OPTION_HELP,
                              "A cluster file, or a line such as \"8xrtx3090 @ 8GB/s\""),
    YK_WORKLOAD_OPTIONS(struct arguments, request.workload),
    YK_CLIP_GRADIENTS_OPTION(struct arguments, request.clip),
    YK_MEMORY_LIMIT_OPTION(struct arguments, request.planning.memory_bytes),
    {YK_OPTION_ROW("points", "N", YK_SEARCH_OPTION_HEADING, "Points of each curve"),
     YK_OPTION_INIT_INTEGER(2, MAX_POINTS, "21"), TO(points)},
    YK_TIME_BUDGET_OPTION(
        YK_SEARCH_OPTION_HEADING, struct arguments, request.budget_s, "5",
        "How long all of it may take; half of that is for the integer program that "
        "looks for strategies and order together. When it ends, the points so far "
        "are printed"),
    YK_JSON_OPTION(struct arguments, json),
    YK_SVG_OPTION(struct arguments, request.svg, "Also draw step time against the split of memory"),
    {YK_OPTION_ROW("memory-svg", "FILE", YK_OUTPUT_OPTION_HEADING,
                   "Also draw step time against the devices' memory"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(memory_svg)},
    {YK_OPTION_ROW(
         "plans", "FOLDER", YK_OUTPUT_OPTION_HEADING,
         "Also write the plan of every split, split-NNN.json by percent, and joint.json, to "
         "be run"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(plans)},
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress line"),
};

static const struct yk_command_example examples[] = {
    {"yoke tradeoff --model llama3-8b --batch 8 --seq 4096 --cluster \"8xrtx3090 @ 8GB/s\"",
     "Where memory is better spent: on parameters kept, or on gathers ahead"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "not even fully-sharded layers fit the devices' memory"},
    {YK_ERROR_INPUT, "the model, the cluster or the profile makes no sense, or the budget is too "
                     "small for a single point"},
};

const struct yk_command yk_command_tradeoff = {
    .name = "tradeoff",
    .summary = "weigh keeping parameters against sending them ahead, for the same memory",
    .description =
        "With sharded layers, memory can hold parameters between forward and backward, which saves "
        "gathers, or it can hold what is gathered ahead of its use, which hides them. Printed are "
        "the predicted step for every split of the free memory between the two, with strategies "
        "chosen first and communication ordered in what is left; the plan in which both are "
        "decided together; and the step for every size of the devices' memory. Where the budget "
        "ends before "
        "that, all outputs hold the points that were computed, and a line says how many of how "
        "many they are.",
    YK_COMMAND_INITIALIZERS_NO_OPERANDS(struct arguments),
};
