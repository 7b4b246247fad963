#include "milp/milp.h"

#include "base/array.h"
#include "base/clock.h"
#include "milp/subprocess.h"

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the request to stop until the solver is killed. */
static const double grace_s = 1;

/* The library represents infinity by a large number. */
static const double max_finite = 1e20;

/* How long after the deadline CBC may stop by itself, since it reports a bound then. */
static const double time_to_end_s = 0.25;

enum {
    SLICE = 1000 /* simplex iterations between checks of the clock */
};

static const struct yk_milp_result nothing_found = {
    .outcome = YK_MILP_NO_SOLUTION_FOUND,
    .bound = -INFINITY,
};

struct limits {
    double lower;
    double upper;
};

struct column {
    struct limits limits;
    double objective;
    bool integer;
};

struct entry {
    int32_t row;
    int32_t column;
    double value;
};

struct yk_milp {
    struct column *columns;
    struct limits *rows;
    struct entry *entries;
    int32_t column_count;
    int32_t column_capacity;
    int32_t row_count;
    int32_t row_capacity;
    int32_t entry_count;
    int32_t entry_capacity;
};

yk_status yk_milp_create(struct yk_milp **out)
{
    struct yk_milp *milp = calloc(1, sizeof *milp);
    YK_TRY_ALLOCATED(milp);
    *out = milp;
    return YK_OK;
}

void yk_milp_destroy(struct yk_milp *milp)
{
    if (milp) {
        free(milp->columns);
        free(milp->rows);
        free(milp->entries);
        free(milp);
    }
}

yk_status yk_milp_add_column(struct yk_milp *milp, double lower, double upper, double objective,
                             bool integer, int32_t *out)
{
    YK_TRY_GROW_ARRAY(milp->columns, milp->column_capacity, milp->column_count);
    milp->columns[milp->column_count] = (struct column){{lower, upper}, objective, integer};
    *out = milp->column_count++;
    return YK_OK;
}

yk_status yk_milp_add_row(struct yk_milp *milp, double lower, double upper, int32_t *out)
{
    YK_TRY_GROW_ARRAY(milp->rows, milp->row_capacity, milp->row_count);
    milp->rows[milp->row_count] = (struct limits){lower, upper};
    *out = milp->row_count++;
    return YK_OK;
}

yk_status yk_milp_add_coefficient(struct yk_milp *milp, int32_t row, int32_t column, double value)
{
    YK_TRY_GROW_ARRAY(milp->entries, milp->entry_capacity, milp->entry_count);
    milp->entries[milp->entry_count++] = (struct entry){row, column, value};
    return YK_OK;
}

int32_t yk_milp_column_count(const struct yk_milp *milp)
{
    return milp->column_count;
}

/* By column, then by row. */
static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    const int by_column = (x->column > y->column) - (x->column < y->column);
    return by_column ? by_column : (x->row > y->row) - (x->row < y->row);
}

/* Sorts entries and adds up those of the same row and column. */
static void sort_entries(struct yk_milp *milp)
{
    int32_t count = 0;
    if (milp->entry_count > 0) {
        qsort(milp->entries, (size_t)milp->entry_count, sizeof *milp->entries, compare_entries);
    }
    for (int32_t i = 0; i < milp->entry_count; i++) {
        if (count > 0 && compare_entries(&milp->entries[count - 1], &milp->entries[i]) == 0) {
            milp->entries[count - 1].value += milp->entries[i].value;
        } else {
            milp->entries[count++] = milp->entries[i];
        }
    }
    milp->entry_count = count;
}

