/*
 * Transfer order job: reads a transfer order problem from a file and decides in which slot each
 * collective runs. A slot is the forward or backward pass of one layer, or a gap between passes
 * (planner/order/transfer_order.h).
 */
#ifndef YK_JOB_PLANNING_TRANSFER_ORDER_JOB_H
#define YK_JOB_PLANNING_TRANSFER_ORDER_JOB_H

#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "planner/order/transfer_order.h"

struct yk_transfer_order_job_request {
    const struct yk_job_callbacks *job;
    const char *file;   /* path of the problem; "-" means: standard input */
    const char *method; /* "greedy" or "milp" */
    double budget_s;    /* time limit of milp */
};

/* Starts as {0}. The strings belong to the request. */
struct yk_transfer_order_job_result {
    struct yk_arena *arena; /* owns the problem, the order and the arrays */
    struct yk_transfer_order_problem *problem;
    struct yk_transfer_order *order;
    const char *source; /* name of the problem's file, for messages */
    const char *method;
    double seconds;                     /* search time */
    struct yk_plan_transfer *transfers; /* sorted by slot */
    int32_t transfer_count;
    double *load_s;     /* (slots) communication time in each slot */
    double *used_bytes; /* (slots) memory used in each slot */
};

yk_status yk_transfer_order_job_run(const struct yk_transfer_order_job_request *request,
                                    struct yk_transfer_order_job_result *out) YK_MUST_USE;
void yk_transfer_order_job_result_free(struct yk_transfer_order_job_result *result);

/* Appends a table. Consecutive slots share one row if they do the same for consecutive layers. */
yk_status yk_transfer_order_job_write_text(const struct yk_transfer_order_job_result *result,
                                           struct yk_text *out) YK_MUST_USE;

/* Appends a JSON document that describes each slot. */
yk_status yk_transfer_order_job_write_json(const struct yk_transfer_order_job_result *result,
                                           struct yk_text *out) YK_MUST_USE;

#endif
