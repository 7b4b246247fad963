#include "milp/milp.h"

#include "base/array.h"
#include "base/clock.h"
#include "milp/cbc.h"
#include "milp/subprocess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From the request to stop until the solver is killed. */
static const double grace_s = 1;

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
    YK_TRY_MEMORY(milp);
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
    YK_TRY(yk_array_grow((void **)&milp->columns, &milp->column_capacity, milp->column_count,
                         sizeof *milp->columns));
    milp->columns[milp->column_count] = (struct column){{lower, upper}, objective, integer};
    *out = milp->column_count++;
    return YK_OK;
}

yk_status yk_milp_add_row(struct yk_milp *milp, double lower, double upper, int32_t *out)
{
    YK_TRY(yk_array_grow((void **)&milp->rows, &milp->row_capacity, milp->row_count,
                         sizeof *milp->rows));
    milp->rows[milp->row_count] = (struct limits){lower, upper};
    *out = milp->row_count++;
    return YK_OK;
}

yk_status yk_milp_add_entry(struct yk_milp *milp, int32_t row, int32_t column, double value)
{
    YK_TRY(yk_array_grow((void **)&milp->entries, &milp->entry_capacity, milp->entry_count,
                         sizeof *milp->entries));
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

/* Converts to compressed sparse columns. */
static yk_status arrange(struct yk_milp *milp, struct yk_arena *arena, struct yk_cbc_problem *out)
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

static yk_status copy(struct yk_arena *arena, const double *from, int32_t count, double **out)
{
    double *to = NULL;
    YK_TRY_NEW(arena, to, count);
    if (count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
    *out = to;
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
        (out->outcome != YK_MILP_FEASIBLE && out->outcome != YK_MILP_UNKNOWN)) {
        return YK_OK;
    }
    out->outcome = YK_MILP_FEASIBLE;
    out->objective = objective;
    return copy(arena, start, milp->column_count, &out->values);
}

struct exchange {
    const struct yk_cbc_problem *problem;
    struct yk_cbc_result *result;
};

static void solve_in_subprocess(void *data)
{
    const struct exchange *exchange = data;
    yk_cbc_solve(exchange->problem, exchange->result);
}

static yk_status copy_result(const struct yk_cbc_problem *problem,
                             const struct yk_cbc_result *result, struct yk_arena *arena,
                             struct yk_milp_result *out)
{
    out->outcome = result->outcome;
    out->objective = result->objective;
    out->bound = result->bound;
    if (result->has_values) {
        YK_TRY(copy(arena, result->values, problem->column_count, &out->values));
    }
    return result->has_prices ? copy(arena, result->prices, problem->row_count, &out->prices)
                              : YK_OK;
}

/* `*out_returned` is false if the library crashed or was killed. */
static yk_status run_solver(const struct yk_cbc_problem *problem,
                            const struct yk_milp_options *options, struct yk_arena *arena,
                            struct yk_milp_result *out, bool *out_returned)
{
    const size_t columns = (size_t)problem->column_count;
    const size_t numbers = columns + (size_t)problem->row_count;
    const size_t bytes = sizeof(struct yk_cbc_result) + numbers * sizeof(double);
    struct yk_cbc_result *result = yk_subprocess_allocate_shared(bytes);
    bool returned = false;
    YK_TRY_MEMORY(result);
    result->values = (double *)(result + 1);
    result->prices = result->values + columns;
    const struct yk_subprocess_limits limits = {.end_s = problem->end_s,
                                                .grace_s = grace_s,
                                                .stop = options->stop,
                                                .stop_requested = &result->stop_requested};
    struct exchange exchange = {problem, result};
    yk_status status = yk_subprocess_run(solve_in_subprocess, &exchange, &limits, &returned);
    if (status == YK_OK && returned) {
        status = copy_result(problem, result, arena, out);
    }
    *out_returned = returned;
    yk_subprocess_free_shared(result, bytes);
    return status;
}

static bool has_ended(const struct yk_milp_options *options, double end_s)
{
    return yk_clock_now_s() >= end_s || (options->stop && atomic_load(options->stop));
}

static yk_status solve(struct yk_milp *milp, const struct yk_milp_options *options, double end_s,
                       struct yk_arena *arena, struct yk_milp_result *out)
{
    struct yk_cbc_problem problem = {.start = options->start, .gap = options->gap, .end_s = end_s};
    struct yk_arena *work = NULL;
    bool returned = true;
    YK_TRY(yk_arena_create(&work));
    yk_status status = arrange(milp, work, &problem);
    problem.linear = problem.linear || options->relaxed;
    YK_THEN(run_solver(&problem, options, arena, out, &returned));
    if (status == YK_OK && !returned && !has_ended(options, end_s)) {
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
    struct yk_milp_result result = {.outcome = YK_MILP_UNKNOWN, .bound = -INFINITY};
    if (!has_ended(options, begin_s + options->budget_s)) {
        YK_TRY(solve(milp, options, begin_s + options->budget_s, arena, &result));
    }
    YK_TRY(use_start(milp, options->start, arena, &result));
    result.seconds = yk_clock_now_s() - begin_s;
    *out = result;
    return YK_OK;
}