/* A problem in compressed sparse column format. */
struct problem {
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

/* Lives in memory shared by the parent process and the solver's. */
struct shared_result {
    atomic_bool stop_requested; /* set by the parent process to end the solver */
    struct yk_milp_result found;
    double *values; /* (columns) memory for found.values */
    double *prices; /* (rows) memory for found.prices */
};

/* Converts to compressed sparse columns. */
static yk_status arrange(struct yk_milp *milp, struct yk_arena *arena, struct problem *out)
{
    const int32_t columns = milp->column_count;
    sort_entries(milp);
    out->column_count = columns;
    out->row_count = milp->row_count;
    YK_TRY_NEW(arena, out->starts, columns + 1);
    YK_TRY_NEW(arena, out->rows, milp->entry_count);
    YK_TRY_NEW(arena, out->values, milp->entry_count);
    YK_TRY_NEW(arena, out->lower, columns);
    YK_TRY_NEW(arena, out->upper, columns);
    YK_TRY_NEW(arena, out->objective, columns);
    YK_TRY_NEW(arena, out->integer, columns);
    YK_TRY_NEW(arena, out->row_lower, milp->row_count);
    YK_TRY_NEW(arena, out->row_upper, milp->row_count);
    for (int32_t i = 0; i < milp->entry_count; i++) {
        out->starts[milp->entries[i].column + 1]++;
        out->rows[i] = milp->entries[i].row;
        out->values[i] = milp->entries[i].value;
    }
    out->linear = true;
    for (int32_t i = 0; i < columns; i++) {
        out->starts[i + 1] += out->starts[i];
        out->lower[i] = milp->columns[i].limits.lower;
        out->upper[i] = milp->columns[i].limits.upper;
        out->objective[i] = milp->columns[i].objective;
        out->integer[i] = milp->columns[i].integer;
        out->linear = out->linear && !out->integer[i];
    }
    for (int32_t i = 0; i < milp->row_count; i++) {
        out->row_lower[i] = milp->rows[i].lower;
        out->row_upper[i] = milp->rows[i].upper;
    }
    return YK_OK;
}

/* ---- the solver, CBC for integer programs and Clp for linear ones ----
 *
 * The libraries print, have global state and sometimes abort. So they are called only once per
 * process, in a forked process (milp/subprocess.h). */

struct solving {
    const struct problem *problem;
    struct shared_result *result;
    bool cut_short;
};

static bool has_ended(struct solving *solving, double more_s)
{
    solving->cut_short = solving->cut_short || atomic_load(&solving->result->stop_requested) ||
                         yk_clock_now_s() >= solving->problem->end_s + more_s;
    return solving->cut_short;
}

/* Returns `to`. */
static double *copy(const double *from, int32_t count, double *to)
{
    if (count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
    return to;
}

static void solve_linear(struct solving *solving)
{
    enum {
        CLP_OPTIMAL,
        CLP_INFEASIBLE,
        CLP_UNBOUNDED,
        CLP_STOPPED
    };
    const struct problem *problem = solving->problem;
    struct yk_milp_result *found = &solving->result->found;
    Clp_Simplex *model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, problem->column_count, problem->row_count, problem->starts,
                    problem->rows, problem->values, problem->lower, problem->upper,
                    problem->objective, problem->row_lower, problem->row_upper);
    int state = CLP_STOPPED;
    while (state == CLP_STOPPED && !has_ended(solving, 0)) {
        Clp_setMaximumIterations(model, SLICE);
        Clp_primal(model, 0);
        state = Clp_status(model);
    }
    if (state == CLP_OPTIMAL) {
        found->outcome = YK_MILP_OPTIMAL;
        found->objective = Clp_objectiveValue(model);
        found->bound = found->objective;
        found->values =
            copy(Clp_getColSolution(model), problem->column_count, solving->result->values);
    } else if (state == CLP_INFEASIBLE) {
        found->outcome = YK_MILP_INFEASIBLE;
    } else if (state == CLP_UNBOUNDED) {
        found->outcome = YK_MILP_UNBOUNDED;
    }
    if (state == CLP_OPTIMAL || state == CLP_STOPPED) {
        found->prices = copy(Clp_getRowPrice(model), problem->row_count, solving->result->prices);
    }
    Clp_deleteModel(model);
}

/* Called at every node. After the deadline, adds an infeasible cut, which closes the node. */
static void cut_at_end(void *solver, void *cuts, void *data)
{
    const double one = 1;
    if (!has_ended(data, time_to_end_s)) {
        return;
    }
    for (int column = 0; column < Osi_getNumCols(solver); column++) {
        const double upper = Osi_getColUpper(solver)[column];
        const double lower = Osi_getColLower(solver)[column];
        if (fabs(upper) < max_finite || fabs(lower) < max_finite) {
            const bool above = fabs(upper) < max_finite;
            OsiCuts_addRowCut(cuts, 1, &column, &one, above ? 'G' : 'L',
                              above ? upper + 1 : lower - 1);
            return;
        }
    }
}

static void set_number(Cbc_Model *model, const char *name, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.9g", value);
    Cbc_setParameter(model, name, text);
}

static void prepare(struct solving *solving, Cbc_Model *model)
{
    /* These make version 2.10 abort on small problems. Dives and rounding remain enabled. */
    static const char *const disabled[] = {"preprocess", "feasibilityPump", "RINS",
                                           "combineSolutions"};
    const struct problem *problem = solving->problem;
    Cbc_loadProblem(model, problem->column_count, problem->row_count, problem->starts,
                    problem->rows, problem->values, problem->lower, problem->upper,
                    problem->objective, problem->row_lower, problem->row_upper);
    for (int32_t i = 0; i < problem->column_count; i++) {
        if (problem->integer[i]) {
            Cbc_setInteger(model, i);
        }
    }
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "log", "0");
    for (size_t i = 0; i < sizeof disabled / sizeof disabled[0]; i++) {
        Cbc_setParameter(model, disabled[i], "off");
    }
    if (problem->no_cuts) {
        Cbc_setParameter(model, "cutsOnOff", "off");
    }
    Cbc_setParameter(model, "timeMode", "elapsed");
    set_number(model, "seconds", fmax(0.01, problem->end_s - yk_clock_now_s()));
    set_number(model, "ratioGap", problem->gap);
    if (problem->start) {
        Cbc_setInitialSolution(model, problem->start);
    }
    Cbc_addCutCallback(model, cut_at_end, "end", solving);
}

