/*
 * CBC: calls the CBC library for integer programs and Clp for linear programs. The libraries print,
 * have global state and sometimes abort. So call this only once per process, in a forked process
 * (milp/subprocess.h).
 */
#ifndef YK_MILP_CBC_H
#define YK_MILP_CBC_H

#include "milp/milp.h"

/* A problem in compressed sparse column format. */
struct yk_cbc_problem {
    int32_t column_count;
    int32_t row_count;
    int *starts;         /* (columns + 1) index of each column's first entry */
    int *rows;           /* (entries) */
    double *values;      /* (entries) */
    double *lower;       /* (columns) */
    double *upper;       /* (columns) */
    double *objective;   /* (columns) */
    bool *integer;       /* (columns) */
    double *row_lower;   /* (rows) */
    double *row_upper;   /* (rows) */
    const double *start; /* (columns) initial solution, or NULL */
    bool linear;         /* ignore `integer` */
    bool no_cuts;        /* slower, but avoids crashes of the library */
    double gap;          /* relative gap between objective and bound to stop at */
    double end_s;        /* deadline, in the time of yk_clock_now_s() */
};

/* Lives in memory shared with the parent process. */
struct yk_cbc_result {
    atomic_bool stop_requested; /* set by the parent process to end the solver */
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
