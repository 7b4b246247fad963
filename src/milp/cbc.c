#include "milp/cbc.h"

#include "base/clock.h"

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The library's infinity is some large number. */
static const double most_finite = 1e20;

/* CBC, which ends in time by itself where it can, then knows a bound. */
static const double time_to_end_s = 0.25;

enum {
    SLICE = 1000 /* steps of the simplex method between looks at the clock */
};

/* A solve under way. */
struct solving {
    const struct yk_cbc_problem *problem;
    struct yk_cbc_result *answer;
    bool cut_short;
};

static bool has_ended(struct solving *solving, double grace_s)
{
    solving->cut_short = solving->cut_short || atomic_load(&solving->answer->ask) ||
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
    struct yk_cbc_result *answer = solving->answer;
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
        answer->outcome = YK_MILP_OPTIMAL;
        answer->objective = Clp_objectiveValue(model);
        answer->bound = answer->objective;
        answer->has_values = true;
        copy(Clp_getColSolution(model), problem->column_count, answer->values);
    } else if (state == CLP_INFEASIBLE) {
        answer->outcome = YK_MILP_INFEASIBLE;
    } else if (state == CLP_UNBOUNDED) {
        answer->outcome = YK_MILP_UNBOUNDED;
    }
    if (state == CLP_OPTIMAL || state == CLP_STOPPED) {
        answer->has_prices = true;
        copy(Clp_getRowPrice(model), problem->row_count, answer->prices);
    }
    Clp_deleteModel(model);
}

/* Called at every node: once the end is reached, a cut that nothing satisfies closes the node. */
static void cut_at_end(void *solver, void *cuts, void *data)
{
    const double one = 1;
    if (!has_ended(data, time_to_end_s)) {
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

static void prepare(struct solving *solving, Cbc_Model *model)
{
    /* These make the library of 2.10 abort in problems that are small, and are not missed: dives
     * and rounding stay. */
    static const char *const without[] = {"preprocess", "feasibilityPump", "RINS",
                                          "combineSolutions"};
    const struct yk_cbc_problem *problem = solving->problem;
    Cbc_loadProblem(model, problem->column_count, problem->row_count, problem->starts,
                    problem->rows, problem->values, problem->lower, problem->upper,
                    problem->objective, problem->row_lower, problem->row_upper);
    for (int32_t i = 0; i < problem->column_count; i++) {
        if (problem->whole[i]) {
            Cbc_setInteger(model, i);
        }
    }
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "log", "0");
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        Cbc_setParameter(model, without[i], "off");
    }
    if (problem->plain) {
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

/* What was found, if anything. */
static void take_over(const struct solving *solving, Cbc_Model *model)
{
    const struct yk_cbc_problem *problem = solving->problem;
    struct yk_cbc_result *answer = solving->answer;
    const double *best = Cbc_bestSolution(model);
    const bool finished = !solving->cut_short && Cbc_status(model) == 0;
    if (!best) {
        if (Cbc_isContinuousUnbounded(model)) {
            answer->outcome = YK_MILP_UNBOUNDED;
        } else if (finished && Cbc_isProvenInfeasible(model)) {
            answer->outcome = YK_MILP_INFEASIBLE;
        }
        return;
    }
    answer->outcome = finished ? YK_MILP_OPTIMAL : YK_MILP_FEASIBLE;
    answer->objective = Cbc_getObjValue(model);
    answer->has_values = true;
    copy(best, problem->column_count, answer->values);
    if (finished) {
        /* Nodes closer than the gap were given up. */
        answer->bound = answer->objective - problem->gap * fabs(answer->objective);
    } else if (!solving->cut_short) {
        answer->bound = fmin(answer->objective, Cbc_getBestPossibleObjValue(model));
    }
}

static void solve_whole(struct solving *solving)
{
    Cbc_Model *model = Cbc_newModel();
    prepare(solving, model);
    (void)Cbc_solve(model);
    take_over(solving, model);
    Cbc_deleteModel(model);
}

void yk_cbc_solve(const struct yk_cbc_problem *problem, struct yk_cbc_result *answer)
{
    struct solving solving = {.problem = problem, .answer = answer};
    answer->outcome = YK_MILP_UNKNOWN;
    answer->bound = -INFINITY;
    if (problem->linear) {
        solve_linear(&solving);
    } else {
        solve_whole(&solving);
    }
}
