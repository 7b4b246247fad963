/* Order: finds the order of communication for the problem that a file holds. */
#ifndef YK_JOB_PLANNING_ORDER_H
#define YK_JOB_PLANNING_ORDER_H

#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "planner/order/order.h"

struct yk_order_request {
    const struct yk_job *job;
    const char *file;   /* "-": standard input */
    const char *method; /* greedy or milp */
    double budget_s;    /* of milp */
};

/* Starts as {0}. Source and method are the request's. */
struct yk_order_result {
    struct yk_arena *arena; /* owns the rest */
    struct yk_order_problem *problem;
    struct yk_order *order;
    const char *source;                 /* of the problem */
    const char *method;                 /* that was asked for */
    double seconds;                     /* that finding the order took */
    struct yk_plan_transfer *transfers; /* by slot */
    int32_t transfer_count;
    double *load_s;     /* (slots) */
    double *used_bytes; /* (slots) */
};

yk_status yk_order_run(const struct yk_order_request *request,
                       struct yk_order_result *out) YK_MUST_USE;
void yk_order_result_free(struct yk_order_result *result);

/* Runs of slots in which the same happens to one layer after the other take one row. */
yk_status yk_order_result_write_text(const struct yk_order_result *result,
                                     struct yk_text *out) YK_MUST_USE;

/* Every slot by itself. */
yk_status yk_order_result_write_json(const struct yk_order_result *result,
                                     struct yk_text *out) YK_MUST_USE;

#endif
