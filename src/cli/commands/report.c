#include "report/plan_report.h"

#include "base/log.h"
#include "cli/options/command.h"
#include "cli/options/plan_rows.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/outputs.h"
#include "job/planning.h"
#include "job/reporting/run_report.h"
#include "job/search.h"
#include "planner/planned.h"
#include "planner/planned_facts.h"
#include "planner/tradeoff.h"
#include "trace/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CURVE_POINTS = 21,
    PATH_SIZE = 4096,
};

struct arguments {
    const char *plan;
    struct yk_planning_request planning;
    const char *output;
    const char *svg;
    const char *trace;
    double budget_s;
    bool quiet;
};

/* All that the page is made of. */
struct reporting {
    const struct arguments *arguments;
    struct yk_planning planning;
    struct yk_planned *planned;
    struct yk_tradeoff *tradeoff; /* NULL where there is nothing to trade off */
    struct yk_trace *trace;
    struct yk_plan_curve curves[3];
    struct yk_plan_tradeoff charts[2];
    int32_t chart_count;
    struct yk_plan_report report;
    struct yk_outputs outputs;
};

/* A plan that sends nothing has no trade-off, and a model that only fits in micro-batches none in
 * one; or the budget ends first: the page goes without. */
static yk_status find_tradeoff(struct reporting *reporting)
{
    const struct yk_tradeoff_options options = {.points = CURVE_POINTS};
    const struct yk_plan *plan = reporting->planned->plan;
    if (plan->group_count > 1 || plan->rank_count == 1) {
        return YK_OK;
    }
    const yk_status status =
        yk_tradeoff_find(&reporting->planning.request, &options, &reporting->tradeoff);
    if (status == YK_ERROR_STOPPED) {
        yk_log(YK_LOG_WARNING, "the page goes without the trade-off: %s", yk_status_message());
    }
    if (status == YK_ERROR_NO_FIT || status == YK_ERROR_STOPPED) {
        return YK_OK;
    }
    YK_TRY(status);
    reporting->chart_count =
        yk_tradeoff_charts(reporting->tradeoff, reporting->curves, reporting->charts);
    if (yk_tradeoff_is_cut_short(reporting->tradeoff)) {
        yk_log(YK_LOG_WARNING,
               "the budget cut the trade-off of the page short: %d of %d splits, %d of %d sizes of "
               "memory",
               reporting->tradeoff->split_points, reporting->tradeoff->points,
               reporting->tradeoff->memory_points, reporting->tradeoff->points);
    }
    return YK_OK;
}

static yk_status examine(struct reporting *reporting)
{
    const struct arguments *arguments = reporting->arguments;
    const struct yk_search_request search = {.budget_s = arguments->budget_s};
    const struct yk_plan *plan = NULL;
    struct yk_planning *planning = &reporting->planning;
    YK_TRY(yk_planning_open_plan(arguments->plan, &arguments->planning, planning, &plan));
    planning->request.search = yk_search_options(&search, yk_terminal_job());
    yk_terminal_progress_begin();
    yk_status status = yk_planned_examine(&planning->request, plan, true, &reporting->planned);
    if (status == YK_OK) {
        status = find_tradeoff(reporting);
    }
    yk_terminal_progress_end();
    YK_TRY(status);
    YK_TRY(yk_planned_fail_unfit(reporting->planned));
    YK_TRY(yk_sim_trace(reporting->planned->trial.sim, &reporting->trace));
    YK_TRY(yk_planned_report(reporting->planned, reporting->trace, planning->arena,
                             &reporting->report));
    reporting->report.tradeoffs = reporting->charts;
    reporting->report.tradeoff_count = reporting->chart_count;
    return YK_OK;
}

/* The text for a figure in the folder of figures. */
static yk_status figure(struct reporting *reporting, const char *name, struct yk_text **out)
{
    char path[PATH_SIZE];
    const char *folder = reporting->arguments->svg;
    const int length = snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    if (length < 0 || length >= (int)sizeof path) {
        return yk_fail(YK_ERROR_USAGE, "--svg: the name of the folder is too long");
    }
    const char *kept = yk_arena_copy_text(reporting->planning.arena, path, (size_t)length);
    if (!kept) {
        return yk_fail_out_of_memory();
    }
    *out = yk_outputs_add_own(&reporting->outputs, kept);
    return YK_OK;
}

static yk_status make_folder(const char *path)
{
    struct stat found;
    if (mkdir(path, 0777) == 0) {
        return YK_OK;
    }
    const int reason = errno;
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_SYSTEM, "%s: cannot make this folder: %s", path, strerror(reason));
}

