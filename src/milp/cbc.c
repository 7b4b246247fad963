#include "milp/cbc.h"

#include "base/clock.h"

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The library represents infinity by a large number. */
static const double max_finite = 1e20;

/* How long after the deadline CBC may stop by itself, since it reports a bound then. */
static const double time_to_end_s = 0.25;

enum {
    SLICE = 1000 /* simplex iterations between checks of the clock */
};

struct solving {
    const struct yk_cbc_problem *problem;
    struct yk_cbc_result *result;
    bool cut_short;
};

static bool has_ended(struct solving *solving, double grace_s)
{
    solving->cut_short = solving->cut_short || atomic_load(&solving->result->stop_requested) ||
                         yk_clock_now_s() >= solving->problem->end_s + grace_s;
    return solving->cut_short;
}

static void copy(const double *from, int32_t count, double *to)
{
    if (count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
}

static void solve_linear(struct solving *solving)
{
    enum {
        CLP_OPTIMAL,
        CLP_INFEASIBLE,
        CLP_UNBOUNDED,
        CLP_STOPPED
    };
    const struct yk_cbc_problem *problem = solving->problem;
    struct yk_cbc_result *result = solving->result;
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
        result->outcome = YK_MILP_OPTIMAL;
        result->objective = Clp_objectiveValue(model);
        result->bound = result->objective;
        result->has_values = true;
        copy(Clp_getColSolution(model), problem->column_count, result->values);
    } else if (state == CLP_INFEASIBLE) {
        result->outcome = YK_MILP_INFEASIBLE;
    } else if (state == CLP_UNBOUNDED) {
        result->outcome = YK_MILP_UNBOUNDED;
    }
    if (state == CLP_OPTIMAL || state == CLP_STOPPED) {
        result->has_prices = true;
        copy(Clp_getRowPrice(model), problem->row_count, result->prices);
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
    const struct yk_cbc_problem *problem = solving->problem;
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

static void copy_result(const struct solving *solving, Cbc_Model *model)
{
    const struct yk_cbc_problem *problem = solving->problem;
    struct yk_cbc_result *result = solving->result;
    const double *best = Cbc_bestSolution(model);
    const bool finished = !solving->cut_short && Cbc_status(model) == 0;
    if (!best) {
        if (Cbc_isContinuousUnbounded(model)) {
            result->outcome = YK_MILP_UNBOUNDED;
        } else if (finished && Cbc_isProvenInfeasible(model)) {
            result->outcome = YK_MILP_INFEASIBLE;
        }
        return;
    }
    result->outcome = finished ? YK_MILP_OPTIMAL : YK_MILP_FEASIBLE;
    result->objective = Cbc_getObjValue(model);
    result->has_values = true;
    copy(best, problem->column_count, result->values);
    if (finished) {
        /* Nodes within the gap were pruned. */
        result->bound = result->objective - problem->gap * fabs(result->objective);
    } else if (!solving->cut_short) {
        result->bound = fmin(result->objective, Cbc_getBestPossibleObjValue(model));
    }
}

static void solve_integer(struct solving *solving)
{
    Cbc_Model *model = Cbc_newModel();
    prepare(solving, model);
    (void)Cbc_solve(model);
    copy_result(solving, model);
    Cbc_deleteModel(model);
}

void yk_cbc_solve(const struct yk_cbc_problem *problem, struct yk_cbc_result *result)
{
    struct solving solving = {.problem = problem, .result = result};
    result->outcome = YK_MILP_UNKNOWN;
    result->bound = -INFINITY;
    if (problem->linear) {
        solve_linear(&solving);
    } else {
        solve_integer(&solving);
    }
}
