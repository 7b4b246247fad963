#include "milp/milp.h"

#include "base/clock.h"
#include "base/grow.h"

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's infinity is some large number. */
static const double most_finite = 1e20;

enum {
    SLICE = 1000 /* steps of the simplex method between looks at the clock */
};

struct limits {
    double lower;
    double upper;
};

struct column {
    struct limits limits;
    double objective;
    bool whole;
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

/* The same column by column, as the library takes it. */
struct matrix {
    CoinBigIndex *starts; /* (columns + 1) */
    int *rows;            /* (entries) */
    double *values;       /* (entries) */
    double *lower;        /* (columns) */
    double *upper;
    double *objective;
    double *row_lower; /* (rows) */
    double *row_upper;
};

/* When a solve has to end. */
struct end {
    double at_s;
    const atomic_bool *stop;
    bool reached; /* and therefore solved in part only */
};

/* CBC keeps some of its state in globals. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

yk_status yk_milp_create(struct yk_milp **out)
{
    struct yk_milp *milp = calloc(1, sizeof *milp);
    if (!milp) {
        return yk_fail_out_of_memory();
    }
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
                             bool whole, int32_t *out)
{
    YK_TRY(yk_grow((void **)&milp->columns, &milp->column_capacity, milp->column_count,
                   sizeof *milp->columns));
    milp->columns[milp->column_count] = (struct column){{lower, upper}, objective, whole};
    *out = milp->column_count++;
    return YK_OK;
}

yk_status yk_milp_add_row(struct yk_milp *milp, double lower, double upper, int32_t *out)
{
    YK_TRY(yk_grow((void **)&milp->rows, &milp->row_capacity, milp->row_count, sizeof *milp->rows));
    milp->rows[milp->row_count] = (struct limits){lower, upper};
    *out = milp->row_count++;
    return YK_OK;
}

yk_status yk_milp_add_entry(struct yk_milp *milp, int32_t row, int32_t column, double value)
{
    YK_TRY(yk_grow((void **)&milp->entries, &milp->entry_capacity, milp->entry_count,
                   sizeof *milp->entries));
    milp->entries[milp->entry_count++] = (struct entry){row, column, value};
    return YK_OK;
}

int32_t yk_milp_column_count(const struct yk_milp *milp)
{
    return milp->column_count;
}

int32_t yk_milp_row_count(const struct yk_milp *milp)
{
    return milp->row_count;
}

/* By column, then by row. */
static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    const int by_column = (x->column > y->column) - (x->column < y->column);
    return by_column ? by_column : (x->row > y->row) - (x->row < y->row);
}

/* Entries named twice become one. */
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

static yk_status arrange(struct yk_milp *milp, struct yk_arena *arena, struct matrix *out)
{
    const int32_t columns = milp->column_count;
    sort_entries(milp);
    YK_TRY_NEW(arena, out->starts, columns + 1);
    YK_TRY_NEW(arena, out->rows, milp->entry_count);
    YK_TRY_NEW(arena, out->values, milp->entry_count);
    YK_TRY_NEW(arena, out->lower, columns);
    YK_TRY_NEW(arena, out->upper, columns);
    YK_TRY_NEW(arena, out->objective, columns);
    YK_TRY_NEW(arena, out->row_lower, milp->row_count);
    YK_TRY_NEW(arena, out->row_upper, milp->row_count);
    for (int32_t i = 0; i < milp->entry_count; i++) {
        out->starts[milp->entries[i].column + 1]++;
        out->rows[i] = milp->entries[i].row;
        out->values[i] = milp->entries[i].value;
    }
    for (int32_t i = 0; i < columns; i++) {
        out->starts[i + 1] += out->starts[i];
        out->lower[i] = milp->columns[i].limits.lower;
        out->upper[i] = milp->columns[i].limits.upper;
        out->objective[i] = milp->columns[i].objective;
    }
    for (int32_t i = 0; i < milp->row_count; i++) {
        out->row_lower[i] = milp->rows[i].lower;
        out->row_upper[i] = milp->rows[i].upper;
    }
    return YK_OK;
}

