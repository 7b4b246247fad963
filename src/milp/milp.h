/*
 * MILP: a mixed-integer linear program, solved by the CBC library.
 *
 *   minimise  Σ objective · x    subject to  lower ≤ Σ entry · x ≤ upper  for every row
 *
 * Columns, rows and entries may be added in any order, also after a solve. Not thread-safe. The
 * solver runs in a forked process (subprocess.h). If the library aborts, the outcome is the
 * same as for a timeout.
 */
#ifndef YK_MILP_MILP_H
#define YK_MILP_MILP_H

#include "base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_milp;

enum yk_milp_outcome {
    YK_MILP_OPTIMAL,  /* within the requested gap */
    YK_MILP_FEASIBLE, /* stopped early with a solution */
    YK_MILP_UNKNOWN,  /* stopped early with no solution */
    YK_MILP_INFEASIBLE,
    YK_MILP_UNBOUNDED,
};

struct yk_milp_options {
    bool relaxed;            /* solve the linear relaxation */
    double budget_s;         /* wall-clock limit */
    double gap;              /* stop when (objective - bound) / objective is at most this */
    const double *start;     /* (columns) initial solution, or NULL */
    const atomic_bool *stop; /* set to true to stop the solver; may be NULL */
};

struct yk_milp_result {
    enum yk_milp_outcome outcome;
    double objective; /* of `values` */
    double bound;     /* lower bound of the objective; -INFINITY means: unknown */
    double seconds;   /* wall-clock time of the solve */
    double *values;   /* (columns) NULL if there is no solution */
    double *prices;   /* (rows) dual values, of the last iteration if stopped early; NULL for
                         integer programs */
};

yk_status yk_milp_create(struct yk_milp **out) YK_MUST_USE;
void yk_milp_destroy(struct yk_milp *milp);

/* `lower` and `upper` may be infinite. Indices count up from 0 in the order of addition. */
yk_status yk_milp_add_column(struct yk_milp *milp, double lower, double upper, double objective,
                             bool integer, int32_t *out) YK_MUST_USE;
yk_status yk_milp_add_row(struct yk_milp *milp, double lower, double upper,
                          int32_t *out) YK_MUST_USE;

/* Adds `value` to an entry; entries are initially 0. */
yk_status yk_milp_add_entry(struct yk_milp *milp, int32_t row, int32_t column,
                            double value) YK_MUST_USE;

int32_t yk_milp_column_count(const struct yk_milp *milp);

/*
 * Solves a problem with at least one column. An infeasible problem is an outcome, not an error. The
 * arrays of the result are allocated in `arena`. The budget and the stop flag take effect within
 * about one second.
 */
yk_status yk_milp_solve(struct yk_milp *milp, const struct yk_milp_options *options,
                        struct yk_arena *arena, struct yk_milp_result *out) YK_MUST_USE;

#endif
