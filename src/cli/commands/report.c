#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal_job.h"
#include "job/reporting/run_report.h"

struct arguments {
    struct yk_report_request request;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_report_request request = arguments->request;
    (void)out;
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_INTERRUPT);
    return yk_report_run(&request);
}

static const struct yk_operand operands[] = {
    YK_PLAN_FILE_OPERAND(struct arguments, request.plan,
                         "A plan that yoke plan wrote, or the folder of a run of yoke train"),
};

static const struct yk_option options[] = {
    YK_PLANNING_INPUT_OVERRIDE_OPTIONS(struct arguments, request.planning),
    YK_OUTPUT_OPTION(struct arguments, request.output, "FILE",
                     "The page, one file for a browser that needs no network"),
    {YK_OPTION_ROW("svg", "FOLDER", YK_OUTPUT_OPTION_HEADING,
                   "The page's pictures as files of a folder"),
     YK_OPTION_INIT_OUTPUT_FILE, YK_OPTION_OFFSET_OF(struct arguments, request.svg)},
    YK_TRACE_OPTION(struct arguments, request.trace,
                    "A trace that Perfetto and chrome://tracing open"),
    YK_TIME_BUDGET_OPTION(YK_OUTPUT_OPTION_HEADING, struct arguments, request.budget_s, "10",
                          "How long to look at what the usual ways would take"),
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress line"),
};

static const struct yk_command_example examples[] = {
    {"yoke report plan.json -o report.html", "One page about a plan"},
    {"yoke report plan.json --svg figures --trace step.json", "Its pictures, and a trace"},
    {"yoke report runs/gpt-nano -o run.html", "One page about a training"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "the plan needs more memory than a device has"},
    {YK_ERROR_INPUT, "the plan makes no sense, or is for another model, cluster or profile"},
};

const struct yk_command yk_command_report = {
    .name = "report",
    .summary = "draw a plan or a run: lanes, memory, what binds, loss",
    .description =
        "Writes one page about a plan: what every device does on every lane during the predicted "
        "step, its memory over time against the limit, where the time goes, what binds, the "
        "trade-off between keeping parameters and sending them ahead, the cluster, and what the "
        "usual ways would take. Of a run it shows the loss, the speed, the last step as it was "
        "predicted and as it was measured, memory, settings and a sample. The numbers of every "
        "chart are in the page as CSV.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