static bool has_ended(struct end *end, double grace_s)
{
    end->reached = end->reached || yk_clock_now_s() >= end->at_s + grace_s ||
                   (end->stop && atomic_load(end->stop));
    return end->reached;
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

static yk_status solve_linear(const struct yk_milp *milp, const struct matrix *matrix,
                              struct end *end, struct yk_arena *arena, struct yk_milp_result *out)
{
    enum {
        CLP_OPTIMAL,
        CLP_INFEASIBLE,
        CLP_UNBOUNDED,
        CLP_STOPPED
    };
    yk_status status = YK_OK;
    Clp_Simplex *model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, milp->column_count, milp->row_count, matrix->starts, matrix->rows,
                    matrix->values, matrix->lower, matrix->upper, matrix->objective,
                    matrix->row_lower, matrix->row_upper);
    int state = CLP_STOPPED;
    while (state == CLP_STOPPED && !has_ended(end, 0)) {
        Clp_setMaximumIterations(model, SLICE);
        Clp_primal(model, 0);
        state = Clp_status(model);
    }
    if (state == CLP_OPTIMAL) {
        out->outcome = YK_MILP_OPTIMAL;
        out->objective = Clp_objectiveValue(model);
        out->bound = out->objective;
        YK_TRY_GOTO(copy(arena, Clp_getColSolution(model), milp->column_count, &out->values), done);
    } else if (state == CLP_INFEASIBLE) {
        out->outcome = YK_MILP_INFEASIBLE;
    } else if (state == CLP_UNBOUNDED) {
        out->outcome = YK_MILP_UNBOUNDED;
    }
    if (state == CLP_OPTIMAL || state == CLP_STOPPED) {
        YK_TRY_GOTO(copy(arena, Clp_getRowPrice(model), milp->row_count, &out->prices), done);
    }
done:
    Clp_deleteModel(model);
    return status;
}

/* CBC, which ends in time by itself where it can, then knows a bound. */
static const double time_to_end_s = 0.25;

/* Called at every node: once the end is reached, a cut that nothing satisfies closes the node. */
static void cut_at_end(void *solver, void *cuts, void *data)
{
    struct end *end = data;
    const double one = 1;
    if (!has_ended(end, time_to_end_s)) {
        return;
    }
    for (int column = 0; column < Osi_getNumCols(solver); column++) {
        const double upper = Osi_getColUpper(solver)[column];
        const double lower = Osi_getColLower(solver)[column];
        if (fabs(upper) < most_finite || fabs(lower) < most_finite) {
            const bool above = fabs(upper) < most_finite;
            OsiCuts_addRowCut(cuts, 1, &column, &one, above ? 'G' : 'L',
                              above ? upper + 1 : lower - 1);
            return;
        }
    }
}

static void set_number(Cbc_Model *model, const char *name, double value)
{
    char words[64];
    snprintf(words, sizeof words, "%.9g", value);
    Cbc_setParameter(model, name, words);
}

static void prepare(const struct yk_milp *milp, const struct matrix *matrix,
                    const struct yk_milp_options *options, struct end *end, Cbc_Model *model)
{
    Cbc_loadProblem(model, milp->column_count, milp->row_count, matrix->starts, matrix->rows,
                    matrix->values, matrix->lower, matrix->upper, matrix->objective,
                    matrix->row_lower, matrix->row_upper);
    for (int32_t i = 0; i < milp->column_count; i++) {
        if (milp->columns[i].whole) {
            Cbc_setInteger(model, i);
        }
    }
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "log", "0");
    /* Preprocessing prints whatever the log level is. */
    Cbc_setParameter(model, "preprocess", "off");
    Cbc_setParameter(model, "timeMode", "elapsed");
    set_number(model, "seconds", fmax(0.01, end->at_s - yk_clock_now_s()));
    set_number(model, "ratioGap", options->gap);
    if (options->start) {
        Cbc_setInitialSolution(model, options->start);
    }
    Cbc_addCutCallback(model, cut_at_end, "end", end);
}

