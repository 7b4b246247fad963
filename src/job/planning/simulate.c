#include "job/planning/plan_job.h"

#include "base/folder.h"
#include "job/output_files.h"
#include "planner/planner.h"
#include "program/program.h"
#include "trace/trace.h"

static yk_status check(const struct yk_simulate_request *request)
{
    const char *const paths[] = {request->plan, request->planning.model, request->planning.cluster,
                                 request->planning.profile, request->trace};
    if (request->program && request->times) {
        return yk_fail(YK_ERROR_USAGE,
                       "--program and --times are two things to look at; ask for one");
    }
    YK_TRY(yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 4));
    if (!yk_folder_exists(request->plan)) {
        return YK_OK;
    }
    return yk_folder_contains(request->plan, "plan.json")
               ? yk_fail(YK_ERROR_INPUT, "%s is a folder; its plan is %s/plan.json", request->plan,
                         request->plan)
               : yk_fail(YK_ERROR_INPUT, "%s is a folder, not a plan", request->plan);
}

yk_status yk_simulate_run(const struct yk_simulate_request *request, struct yk_simulate_result *out)
{
    const struct yk_plan *plan = NULL;
    YK_TRY(check(request));
    YK_TRY(yk_planning_inputs_open_plan_file(request->plan, &request->planning, &out->planning,
                                             &plan));
    return yk_planner_evaluate_plan(&out->planning.request, plan, false, &out->planned);
}

yk_status yk_simulate_write_text(const struct yk_simulate_request *request,
                                 const struct yk_simulate_result *result, struct yk_text *out)
{
    if (request->program) {
        return yk_program_text_write(result->planned->evaluation.program, out);
    }
    YK_TRY(yk_plan_output_write_text(result->planned, out));
    return request->times ? yk_plan_output_write_op_times_text(result->planned, out) : YK_OK;
}

yk_status yk_simulate_write_files(const struct yk_simulate_request *request,
                                  const struct yk_simulate_result *result)
{
    struct yk_trace *trace = NULL;
    struct yk_output_files outputs = {0};
    YK_TRY(yk_planner_check_plan_fits(result->planned));
    if (!request->trace) {
        return YK_OK;
    }
    YK_TRY(yk_sim_make_trace(result->planned->evaluation.sim, &trace));
    yk_output_files_drop_added_on_failure(
        &outputs, yk_chrome_trace_write_json(trace, yk_output_files_add(&outputs, request->trace)));
    yk_trace_destroy(trace);
    return yk_output_files_write_and_free(&outputs);
}

void yk_simulate_result_free(struct yk_simulate_result *result)
{
    yk_planner_outcome_destroy(result->planned);
    yk_planning_inputs_close(&result->planning);
    *result = (struct yk_simulate_result){0};
}
