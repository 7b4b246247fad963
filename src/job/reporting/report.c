#include "job/reporting/run_report.h"

#include "base/folder.h"
#include "base/log.h"
#include "job/job.h"
#include "job/output_files.h"
#include "planner/memory_tradeoff.h"
#include "planner/planner.h"
#include "report/plan/report.h"
#include "trace/trace.h"

enum {
    CURVE_POINTS = 21
};

/* Everything that the report is made from. */
struct reporting {
    const struct yk_report_request *request;
    struct yk_planning_inputs planning;
    struct yk_planner_outcome *planned;
    struct yk_memory_tradeoff *tradeoff; /* NULL where there is nothing to trade off */
    struct yk_trace *trace;
    struct yk_plan_chart_curve curves[3];
    struct yk_plan_tradeoff_chart charts[2];
    int32_t chart_count;
    struct yk_plan_result report;
    struct yk_output_files outputs;
};

/* A plan that sends nothing has no trade-off, and a model that only fits in micro-batches none in
 * one; or the budget ends first: the page goes without. */
static yk_status find_tradeoff(struct reporting *reporting)
{
    const struct yk_memory_tradeoff_options options = {.points = CURVE_POINTS};
    const struct yk_plan *plan = reporting->planned->plan;
    if (plan->group_count > 1 || plan->rank_count == 1) {
        return YK_OK;
    }
    const yk_status status =
        yk_memory_tradeoff_compute(&reporting->planning.request, &options, &reporting->tradeoff);
    if (status == YK_ERROR_STOPPED) {
        yk_log(YK_LOG_WARNING, "the page goes without the trade-off: %s", yk_status_message());
    }
    if (status == YK_ERROR_NO_FIT || status == YK_ERROR_STOPPED) {
        return YK_OK;
    }
    YK_TRY(status);
    reporting->chart_count =
        yk_memory_tradeoff_fill_charts(reporting->tradeoff, reporting->curves, reporting->charts);
    if (yk_memory_tradeoff_is_cut_short(reporting->tradeoff)) {
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
    const struct yk_report_request *request = reporting->request;
    const struct yk_job_search_options search = {.budget_s = request->budget_s};
    const struct yk_plan *plan = NULL;
    struct yk_planning_inputs *planning = &reporting->planning;
    YK_TRY(yk_planning_inputs_open_plan_file(request->plan, &request->planning, planning, &plan));
    planning->request.search = yk_job_make_scheduler_options(&search, request->job);
    yk_job_report_begin(request->job);
    yk_status status =
        yk_planner_evaluate_plan(&planning->request, plan, true, &reporting->planned);
    YK_IF_OK(find_tradeoff(reporting));
    yk_job_report_end(request->job);
    YK_TRY(status);
    YK_TRY(yk_planner_check_plan_fits(reporting->planned));
    YK_TRY(yk_sim_make_trace(reporting->planned->evaluation.sim, &reporting->trace));
    YK_TRY(yk_planner_outcome_to_plan_result(reporting->planned, reporting->trace, planning->arena,
                                             &reporting->report));
    reporting->report.tradeoffs = reporting->charts;
    reporting->report.tradeoff_count = reporting->chart_count;
    return YK_OK;
}

/* The text for a picture in the folder of pictures. */
static yk_status open_picture(void *argument, const char *name, struct yk_text **out)
{
    struct reporting *reporting = argument;
    return yk_output_files_add_in_folder(&reporting->outputs, reporting->request->svg, name,
                                         reporting->planning.arena, out);
}

static yk_status draw_pictures(struct reporting *reporting)
{
    YK_TRY(yk_plan_page_write_pictures(&reporting->report, NULL, open_picture, reporting));
    return yk_folder_create(reporting->request->svg);
}

static yk_status write_report(struct reporting *reporting)
{
    const struct yk_report_request *request = reporting->request;
    struct yk_output_files *outputs = &reporting->outputs;
    YK_TRY(examine(reporting));
    if (request->output) {
        yk_output_files_drop_added_on_failure(
            outputs,
            yk_plan_page_write(&reporting->report, yk_output_files_add(outputs, request->output)));
    }
    if (request->trace) {
        yk_output_files_drop_added_on_failure(
            outputs, yk_chrome_trace_write_json(reporting->trace,
                                                yk_output_files_add(outputs, request->trace)));
    }
    if (request->svg) {
        yk_output_files_drop_added_on_failure(outputs, draw_pictures(reporting));
    }
    return yk_output_files_write_and_free(outputs);
}

/* A run has been predicted and measured: there is nothing to search, and a trace is in it. */
static yk_status report_run(const struct yk_report_request *request)
{
    const struct yk_planning_inputs_request *planning = &request->planning;
    if (planning->model || planning->cluster || planning->profile || planning->slowdown > 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s is a run, and says itself what it was for; leave out "
                       "--model, --cluster, --profile and --slowdown",
                       request->plan);
    }
    if (request->trace) {
        return yk_fail(YK_ERROR_USAGE, "the traces of a run are in it: %s/trace.json",
                       request->plan);
    }
    if (request->svg) {
        YK_TRY(yk_folder_create(request->svg));
    }
    return yk_run_report_write(&(struct yk_run_report_paths){
        .run_folder = request->plan, .page = request->output, .svg_folder = request->svg});
}

yk_status yk_report_run(const struct yk_report_request *request)
{
    struct reporting reporting = {.request = request};
    const char *const paths[] = {request->plan,
                                 request->planning.model,
                                 request->planning.cluster,
                                 request->planning.profile,
                                 request->output,
                                 request->svg,
                                 request->trace};
    if (!request->output && !request->svg && !request->trace) {
        return yk_fail(YK_ERROR_USAGE,
                       "say what to write: -o report.html, --svg FOLDER or --trace FILE");
    }
    YK_TRY(yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 4));
    if (yk_folder_exists(request->plan)) {
        return report_run(request);
    }
    const yk_status status = write_report(&reporting);
    yk_trace_destroy(reporting.trace);
    yk_memory_tradeoff_destroy(reporting.tradeoff);
    yk_planner_outcome_destroy(reporting.planned);
    yk_planning_inputs_close(&reporting.planning);
    return status;
}
