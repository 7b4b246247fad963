/*
 * CBC: the library of that name, and Clp for linear programs, with plain arrays as input and
 * output. It prints, keeps globals, and at times aborts: call it in a process of its own
 * (milp/subprocess.h), once for each process.
 */
#ifndef YK_MILP_CBC_H
#define YK_MILP_CBC_H

#include "milp/milp.h"

/* Column by column. */
struct yk_cbc_problem {
    int32_t column_count;
    int32_t row_count;
    int *starts;    /* (columns + 1) of each column's entries */
    int *rows;      /* (entries) */
    double *values; /* (entries) */
    double *lower;  /* (columns) */
    double *upper;
    double *objective;
    bool *whole;
    double *row_lower; /* (rows) */
    double *row_upper;
    const double *start; /* (columns) or NULL */
    bool linear;         /* no column is whole, or none need be */
    bool plain;          /* without cuts: slower, but less goes wrong */
    double gap;
    double end_s; /* by the clock */
};

/* In shared memory. */
struct yk_cbc_result {
    atomic_bool stop_requested; /* set from outside: it is to end soon */
    enum yk_milp_outcome outcome;
    double objective;
    double bound;
    bool has_values;
    bool has_prices;
    double *values; /* (columns) */
    double *prices; /* (rows) */
};

void yk_cbc_solve(const struct yk_cbc_problem *problem, struct yk_cbc_result *result);

#endif
