/*
 * Bounded fit: linear least squares with a few unknowns, each between 0 and a maximum. Only sums
 * over the rows are stored, not the rows.
 *
 * A row is an equation Σ parts[i] · x[i] = value with a weight. A fit is a plain struct,
 * initialized by yk_bounded_fit_begin(). One thread at a time.
 */
#ifndef YK_TRACE_BOUNDED_FIT_H
#define YK_TRACE_BOUNDED_FIT_H

#include <stdint.h>

enum {
    YK_BOUNDED_FIT_MAX_UNKNOWNS = 34 /* unknowns */
};

/* a: coefficients of a row, y: its value, w: its weight. */
struct yk_bounded_fit {
    int32_t count; /* unknowns */
    int64_t rows;  /* rows added */
    double products[YK_BOUNDED_FIT_MAX_UNKNOWNS *
                    YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* (count, count) Σ w · a · aᵀ */
    double values[YK_BOUNDED_FIT_MAX_UNKNOWNS];   /* (count) Σ w · a · y */
    double square;                                /* Σ w · y² */
    double weight;                                /* Σ w */
    double prior_products[YK_BOUNDED_FIT_MAX_UNKNOWNS *
                          YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* the same sums over priors */
    double prior_values[YK_BOUNDED_FIT_MAX_UNKNOWNS];
};

/* `count` is at most YK_BOUNDED_FIT_MAX_UNKNOWNS. */
void yk_bounded_fit_begin(struct yk_bounded_fit *fit, int32_t count);
void yk_bounded_fit_add_row(struct yk_bounded_fit *fit, const double *parts, double value,
                            double weight);

/*
 * Adds a prior: before any row, Σ parts[i] · x[i] is expected to be `value` with a standard
 * deviation d. Its weight is s²/d², where s is the standard deviation of a row of weight 1. Errors
 * of the solution count a prior as information; the residual deviation does not include it.
 */
void yk_bounded_fit_add_prior(struct yk_bounded_fit *fit, const double *parts, double value,
                              double weight);
void yk_bounded_fit_clear_priors(struct yk_bounded_fit *fit);

struct yk_bounded_fit_solution {
    int32_t count;
    double
        values[YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* (count) the unknowns; 0 for one that is in no row */
    double spread; /* residual standard deviation of a row of weight 1; INFINITY: too few rows */
    int64_t degrees_of_freedom;                  /* rows minus unknowns that are in a row */
    double lengths[YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* norms of the columns */
    double lower[YK_BOUNDED_FIT_MAX_UNKNOWNS *
                 YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* Cholesky factor of the products of the
                                columns, scaled to norm 1 */
    const struct yk_bounded_fit *fit;
};

/* Finds the unknowns between 0 and `max` (INFINITY: no upper bound) with the least squared error.
 * The solution points at the fit. */
void yk_bounded_fit_solve(const struct yk_bounded_fit *fit, double max,
                          struct yk_bounded_fit_solution *out);

/*
 * Returns Σ weights[i] · x[i], where the weights are between 0 and 1 and add up to 1. `error` is
 * half the width of its 95 % confidence interval, computed as if there were no bounds, with
 * Student's t distribution. It is INFINITY if the rows do not determine the sum: an unknown with a
 * weight is in no row, or its column is nearly a linear combination of others.
 */
double yk_bounded_fit_weighted_sum(const struct yk_bounded_fit_solution *solution,
                                   const double *weights, double *error);

#endif