/* What the library found, if anything. */
static yk_status take_over(const struct yk_milp *milp, Cbc_Model *model,
                           const struct yk_milp_options *options, const struct end *end,
                           struct yk_arena *arena, struct yk_milp_result *out)
{
    const double *best = Cbc_bestSolution(model);
    const bool finished = !end->reached && Cbc_status(model) == 0;
    if (!best) {
        if (Cbc_isContinuousUnbounded(model)) {
            out->outcome = YK_MILP_UNBOUNDED;
        } else if (finished && Cbc_isProvenInfeasible(model)) {
            out->outcome = YK_MILP_INFEASIBLE;
        }
        return YK_OK;
    }
    out->outcome = finished ? YK_MILP_OPTIMAL : YK_MILP_FEASIBLE;
    out->objective = Cbc_getObjValue(model);
    if (!end->reached) {
        /* Nodes closer than the gap were given up. */
        const double given_up = finished ? options->gap * fabs(out->objective) : 0;
        out->bound = fmin(out->objective - given_up, Cbc_getBestPossibleObjValue(model));
    }
    return copy(arena, best, milp->column_count, &out->values);
}

static yk_status solve_whole(const struct yk_milp *milp, const struct matrix *matrix,
                             const struct yk_milp_options *options, struct end *end,
                             struct yk_arena *arena, struct yk_milp_result *out)
{
    Cbc_Model *model = Cbc_newModel();
    prepare(milp, matrix, options, end, model);
    (void)Cbc_solve(model);
    const yk_status status = take_over(milp, model, options, end, arena, out);
    Cbc_deleteModel(model);
    return status;
}

/* Without time to solve anything, the start is what there is. */
static yk_status keep_start(const struct yk_milp *milp, const struct yk_milp_options *options,
                            struct yk_arena *arena, struct yk_milp_result *out)
{
    if (!options->start) {
        return YK_OK;
    }
    out->outcome = YK_MILP_FEASIBLE;
    for (int32_t i = 0; i < milp->column_count; i++) {
        out->objective += milp->columns[i].objective * options->start[i];
    }
    return copy(arena, options->start, milp->column_count, &out->values);
}

static bool is_linear(const struct yk_milp *milp, const struct yk_milp_options *options)
{
    for (int32_t i = 0; !options->relaxed && i < milp->column_count; i++) {
        if (milp->columns[i].whole) {
            return false;
        }
    }
    return true;
}

static yk_status solve(struct yk_milp *milp, const struct yk_milp_options *options, struct end *end,
                       struct yk_arena *arena, struct yk_milp_result *out)
{
    struct yk_arena *work = NULL;
    struct matrix matrix = {0};
    if (has_ended(end, 0)) {
        return keep_start(milp, options, arena, out);
    }
    YK_TRY(yk_arena_create(&work));
    yk_status status = arrange(milp, work, &matrix);
    if (status == YK_OK) {
        pthread_mutex_lock(&turn);
        status = is_linear(milp, options) ? solve_linear(milp, &matrix, end, arena, out)
                                          : solve_whole(milp, &matrix, options, end, arena, out);
        pthread_mutex_unlock(&turn);
    }
    yk_arena_destroy(work);
    return status;
}

yk_status yk_milp_solve(struct yk_milp *milp, const struct yk_milp_options *options,
                        struct yk_arena *arena, struct yk_milp_result *out)
{
    const double begin_s = yk_clock_now_s();
    struct end end = {.at_s = begin_s + options->budget_s, .stop = options->stop};
    struct yk_milp_result result = {.outcome = YK_MILP_UNKNOWN, .bound = -INFINITY};
    YK_TRY(solve(milp, options, &end, arena, &result));
    result.seconds = yk_clock_now_s() - begin_s;
    *out = result;
    return YK_OK;
}
