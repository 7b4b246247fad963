#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal.h"
#include "job/planning/plan_job.h"

struct arguments {
    struct yk_simulate_request request;
    bool json;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    const struct yk_simulate_request *request = &arguments->request;
    struct yk_simulate_result result = {0};
    if (request->program && arguments->json) {
        return yk_fail(YK_ERROR_USAGE, "--program is text; leave out --json");
    }
    yk_status status = yk_simulate_run(request, &result);
    YK_IF_OK(arguments->json ? yk_plan_output_write_json(result.planned, out)
                             : yk_simulate_write_text(request, &result, out));
    YK_IF_OK(yk_terminal_print_unsaved_result(yk_simulate_write_files(request, &result), out));
    yk_simulate_result_free(&result);
    return status;
}

static const struct yk_operand operands[] = {
    YK_PLAN_FILE_OPERAND(struct arguments, request.plan, "A plan that yoke plan wrote"),
};

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, request.member)

static const struct yk_option options[] = {
    YK_PLANNING_INPUT_OVERRIDE_OPTIONS(struct arguments, request.planning),
    {YK_OPTION_ROW("program", NULL, YK_OUTPUT_OPTION_HEADING,
                   "Print the program: every rank's ops on every lane, with what each waits for"),
     YK_OPTION_INIT_FLAG, TO(program)},
    {YK_OPTION_ROW("times", NULL, YK_OUTPUT_OPTION_HEADING,
                   "Print how long every sort of op takes alone, and whether that was measured, "
                   "interpolated or estimated; JSON has it anyway"),
     YK_OPTION_INIT_FLAG, TO(times)},
    YK_JSON_OPTION(struct arguments, json),
    YK_TRACE_OPTION(struct arguments, request.trace, YK_TRACE_OPTION_HELP),
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
};

static const struct yk_command_example examples[] = {
    {"yoke simulate plan.json", "Predict the step of a plan, after editing it for one"},
    {"yoke simulate plan.json --program", "Show what every rank does, op by op"},
    {"yoke simulate plan.json --times", "Tell what was measured from what was estimated"},
    {"yoke simulate plan.json --trace step.json", "Look at the predicted step in Perfetto"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "the plan needs more memory than a device has"},
    {YK_ERROR_INPUT, "the plan makes no sense, or is for another model, cluster or profile"},
};

const struct yk_command yk_command_simulate = {
    .name = "simulate",
    .summary = "predict the step of a plan, and show the program it becomes",
    .description =
        "Compiles a plan to the program that every rank would run, checks it, counts its memory, "
        "and runs it in virtual time: computation and communication side by side, links shared, "
        "every op waiting for what the program says.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
