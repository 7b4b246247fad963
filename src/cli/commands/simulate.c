#include "base/folder.h"
#include "cli/options/command.h"
#include "cli/options/plan_rows.h"
#include "cli/terminal.h"
#include "job/outputs.h"
#include "job/planning.h"
#include "job/planning/plan_output.h"
#include "job/planning/plan_times.h"
#include "planner/planned_facts.h"
#include "program/program_text.h"
#include "trace/chrome.h"

struct arguments {
    const char *plan;
    struct yk_planning_request planning;
    bool program;
    bool times;
    bool json;
    bool quiet;
    const char *trace;
};

static yk_status write_trace(const struct arguments *arguments, const struct yk_planned *planned,
                             struct yk_text *out)
{
    struct yk_trace *trace = NULL;
    struct yk_outputs outputs = {0};
    if (!arguments->trace) {
        return YK_OK;
    }
    YK_TRY(yk_sim_trace(planned->trial.sim, &trace));
    yk_outputs_made(&outputs,
                    yk_trace_write_chrome(trace, yk_outputs_add(&outputs, arguments->trace)));
    yk_trace_destroy(trace);
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

static yk_status simulate(const struct arguments *arguments, struct yk_planning *planning,
                          struct yk_text *out)
{
    const struct yk_plan *plan = NULL;
    struct yk_planned *planned = NULL;
    YK_TRY(yk_planning_open_plan(arguments->plan, &arguments->planning, planning, &plan));
    YK_TRY(yk_planned_examine(&planning->request, plan, false, &planned));
    yk_status status = YK_OK;
    if (arguments->program) {
        status = yk_program_write_text(planned->trial.program, out);
    } else {
        status =
            arguments->json ? yk_plan_output_json(planned, out) : yk_plan_output_text(planned, out);
    }
    if (status == YK_OK && arguments->times && !arguments->json) {
        status = yk_plan_times_text(planned, out);
    }
    if (status == YK_OK) {
        status = yk_planned_fail_unfit(planned);
    }
    if (status == YK_OK) {
        status = write_trace(arguments, planned, out);
    }
    yk_planned_destroy(planned);
    return status;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_planning planning = {0};
    const char *const paths[] = {arguments->plan, arguments->planning.model,
                                 arguments->planning.cluster, arguments->planning.profile,
                                 arguments->trace};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    if (arguments->program && arguments->json) {
        return yk_fail(YK_ERROR_USAGE, "--program is text; leave out --json");
    }
    if (arguments->program && arguments->times) {
        return yk_fail(YK_ERROR_USAGE,
                       "--program and --times are two things to look at; ask for one");
    }
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 4));
    if (yk_folder_is(arguments->plan)) {
        return yk_folder_has(arguments->plan, "plan.json")
                   ? yk_fail(YK_ERROR_INPUT, "%s is a folder; its plan is %s/plan.json",
                             arguments->plan, arguments->plan)
                   : yk_fail(YK_ERROR_INPUT, "%s is a folder, not a plan", arguments->plan);
    }
    const yk_status status = simulate(arguments, &planning, out);
    yk_planning_close(&planning);
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "PLAN",
        .help = "A plan that yoke plan wrote",
        .required = true,
        .offset = offsetof(struct arguments, plan),
    },
};

static const struct yk_option options[] = {
    YK_PLANNING_OPTIONS(struct arguments, planning,
                        "The model the plan is for, if not where it was",
                        "The cluster the plan is for, if not where it was"),
    {
        .name = "program",
        .help = "Print the program: every rank's ops on every lane, with what each waits for",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, program),
    },
    {
        .name = "times",
        .help = "Print how long every sort of op takes alone, and whether that was measured, "
                "interpolated or estimated; JSON has it anyway",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, times),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "trace",
        .placeholder = "FILE",
        .help = "Also write a trace that Perfetto and chrome://tracing open",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, trace),
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
    {"yoke simulate plan.json", "Predict the step of a plan, after editing it for one"},
    {"yoke simulate plan.json --program", "Show what every rank does, op by op"},
    {"yoke simulate plan.json --times", "Tell what was measured from what was estimated"},
    {"yoke simulate plan.json --trace step.json", "Look at the predicted step in Perfetto"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "the plan needs more memory than a device has"},
    {YK_ERROR_INPUT, "the plan makes no sense, or is for another model, cluster or profile"},
    {0, NULL},
};

const struct yk_command yk_command_simulate = {
    .name = "simulate",
    .summary = "predict the step of a plan, and show the program it becomes",
    .description =
        "Compiles a plan to the program that every rank would run, checks it, counts its memory, "
        "and runs it in virtual time: computation and communication side by side, links shared, "
        "every op waiting for what the program says.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
