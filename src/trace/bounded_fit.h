/*
 * Bounded fit: linear least squares with a few unknowns x[i], each between 0 and a maximum. A fit
 * stores only sums over the rows, not the rows themselves.
 *
 * A row is an equation with a weight: Σ parts[i] · x[i] = value. The column of an unknown consists
 * of its coefficients parts[i] in all rows. A fit is a plain struct that yk_bounded_fit_begin()
 * initializes. Only one thread at a time may use a fit.
 */
#ifndef YK_TRACE_BOUNDED_FIT_H
#define YK_TRACE_BOUNDED_FIT_H

#include <stdint.h>

enum {
    YK_BOUNDED_FIT_MAX_UNKNOWNS = 34
};

/* In the formulas, a are the coefficients of a row (`parts`), y is its value, and w its weight. */
struct yk_bounded_fit {
    int32_t count; /* number of unknowns */
    int64_t rows;  /* number of rows added so far */
    double products[YK_BOUNDED_FIT_MAX_UNKNOWNS *
                    YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* (count, count) Σ w · a · aᵀ */
    double values[YK_BOUNDED_FIT_MAX_UNKNOWNS];   /* (count) Σ w · a · y */
    double square;                                /* Σ w · y² */
    double weight;                                /* Σ w */
    double prior_products[YK_BOUNDED_FIT_MAX_UNKNOWNS *
                          YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* Σ w · a · aᵀ over the priors */
    double prior_values[YK_BOUNDED_FIT_MAX_UNKNOWNS];   /* Σ w · a · y over the priors */
};

/* Starts a fit of `count` unknowns, at most YK_BOUNDED_FIT_MAX_UNKNOWNS. */
void yk_bounded_fit_begin(struct yk_bounded_fit *fit, int32_t count);
void yk_bounded_fit_add_row(struct yk_bounded_fit *fit, const double *parts, double value,
                            double weight);

/*
 * Adds a prior, which is knowledge that does not come from the rows: Σ parts[i] · x[i] is expected
 * to be `value` with a standard deviation d. The weight of the prior is s²/d², where s is the
 * standard deviation of a row of weight 1. Priors reduce the error of
 * yk_bounded_fit_weighted_sum(), but `spread` is computed only from the rows.
 */
void yk_bounded_fit_add_prior(struct yk_bounded_fit *fit, const double *parts, double value,
                              double weight);
void yk_bounded_fit_clear_priors(struct yk_bounded_fit *fit);

struct yk_bounded_fit_solution {
    int32_t count;
    double values[YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* (count) the unknowns; 0 for an unknown that is
                                                   in no row */
    double spread; /* standard deviation of a row of weight 1; INFINITY means: too few rows */
    int64_t degrees_of_freedom;                  /* number of rows − number of unknowns in them */
    double lengths[YK_BOUNDED_FIT_MAX_UNKNOWNS]; /* (count) norm of each column, with priors */
    /* Cholesky factor of the products of all pairs of columns, each scaled to norm 1. */
    double lower[YK_BOUNDED_FIT_MAX_UNKNOWNS * YK_BOUNDED_FIT_MAX_UNKNOWNS];
    const struct yk_bounded_fit *fit;
};

/* Finds the unknowns between 0 and `max` that minimize the squared error. INFINITY as `max` means:
 * no upper bound. The solution keeps a pointer to the fit, so the fit must outlive it. */
void yk_bounded_fit_solve(const struct yk_bounded_fit *fit, double max,
                          struct yk_bounded_fit_solution *out);

/*
 * Returns Σ weights[i] · x[i]. The weights are between 0 and 1, and their sum is 1. `error` is half
 * the width of the 95 % confidence interval of the result. It is computed with Student's t
 * distribution, as if the unknowns had no bounds. `error` is INFINITY if the rows do not determine
 * the result: if there are too few rows, if an unknown with a positive weight is in no row, or if
 * its column is nearly a linear combination of other columns. Do not use the result then.
 */
double yk_bounded_fit_weighted_sum(const struct yk_bounded_fit_solution *solution,
                                   const double *weights, double *error);

#endif
