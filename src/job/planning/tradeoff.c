#include "job/planning/tradeoff.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "job/outputs.h"
#include "job/planning/tradeoff_output.h"
#include "job/search.h"
#include "report/plan_report.h"

#include <stdio.h>

static yk_status prepare(const struct yk_tradeoff_request *request, struct yk_planning *planning)
{
    const struct yk_job_search search = {.budget_s = request->budget_s};
    const char *const paths[] = {request->planning.model, request->planning.cluster,
                                 request->planning.profile, request->svg, request->memory_svg};
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 3));
    YK_TRY(yk_planning_open(&request->planning, planning));
    YK_TRY(yk_workload_read(&request->workload, planning->request.config,
                            &planning->request.workload));
    planning->request.clip = request->clip;
    planning->request.search = yk_job_search_options(&search, request->job);
    return YK_OK;
}

yk_status yk_tradeoff_run(const struct yk_tradeoff_request *request, struct yk_tradeoff_result *out)
{
    const struct yk_tradeoff_options options = {.points = (int32_t)request->points,
                                                .milp_s = request->budget_s};
    YK_TRY(prepare(request, &out->planning));
    yk_job_begin(request->job);
    const yk_status status = yk_tradeoff_find(&out->planning.request, &options, &out->tradeoff);
    yk_job_end(request->job);
    if (status == YK_ERROR_STOPPED) { /* by the budget that was given, not by a signal */
        return yk_fail(YK_ERROR_INPUT, "%s", yk_status_message());
    }
    YK_TRY(status);
    out->chart_count = yk_tradeoff_charts(out->tradeoff, out->curves, out->charts);
    return YK_OK;
}

static yk_status write_plan(const struct yk_planning *planning, const struct yk_plan *plan,
                            const char *folder, const char *name)
{
    struct yk_plan_context context = yk_planning_context(planning);
    struct yk_text path = {0};
    struct yk_text text = {0};
    yk_text_addf(&path, "%s/%s.json", folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        context.path = yk_text_chars(&path);
        status = yk_plan_file_write(plan, &context, &text);
    }
    if (status == YK_OK) {
        status = yk_file_write_nofollow(yk_text_chars(&path), &text);
    }
    yk_text_free(&path);
    yk_text_free(&text);
    return status;
}

static yk_status write_plans(const struct yk_planning *planning, const struct yk_tradeoff *tradeoff,
                             const char *folder)
{
    YK_TRY(yk_folder_create(folder));
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        char percent[YK_TRADEOFF_PERCENT_SIZE];
        char name[sizeof "split-" + YK_TRADEOFF_PERCENT_SIZE];
        yk_tradeoff_output_percent(tradeoff, tradeoff->part[i], 3, percent);
        snprintf(name, sizeof name, "split-%s", percent);
        if (tradeoff->split[i]) {
            YK_TRY(write_plan(planning, tradeoff->split[i], folder, name));
        }
    }
    return tradeoff->joint ? write_plan(planning, tradeoff->joint, folder, "joint") : YK_OK;
}

yk_status yk_tradeoff_write_files(const struct yk_tradeoff_request *request,
                                  const struct yk_tradeoff_result *result)
{
    const char *const paths[] = {request->svg, request->memory_svg};
    struct yk_outputs outputs = {0};
    for (int32_t i = 0; i < 2; i++) {
        if (paths[i] && i < result->chart_count) {
            yk_outputs_finish(
                &outputs,
                yk_plan_figure_tradeoff(&result->charts[i], yk_outputs_add(&outputs, paths[i])));
        } else if (paths[i]) {
            yk_log(YK_LOG_WARNING, "%s is not written: the budget ended before its first point",
                   paths[i]);
        }
    }
    if (request->plans) {
        yk_outputs_finish(&outputs,
                          write_plans(&result->planning, result->tradeoff, request->plans));
    }
    return yk_outputs_write(&outputs);
}

void yk_tradeoff_result_free(struct yk_tradeoff_result *result)
{
    yk_tradeoff_destroy(result->tradeoff);
    yk_planning_close(&result->planning);
    *result = (struct yk_tradeoff_result){0};
}
