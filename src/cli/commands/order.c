#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal_job.h"
#include "job/planning/transfer_order_job.h"

struct arguments {
    struct yk_transfer_order_job_request request;
    bool json;
    bool quiet;
};

static bool method_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"greedy", "at once: blocks move until none is better placed"},
        {"milp", "from there on by an integer program, and a bound that is as good"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_transfer_order_job_request request = arguments->request;
    struct yk_transfer_order_job_result result = {0};
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_INTERRUPT);
    yk_status status = yk_transfer_order_job_run(&request, &result);
    YK_IF_OK(arguments->json ? yk_transfer_order_job_write_json(&result, out)
                             : yk_transfer_order_job_write_text(&result, out));
    yk_transfer_order_job_result_free(&result);
    return status;
}

static const struct yk_option options[] = {
    {YK_OPTION_ROW("method", "NAME", YK_SEARCH_OPTION_HEADING, "How to find the order"),
     YK_OPTION_INIT_CHOICE(method_choices, "milp"),
     YK_OPTION_OFFSET_OF(struct arguments, request.method)},
    {YK_OPTION_ROW("budget", "SECONDS", YK_SEARCH_OPTION_HEADING,
                   "How long milp may search; it ends earlier when nothing is left to win"),
     YK_OPTION_INIT_SECONDS("4"), .allows_zero = true,
     YK_OPTION_OFFSET_OF(struct arguments, request.budget_s)},
    {YK_OPTION_ROW("json", NULL, YK_OUTPUT_OPTION_HEADING,
                   "Print JSON instead of text, every slot by itself"),
     YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(struct arguments, json)},
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "FILE",
        .help = "The order problem, a JSON file; - is standard input",
        .required = true,
        YK_OPTION_OFFSET_OF(struct arguments, request.file),
    },
};

static const struct yk_command_example examples[] = {
    {"yoke order problem.json", "Order the communication of one step"},
    {"yoke order problem.json --method greedy --json", "At once, for a program to read"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "memory suffices for no order"},
    {YK_ERROR_INPUT, "the file cannot be read or is no order problem"},
};

const struct yk_command yk_command_order = {
    .name = "order",
    .summary = "order the communication of a step so that computation hides it",
    .description =
        "Decides for each layer of a sharded model whether its parameters are kept between forward "
        "and backward, and in which slot each block of parameters is gathered and each block of "
        "gradients scattered, so that memory suffices in every slot and as little as possible is "
        "exposed. A slot is the forward or backward of one layer, or one of three gaps: middle, "
        "between forward and backward, end and begin, before the next forward. It takes as long as "
        "it computes or as its link is busy, whichever is longer; the bound is a time no order can "
        "beat.\n\n"
        "A problem of n layers is a JSON object: layers; blocks, into which each is cut; compute_s "
        "and activation_bytes, lists of 2n + 3 slots: forward of layers 0 to n-1, middle, backward "
        "of layers n-1 to 0, end, begin; comm_s and full_bytes, lists of n layers, to gather or "
        "scatter one whole and what it takes gathered; static_bytes; memory_bytes; and barrier, "
        "true where every scatter comes before any gather for the next forward. Other members are "
        "ignored.\n\n"
        "Ctrl-C ends the search with the best it has.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