static yk_status draw_figures(struct reporting *reporting)
{
    static const char *const charts[] = {"split", "memory-of-devices"};
    const struct yk_plan_report *report = &reporting->report;
    struct yk_text *text = NULL;
    YK_TRY(figure(reporting, "lanes", &text));
    YK_TRY(yk_plan_figure_lanes(report, text));
    YK_TRY(figure(reporting, "bars", &text));
    YK_TRY(yk_plan_figure_bars(report, text));
    YK_TRY(figure(reporting, "cluster", &text));
    YK_TRY(yk_plan_figure_cluster(report, text));
    YK_TRY(figure(reporting, "memory", &text));
    YK_TRY(yk_plan_figure_memory(report, 0, text));
    for (int32_t i = 0; i < report->tradeoff_count && i < 2; i++) {
        YK_TRY(figure(reporting, charts[i], &text));
        YK_TRY(yk_plan_figure_tradeoff(&report->tradeoffs[i], text));
    }
    return make_folder(reporting->arguments->svg);
}

static yk_status make(struct reporting *reporting)
{
    const struct arguments *arguments = reporting->arguments;
    struct yk_outputs *outputs = &reporting->outputs;
    YK_TRY(examine(reporting));
    if (arguments->output) {
        yk_outputs_made(outputs, yk_plan_report_page(&reporting->report,
                                                     yk_outputs_add(outputs, arguments->output)));
    }
    if (arguments->trace) {
        yk_outputs_made(outputs, yk_trace_write_chrome(reporting->trace,
                                                       yk_outputs_add(outputs, arguments->trace)));
    }
    if (arguments->svg) {
        yk_outputs_made(outputs, draw_figures(reporting));
    }
    return yk_outputs_write(outputs);
}

/* A run has been predicted and measured: there is nothing to search, and a trace is in it. */
static yk_status report_run(const struct arguments *arguments)
{
    const struct yk_planning_request *words = &arguments->planning;
    if (words->model || words->cluster || words->profile || words->slowdown > 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s is a run, and says itself what it was for; leave out "
                       "--model, --cluster, --profile and --slowdown",
                       arguments->plan);
    }
    if (arguments->trace) {
        return yk_fail(YK_ERROR_USAGE, "the traces of a run are in it: %s/trace.json",
                       arguments->plan);
    }
    if (arguments->svg) {
        YK_TRY(make_folder(arguments->svg));
    }
    return yk_run_report_draw(arguments->plan, arguments->output, arguments->svg);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct reporting reporting = {.arguments = arguments};
    const char *const paths[] = {arguments->plan,
                                 arguments->planning.model,
                                 arguments->planning.cluster,
                                 arguments->planning.profile,
                                 arguments->output,
                                 arguments->svg,
                                 arguments->trace};
    (void)out;
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    if (!arguments->output && !arguments->svg && !arguments->trace) {
        return yk_fail(YK_ERROR_USAGE,
                       "say what to write: -o report.html, --svg FOLDER or --trace FILE");
    }
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 4));
    if (yk_run_report_is_folder(arguments->plan)) {
        return report_run(arguments);
    }
    const yk_status status = make(&reporting);
    yk_trace_destroy(reporting.trace);
    yk_tradeoff_destroy(reporting.tradeoff);
    yk_planned_destroy(reporting.planned);
    yk_planning_close(&reporting.planning);
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "PLAN",
        .help = "A plan that yoke plan wrote, or the folder of a run of yoke train",
        .required = true,
        .offset = offsetof(struct arguments, plan),
    },
};

static const struct yk_option options[] = {
    YK_PLANNING_OPTIONS(struct arguments, planning,
                        "The model the plan is for, if not where it was",
                        "The cluster the plan is for, if not where it was"),
    {
        .name = "output",
        .letter = 'o',
        .placeholder = "FILE",
        .help = "The page, one file for a browser that needs no network",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, output),
    },
    {
        .name = "svg",
        .placeholder = "FOLDER",
        .help = "The page's pictures as files of a folder",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, svg),
    },
    {
        .name = "trace",
        .placeholder = "FILE",
        .help = "A trace that Perfetto and chrome://tracing open",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, trace),
    },
    {
        .name = "budget",
        .placeholder = "SECONDS",
        .help = "How long to look at what the usual ways would take",
        .group = YK_OUTPUT_GROUP,
        .preset = "10",
        .kind = YK_OPTION_SECONDS,
        .offset = offsetof(struct arguments, budget_s),
    },
    {
        .name = "quiet",
        .help = "No notes and no progress line on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke report plan.json -o report.html", "One page about a plan"},
    {"yoke report plan.json --svg figures --trace step.json", "Its pictures, and a trace"},
    {"yoke report runs/gpt-nano -o run.html", "One page about a training"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "the plan needs more memory than a device has"},
    {YK_ERROR_INPUT, "the plan makes no sense, or is for another model, cluster or profile"},
    {0, NULL},
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
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