static void read_solution(const struct solving *solving, Cbc_Model *model)
{
    const struct problem *problem = solving->problem;
    struct yk_milp_result *found = &solving->result->found;
    const double *best = Cbc_bestSolution(model);
    const bool finished = !solving->cut_short && Cbc_status(model) == 0;
    if (!best) {
        if (Cbc_isContinuousUnbounded(model)) {
            found->outcome = YK_MILP_UNBOUNDED;
        } else if (finished && Cbc_isProvenInfeasible(model)) {
            found->outcome = YK_MILP_INFEASIBLE;
        }
        return;
    }
    found->outcome = finished ? YK_MILP_OPTIMAL : YK_MILP_FEASIBLE;
    found->objective = Cbc_getObjValue(model);
    found->values = copy(best, problem->column_count, solving->result->values);
    if (finished) {
        /* Nodes within the gap were pruned. */
        found->bound = found->objective - problem->gap * fabs(found->objective);
    } else if (!solving->cut_short) {
        found->bound = fmin(found->objective, Cbc_getBestPossibleObjValue(model));
    }
}

static void solve_integer(struct solving *solving)
{
    Cbc_Model *model = Cbc_newModel();
    prepare(solving, model);
    (void)Cbc_solve(model);
    read_solution(solving, model);
    Cbc_deleteModel(model);
}

static void solve_in_subprocess(void *data)
{
    struct solving *solving = data;
    solving->result->found = nothing_found;
    if (solving->problem->linear) {
        solve_linear(solving);
    } else {
        solve_integer(solving);
    }
}

/* ---- the parent process ---- */

