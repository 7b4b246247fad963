/*
 * Profile show: reads the contents of a profile into a report.
 */
#ifndef YK_JOB_PROFILING_PROFILE_SHOW_H
#define YK_JOB_PROFILING_PROFILE_SHOW_H

#include "base/arena.h"
#include "base/status.h"
#include "job/profiling/profile.h"
#include "report/profile/report.h"

/* Starts as {0}; owns what it points to. */
struct yk_profile_show_result {
    struct yk_arena *arena;
    struct yk_profile_report report;
};

/* Uses these members of the request: `profile`, and as filters `model`, `workload` and `device`. */
yk_status yk_profile_show_run(const struct yk_profile_request *request,
                              struct yk_profile_show_result *out) YK_MUST_USE;
void yk_profile_show_result_free(struct yk_profile_show_result *result);

#endif
