/* Simulate: predicts the time and the memory of one training step of the plan in a plan file. */
#ifndef YK_JOB_PLANNING_SIMULATE_H
#define YK_JOB_PLANNING_SIMULATE_H

#include "job/planning/planning_inputs.h"
#include "planner/planner.h"

struct yk_simulate_request {
    const char *plan; /* path of the plan file */
    /* Inputs that are used instead of those of the plan file. */
    struct yk_planning_inputs_request planning;
    bool program;      /* print the ops of each rank (program/program.h) instead of the summary */
    bool times;        /* after the summary, also print the times of ops */
    const char *trace; /* path of the trace to write; NULL means: none */
};

/* Starts as {0}. Do not copy or move the struct: its members point to each other. */
struct yk_simulate_result {
    struct yk_planning_inputs planning;
    struct yk_planner_outcome *planned;
};

yk_status yk_simulate_run(const struct yk_simulate_request *request,
                          struct yk_simulate_result *out) YK_MUST_USE;

yk_status yk_simulate_write_text(const struct yk_simulate_request *request,
                                 const struct yk_simulate_result *result,
                                 struct yk_text *out) YK_MUST_USE;

/* Writes the trace. Fails with YK_ERROR_NO_FIT if the plan does not fit into memory. */
yk_status yk_simulate_write_files(const struct yk_simulate_request *request,
                                  const struct yk_simulate_result *result) YK_MUST_USE;

void yk_simulate_result_free(struct yk_simulate_result *result);

#endif