/* Replaces an array, which may be NULL, by a copy in the arena. */
static yk_status copy_to_arena(struct yk_arena *arena, int32_t count, double **array)
{
    const double *from = *array;
    if (from) {
        YK_TRY_NEW(arena, *array, count);
        copy(from, count, *array);
    }
    return YK_OK;
}

/* Falls back to the initial solution if the solver found none that is better. */
static yk_status use_start(const struct yk_milp *milp, const double *start, struct yk_arena *arena,
                           struct yk_milp_result *out)
{
    double objective = 0;
    for (int32_t i = 0; start && i < milp->column_count; i++) {
        objective += milp->columns[i].objective * start[i];
    }
    if (!start || (out->outcome == YK_MILP_FEASIBLE && out->objective <= objective) ||
        (out->outcome != YK_MILP_FEASIBLE && out->outcome != YK_MILP_NO_SOLUTION_FOUND)) {
        return YK_OK;
    }
    out->outcome = YK_MILP_FEASIBLE;
    out->objective = objective;
    YK_TRY_NEW(arena, out->values, milp->column_count);
    copy(start, milp->column_count, out->values);
    return YK_OK;
}

/* `*out_returned` is false if the library crashed or was killed. */
static yk_status run_solver(const struct problem *problem, const struct yk_milp_options *options,
                            struct yk_arena *arena, struct yk_milp_result *out, bool *out_returned)
{
    const size_t columns = (size_t)problem->column_count;
    const size_t numbers = columns + (size_t)problem->row_count;
    const size_t bytes = sizeof(struct shared_result) + numbers * sizeof(double);
    struct shared_result *result = yk_subprocess_allocate_shared(bytes);
    bool returned = false;
    YK_TRY_ALLOCATED(result);
    result->values = (double *)(result + 1);
    result->prices = result->values + columns;
    const struct yk_subprocess_limits limits = {.end_s = problem->end_s,
                                                .grace_s = grace_s,
                                                .stop = options->stop,
                                                .stop_requested = &result->stop_requested};
    struct solving solving = {.problem = problem, .result = result};
    yk_status status =
        yk_subprocess_run_function(solve_in_subprocess, &solving, &limits, &returned);
    if (status == YK_OK && returned) {
        *out = result->found;
        status = copy_to_arena(arena, problem->column_count, &out->values);
        YK_IF_OK(copy_to_arena(arena, problem->row_count, &out->prices));
    }
    *out_returned = returned;
    yk_subprocess_free_shared(result, bytes);
    return status;
}

static bool is_over(const struct yk_milp_options *options, double end_s)
{
    return yk_clock_now_s() >= end_s || (options->stop && atomic_load(options->stop));
}

static yk_status solve(struct yk_milp *milp, const struct yk_milp_options *options, double end_s,
                       struct yk_arena *arena, struct yk_milp_result *out)
{
    struct problem problem = {.start = options->start, .gap = options->gap, .end_s = end_s};
    struct yk_arena *work = NULL;
    bool returned = true;
    YK_TRY(yk_arena_create(&work));
    yk_status status = arrange(milp, work, &problem);
    problem.linear = problem.linear || options->relaxed;
    YK_IF_OK(run_solver(&problem, options, arena, out, &returned));
    if (status == YK_OK && !returned && !is_over(options, end_s)) {
        problem.no_cuts = true;
        status = run_solver(&problem, options, arena, out, &returned);
    }
    yk_arena_destroy(work);
    return status;
}

yk_status yk_milp_solve(struct yk_milp *milp, const struct yk_milp_options *options,
                        struct yk_arena *arena, struct yk_milp_result *out)
{
    const double begin_s = yk_clock_now_s();
    struct yk_milp_result result = nothing_found;
    if (!is_over(options, begin_s + options->budget_s)) {
        YK_TRY(solve(milp, options, begin_s + options->budget_s, arena, &result));
    }
    YK_TRY(use_start(milp, options->start, arena, &result));
    result.seconds = yk_clock_now_s() - begin_s;
    *out = result;
    return YK_OK;
}
