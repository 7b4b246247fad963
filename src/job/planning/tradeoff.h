/* Trade-off: weighs keeping parameters against sending them ahead, and writes charts and plans. */
#ifndef YK_JOB_PLANNING_TRADEOFF_H
#define YK_JOB_PLANNING_TRADEOFF_H

#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "job/planning/planning.h"
#include "job/workload.h"
#include "planner/tradeoff.h"

/* Texts are NULL where they are not given. */
struct yk_tradeoff_request {
    const struct yk_job *job;
    struct yk_planning_request planning;
    struct yk_workload_request workload;
    bool clip;
    int64_t points;  /* of each curve, at least 2 */
    double budget_s; /* half of it for the integer program */
    const char *svg;
    const char *memory_svg;
    const char *plans; /* a folder for the plans of the splits */
};

/* Starts as {0}, and stays where it is. */
struct yk_tradeoff_result {
    struct yk_planning planning;
    struct yk_tradeoff *tradeoff;
    struct yk_plan_curve curves[3];
    struct yk_plan_tradeoff charts[2];
    int32_t chart_count; /* of those that have points */
};

yk_status yk_tradeoff_run(const struct yk_tradeoff_request *request,
                          struct yk_tradeoff_result *out) YK_MUST_USE;

/*
 * Writes the charts and, into the folder of plans, which is made where it is missing,
 * split-NNN.json for every split that is there and fits, NNN being the percent reserved for
 * scheduling in three digits (split-012.5.json), and joint.json.
 */
yk_status yk_tradeoff_write_files(const struct yk_tradeoff_request *request,
                                  const struct yk_tradeoff_result *result) YK_MUST_USE;

void yk_tradeoff_result_free(struct yk_tradeoff_result *result);

yk_status yk_tradeoff_result_write_text(const struct yk_tradeoff_result *result,
                                        struct yk_text *out) YK_MUST_USE;
yk_status yk_tradeoff_result_write_json(const struct yk_tradeoff_result *result,
                                        struct yk_text *out) YK_MUST_USE;

#endif
