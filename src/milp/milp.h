/*
 * MILP: a mixed-integer linear program. The CBC library solves it.
 *
 *   minimise  Σ objective · x    subject to  lower ≤ Σ entry · x ≤ upper  for every row
 *
 * A column is a variable x, a row is a constraint, and an entry is the coefficient of a column in a
 * row. Columns, rows and entries may be added in any order, also after yk_milp_solve(). Not
 * thread-safe. The solver runs in a forked process (subprocess.h). If the library crashes, it is
 * run once more with safer settings. If it crashes again, the outcome is the same as after a
 * timeout.
 */
#ifndef YK_MILP_MILP_H
#define YK_MILP_MILP_H

#include "base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_milp;

enum yk_milp_outcome {
    YK_MILP_OPTIMAL,           /* the solution is optimal within the requested gap */
    YK_MILP_FEASIBLE,          /* the solver stopped early with a solution */
    YK_MILP_NO_SOLUTION_FOUND, /* the solver stopped early without a solution */
    YK_MILP_INFEASIBLE,
    YK_MILP_UNBOUNDED,
};

struct yk_milp_options {
    bool relaxed;    /* solve the linear relaxation: integer columns may have fractional values */
    double budget_s; /* limit of the wall-clock time */
    double gap;      /* stop when (objective - bound) / objective is at most this number */
    const double *start;     /* (columns) initial solution; may be NULL */
    const atomic_bool *stop; /* the solver stops when another thread sets it to true; may be NULL */
};

struct yk_milp_result {
    enum yk_milp_outcome outcome;
    double objective; /* objective of the solution `values` */
    double bound;     /* lower bound of the objective; -INFINITY means: unknown */
    double seconds;   /* wall-clock time of the solve */
    double *values;   /* (columns) the solution; NULL means: no solution was found */
    double *prices; /* (rows) dual values of a linear program; if the solver stopped early, they are
                       from its last iteration. NULL for integer programs */
};

yk_status yk_milp_create(struct yk_milp **out) YK_MUST_USE;
void yk_milp_destroy(struct yk_milp *milp);

/* Add a column or a row. `lower` and `upper` may be infinite. `*out` is the index of the column or
 * row. Indices start at 0 and follow the order of addition. */
yk_status yk_milp_add_column(struct yk_milp *milp, double lower, double upper, double objective,
                             bool integer, int32_t *out) YK_MUST_USE;
yk_status yk_milp_add_row(struct yk_milp *milp, double lower, double upper,
                          int32_t *out) YK_MUST_USE;

/* Adds `value` to the entry of a row and a column. Entries are initially 0. */
yk_status yk_milp_add_coefficient(struct yk_milp *milp, int32_t row, int32_t column,
                                  double value) YK_MUST_USE;

int32_t yk_milp_column_count(const struct yk_milp *milp);

/*
 * Solves a problem with at least one column. For an infeasible problem, returns YK_OK and the
 * outcome YK_MILP_INFEASIBLE. The arrays of the result are allocated in `arena`. The budget and the
 * stop flag take effect within about one second.
 */
yk_status yk_milp_solve(struct yk_milp *milp, const struct yk_milp_options *options,
                        struct yk_arena *arena, struct yk_milp_result *out) YK_MUST_USE;

#endif
