/*
 * Finished run: a run that has ended and is to be calibrated by: what it was planned with, the
 * prediction by the profile that is to be calibrated, and what its ops took.
 *
 * Starts as {0}; owns what it points to.
 */
#ifndef YK_JOB_PROFILING_FINISHED_RUN_H
#define YK_JOB_PROFILING_FINISHED_RUN_H

#include "base/arena.h"
#include "base/status.h"
#include "job/planning/planning.h"
#include "planner/planner.h"
#include "trace/op_times.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_finished_run {
    struct yk_arena *arena;
    const char *folder;
    const char *profile; /* the file that is to be calibrated */
    bool has_profile;    /* it is there */
    bool is_usual;       /* nobody named it */
    bool writes;
    struct yk_planning planning;
    const struct yk_plan *plan;         /* that the run ended with */
    struct yk_planner_outcome *planned; /* by the profile as it is */
    uint64_t shuffle; /* seed of another program for the plan; 0: the plan's own */
    struct yk_op_times spent;
    double measured_step_s;  /* median */
    double predicted_step_s; /* when the run began; NAN: not known */
};

/* `profile` is the file to calibrate; NULL: that which the run was planned with, or the usual one.
 * One that is to be written and is damaged is set aside. Refuses runs that cannot be used,
 * each with its reason. */
yk_status yk_finished_run_open(const char *folder, const char *profile, bool writes,
                               struct yk_finished_run *out) YK_MUST_USE;
void yk_finished_run_close(struct yk_finished_run *run);

/* The step that would be predicted of the run's plan by another profile. */
yk_status yk_finished_run_predict(struct yk_finished_run *run, struct yk_profile *profile,
                                  double *out_s) YK_MUST_USE;

#endif
