/*
 * Bounded fit: least squares over a few unknowns, each from 0 to a maximum, out of sums that were
 * added up row by row.
 *
 * A row says that Σ part[i] · x[i] = value, and how much it weighs. A fit is a plain struct that
 * starts by yk_bounded_fit_begin(); one thread at a time.
 */
#ifndef YK_TRACE_BOUNDED_FIT_H
#define YK_TRACE_BOUNDED_FIT_H

#include <stdint.h>

enum {
    YK_BOUNDED_FIT_MAX = 34
};

struct yk_bounded_fit {
    int32_t count;                                            /* unknowns */
    int64_t rows;                                             /* added */
    double products[YK_BOUNDED_FIT_MAX * YK_BOUNDED_FIT_MAX]; /* (count, count) Σ w · a · aᵀ */
    double values[YK_BOUNDED_FIT_MAX];                        /* (count) Σ w · a · y */
    double square;                                            /* Σ w · y² */
    double weight;                                            /* Σ w */
    double prior_products[YK_BOUNDED_FIT_MAX * YK_BOUNDED_FIT_MAX]; /* (count, count) of priors */
    double prior_values[YK_BOUNDED_FIT_MAX];                        /* (count) */
};

/* At most YK_BOUNDED_FIT_MAX unknowns. */
void yk_bounded_fit_begin(struct yk_bounded_fit *fit, int32_t count);
void yk_bounded_fit_add(struct yk_bounded_fit *fit, const double *parts, double value,
                        double weight);

/*
 * A prior, what is likely before any row is added: Σ part[i] · x[i] = value, give or take a
 * standard deviation d, weighs s²/d², where s is the spread of a row of weight 1. Rows outweigh it
 * as they add up; errors count it as known. It is no row, and does not show in the spread.
 */
void yk_bounded_fit_add_prior(struct yk_bounded_fit *fit, const double *parts, double value,
                              double weight);
void yk_bounded_fit_clear_priors(struct yk_bounded_fit *fit);

/* What a fit comes to. */
struct yk_bounded_fit_solution {
    int32_t count;
    double values[YK_BOUNDED_FIT_MAX];  /* (count) the unknowns; 0 of those in no row */
    double spread;                      /* of a row of weight 1 around them; INFINITY: too few */
    int64_t spare;                      /* rows beyond the unknowns that are in any */
    double lengths[YK_BOUNDED_FIT_MAX]; /* of the columns */
    double lower[YK_BOUNDED_FIT_MAX * YK_BOUNDED_FIT_MAX]; /* of their products, with length 1 */
    const struct yk_bounded_fit *fit;
};

/* The unknowns from 0 to `max` (INFINITY: no end) that explain the rows best. The solution points
 * at the fit. */
void yk_bounded_fit_solve(const struct yk_bounded_fit *fit, double max,
                          struct yk_bounded_fit_solution *out);

/*
 * Σ weights[i] · x[i], the weights from 0 to 1 and together 1, and how far that may be off: 19
 * times of 20 by the fit without bounds (two standard errors, more where few rows tell the spread),
 * INFINITY where the rows leave it open (some of those that weigh anything are in no row, or all
 * but a sum of others are).
 */
double yk_bounded_fit_weighted_sum(const struct yk_bounded_fit_solution *solution,
                                   const double *weights, double *error);

#endif
