/* Simulate: predicts time and memory of one training step of a plan file. */
#ifndef YK_JOB_PLANNING_SIMULATE_H
#define YK_JOB_PLANNING_SIMULATE_H

#include "job/planning/planning_inputs.h"
#include "planner/planner.h"

struct yk_simulate_request {
    const char *plan;                           /* plan file */
    struct yk_planning_inputs_request planning; /* inputs that replace those of the plan file */
    bool program;      /* print the program of each rank instead of the summary */
    bool times;        /* also print the times of ops */
    const char *trace; /* output file; NULL: none */
};

/* Starts as {0}. Do not copy or move it: its members point to each other. */
struct yk_simulate_result {
    struct yk_planning_inputs planning;
    struct yk_planner_outcome *planned;
};

yk_status yk_simulate_run(const struct yk_simulate_request *request,
                          struct yk_simulate_result *out) YK_MUST_USE;

yk_status yk_simulate_write_text(const struct yk_simulate_request *request,
                                 const struct yk_simulate_result *result,
                                 struct yk_text *out) YK_MUST_USE;

/* Writes the trace. Fails with YK_ERROR_NO_FIT if the plan does not fit. */
yk_status yk_simulate_write_files(const struct yk_simulate_request *request,
                                  const struct yk_simulate_result *result) YK_MUST_USE;

void yk_simulate_result_free(struct yk_simulate_result *result);

#endif
