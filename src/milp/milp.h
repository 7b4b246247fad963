/*
 * MILP: a linear program, some of whose columns may have to be whole numbers; over the CBC
 * library.
 *
 *   minimise  Σ objective · x    with  lower ≤ Σ entry · x ≤ upper in every row
 *
 * A problem is built column by column, row by row and entry by entry, in any order, and may be
 * solved several times, with more added in between. One thread at a time. It is solved in a process
 * of its own (subprocess.h): where the library (cbc.h) aborts, the outcome is that of a timeout.
 */
#ifndef YK_MILP_MILP_H
#define YK_MILP_MILP_H

#include "base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_milp;

enum yk_milp_outcome {
    YK_MILP_OPTIMAL,  /* up to the gap that was allowed */
    YK_MILP_FEASIBLE, /* stopped with a solution */
    YK_MILP_UNKNOWN,  /* stopped without */
    YK_MILP_INFEASIBLE,
    YK_MILP_UNBOUNDED,
};

struct yk_milp_options {
    bool relaxed;            /* no column has to be whole */
    double budget_s;         /* wall clock */
    double gap;              /* relative to the objective: close enough to the bound to stop */
    const double *start;     /* (columns) a solution to begin with; NULL: none */
    const atomic_bool *stop; /* may be NULL */
};

struct yk_milp_result {
    enum yk_milp_outcome outcome;
    double objective; /* of `values` */
    double bound;     /* no solution has less; -INFINITY: nothing is known */
    double seconds;   /* wall clock */
    double *values;   /* (columns) NULL where there is no solution */
    double *prices; /* (rows) dual values, those of the last step where it was stopped; NULL unless
                       solved as a linear program */
};

yk_status yk_milp_create(struct yk_milp **out) YK_MUST_USE;
void yk_milp_destroy(struct yk_milp *milp);

/* Limits may be infinite. Columns and rows are numbered from 0 in the order they are added. */
yk_status yk_milp_add_column(struct yk_milp *milp, double lower, double upper, double objective,
                             bool whole, int32_t *out) YK_MUST_USE;
yk_status yk_milp_add_row(struct yk_milp *milp, double lower, double upper,
                          int32_t *out) YK_MUST_USE;

/* Adds `value` to the entry, which is 0 at first. */
yk_status yk_milp_add_entry(struct yk_milp *milp, int32_t row, int32_t column,
                            double value) YK_MUST_USE;

int32_t yk_milp_column_count(const struct yk_milp *milp);

/*
 * Solves the problem, which has at least one column. That it has no solution is an outcome, not a
 * failure. The result's arrays live in the arena. Budget and stop flag are kept to within about a
 * second.
 */
yk_status yk_milp_solve(struct yk_milp *milp, const struct yk_milp_options *options,
                        struct yk_arena *arena, struct yk_milp_result *out) YK_MUST_USE;

#endif
