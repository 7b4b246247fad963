#include "trace/bounded_fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    MAX = YK_BOUNDED_FIT_MAX_UNKNOWNS
};

/* What of a column's square must be its own for its unknown to be determined. */
static const double MIN_OWN = 1e-4;
/* Pivots below this part of 1 are what is left of a column that others make up. */
static const double MIN_PIVOT = 1e-10;
/* Added to the diagonal, so that what the rows leave open has some answer. */
static const double RIDGE = 1e-9;

void yk_bounded_fit_begin(struct yk_bounded_fit *fit, int32_t count)
{
    *fit = (struct yk_bounded_fit){.count = count};
}

/* Adds a row of the least squares, its products with itself and with its value. */
static void add_row(int32_t count, const double *parts, double value, double weight,
                    double *products, double *values)
{
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < count; j++) {
            products[i * MAX + j] += weight * parts[i] * parts[j];
        }
        values[i] += weight * parts[i] * value;
    }
}

void yk_bounded_fit_add_row(struct yk_bounded_fit *fit, const double *parts, double value,
                            double weight)
{
    add_row(fit->count, parts, value, weight, fit->products, fit->values);
    fit->square += weight * value * value;
    fit->weight += weight;
    fit->rows++;
}

void yk_bounded_fit_add_prior(struct yk_bounded_fit *fit, const double *parts, double value,
                              double weight)
{
    add_row(fit->count, parts, value, weight, fit->prior_products, fit->prior_values);
}

void yk_bounded_fit_clear_priors(struct yk_bounded_fit *fit)
{
    memset(fit->prior_products, 0, sizeof fit->prior_products);
    memset(fit->prior_values, 0, sizeof fit->prior_values);
}

/* The problem with columns of length 1: S z = c, z from 0 to `max`. */
struct scaled {
    int32_t count;
    double s[MAX * MAX];
    double c[MAX];
    double max[MAX];
    double length[MAX]; /* of the columns as they were; 0: empty */
};

static void scale(const struct yk_bounded_fit *fit, double max, struct scaled *out)
{
    out->count = fit->count;
    for (int32_t i = 0; i < fit->count; i++) {
        const double square = fit->products[i * MAX + i];
        out->length[i] =
            square > 1e-12 * fit->weight ? sqrt(square + fit->prior_products[i * MAX + i]) : 0;
    }
    for (int32_t i = 0; i < fit->count; i++) {
        for (int32_t j = 0; j < fit->count; j++) {
            const double both = out->length[i] * out->length[j];
            const double product = fit->products[i * MAX + j] + fit->prior_products[i * MAX + j];
            out->s[i * MAX + j] = both > 0 ? product / both : 0;
        }
        out->s[i * MAX + i] = 1;
        out->c[i] =
            out->length[i] > 0 ? (fit->values[i] + fit->prior_values[i]) / out->length[i] : 0;
        out->max[i] = out->length[i] > 0 ? max * out->length[i] : 0;
    }
}

/* Cholesky of the columns `of` (count): L (count, count) with S = L Lᵀ. A column that those before
 * it make up gets a pivot of 0 and takes no part. */
static void factor(const struct scaled *scaled, const int32_t *of, int32_t count, double ridge,
                   double *lower)
{
    for (int32_t j = 0; j < count; j++) {
        double pivot = scaled->s[of[j] * MAX + of[j]] + ridge;
        for (int32_t k = 0; k < j; k++) {
            pivot -= lower[j * MAX + k] * lower[j * MAX + k];
        }
        const double root = pivot > MIN_PIVOT ? sqrt(pivot) : 0;
        lower[j * MAX + j] = root;
        for (int32_t i = j + 1; i < count; i++) {
            double sum = scaled->s[of[i] * MAX + of[j]];
            for (int32_t k = 0; k < j; k++) {
                sum -= lower[i * MAX + k] * lower[j * MAX + k];
            }
            lower[i * MAX + j] = root > 0 ? sum / root : 0;
        }
    }
}

/* Solves L z = y, z in place of y; 0 where L has no pivot. */
static void substitute_forward(const double *lower, int32_t count, double *y)
{
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < i; k++) {
            y[i] -= lower[i * MAX + k] * y[k];
        }
        y[i] = lower[i * MAX + i] > 0 ? y[i] / lower[i * MAX + i] : 0;
    }
}

static void substitute_back(const double *lower, int32_t count, double *y)
{
    for (int32_t i = count - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < count; k++) {
            y[i] -= lower[k * MAX + i] * y[k];
        }
        y[i] = lower[i * MAX + i] > 0 ? y[i] / lower[i * MAX + i] : 0;
    }
}

/* Where an unknown stands while the best place is looked for. */
enum place {
    AT_ZERO,
    AT_MAX,
    FREE,
};

struct search {
    const struct scaled *scaled;
    enum place place[MAX];
    double z[MAX];
};

static double slope(const struct search *search, int32_t i)
{
    const struct scaled *scaled = search->scaled;
    double sum = scaled->c[i];
    for (int32_t j = 0; j < scaled->count; j++) {
        sum -= (scaled->s[i * MAX + j] + (i == j ? RIDGE : 0)) * search->z[j];
    }
    return sum;
}

/* The unknown at an end of its range that gains most by leaving it; −1: none gains. */
static int32_t find_gain(const struct search *search, double best_gain)
{
    int32_t best = -1;
    for (int32_t i = 0; i < search->scaled->count; i++) {
        const double up = slope(search, i);
        const double gain = search->place[i] == AT_ZERO ? up : search->place[i] == AT_MAX ? -up : 0;
        if (search->scaled->length[i] > 0 && gain > best_gain) {
            best_gain = gain;
            best = i;
        }
    }
    return best;
}

/* The best z of the free unknowns while the others stay; `free_ones` has their numbers. */
static int32_t solve_free(const struct search *search, int32_t *free_ones, double *out)
{
    const struct scaled *scaled = search->scaled;
    double lower[MAX * MAX];
    int32_t count = 0;
    for (int32_t i = 0; i < scaled->count; i++) {
        if (search->place[i] == FREE) {
            free_ones[count] = i;
            out[count] = scaled->c[i];
            for (int32_t j = 0; j < scaled->count; j++) {
                out[count] -= search->place[j] == FREE ? 0 : scaled->s[i * MAX + j] * search->z[j];
            }
            count++;
        }
    }
    factor(scaled, free_ones, count, RIDGE, lower);
    substitute_forward(lower, count, out);
    substitute_back(lower, count, out);
    return count;
}

/* Goes towards the best place of the free ones until one of them meets an end of its range, where
 * it stays: true; or all the way. */
static bool reach_bound(struct search *search)
{
    int32_t free_ones[MAX];
    double best[MAX];
    const int32_t count = solve_free(search, free_ones, best);
    double part = 1;
    int32_t first = -1;
    for (int32_t f = 0; f < count; f++) {
        const int32_t i = free_ones[f];
        const double max = search->scaled->max[i];
        const double end = best[f] < 0 ? 0 : max;
        if (best[f] < 0 || best[f] > max) {
            const double until = (end - search->z[i]) / (best[f] - search->z[i]);
            first = until < part || first < 0 ? i : first;
            part = fmin(part, fmax(until, 0));
        }
    }
    for (int32_t f = 0; f < count; f++) {
        const int32_t i = free_ones[f];
        const bool below = best[f] < search->z[i];
        search->z[i] += part * (best[f] - search->z[i]);
        if (i == first) {
            search->place[i] = below ? AT_ZERO : AT_MAX;
            search->z[i] = below ? 0 : search->scaled->max[i];
        }
    }
    return first >= 0;
}

/* Sets unknowns free one by one, each where that helps most (Lawson and Hanson, Solving Least
 * Squares Problems, chapter 23, with two ends). */
static void search_best(struct search *search)
{
    const struct scaled *scaled = search->scaled;
    double size = 0;
    for (int32_t i = 0; i < scaled->count; i++) {
        size = fmax(size, fabs(scaled->c[i]));
    }
    for (int32_t round = 0; round < 8 * MAX; round++) {
        const int32_t gains = find_gain(search, 1e-10 * size);
        if (gains < 0) {
            return;
        }
        search->place[gains] = FREE;
        while (reach_bound(search)) {
        }
    }
}

/* Σ w · (y − a x)², all rows. */
static double misfit(const struct yk_bounded_fit *fit, const double *x)
{
    double sum = fit->square;
    for (int32_t i = 0; i < fit->count; i++) {
        sum -= 2 * fit->values[i] * x[i];
        for (int32_t j = 0; j < fit->count; j++) {
            sum += x[i] * fit->products[i * MAX + j] * x[j];
        }
    }
    return fmax(sum, 0);
}

void yk_bounded_fit_solve(const struct yk_bounded_fit *fit, double max,
                          struct yk_bounded_fit_solution *out)
{
    struct scaled scaled;
    int32_t all[MAX];
    int64_t determined = 0;
    memset(&scaled, 0, sizeof scaled);
    scale(fit, max, &scaled);
    struct search search = {.scaled = &scaled};
    search_best(&search);
    *out = (struct yk_bounded_fit_solution){.count = fit->count, .fit = fit};
    for (int32_t i = 0; i < fit->count; i++) {
        all[i] = i;
        out->lengths[i] = scaled.length[i];
        out->values[i] = scaled.length[i] > 0 ? search.z[i] / scaled.length[i] : 0;
        determined += scaled.length[i] > 0;
    }
    out->degrees_of_freedom = fit->rows - determined;
    out->spread = out->degrees_of_freedom > 0
                      ? sqrt(misfit(fit, out->values) / (double)out->degrees_of_freedom)
                      : INFINITY;
    factor(&scaled, all, fit->count, RIDGE, out->lower);
}

/* The square of the length that the columns with a weight have together. */
static double length_together(const struct yk_bounded_fit *fit, const double *weights)
{
    double sum = 0;
    for (int32_t i = 0; i < fit->count; i++) {
        for (int32_t j = 0; j < fit->count; j++) {
            sum += weights[i] > 0 && weights[j] > 0 ? fit->products[i * MAX + j] : 0;
        }
    }
    return sum;
}

/* Half the width of a 95 % confidence interval in standard errors, for `rows` degrees of freedom:
 * Student's t, expanded in 1/rows (Abramowitz and Stegun, 26.7.5). */
static double errors_that_hold(int64_t rows)
{
    const double part = rows > 0 ? 1 / (double)rows : INFINITY;
    return 1.95996 + part * (2.37227 + part * (2.82250 + part * (2.55585 + part * 1.58953)));
}

double yk_bounded_fit_weighted_sum(const struct yk_bounded_fit_solution *solution,
                                   const double *weights, double *error)
{
    double y[MAX];
    double value = 0;
    double square = 0; /* wᵀz, where AᵀA z = w and A are the rows */
    *error = INFINITY;
    for (int32_t i = 0; i < solution->count; i++) {
        if (weights[i] > 0 && !(solution->lengths[i] > 0)) {
            return 0;
        }
        y[i] = weights[i] > 0 ? weights[i] / solution->lengths[i] : 0;
        value += weights[i] * solution->values[i];
    }
    substitute_forward(solution->lower, solution->count, y);
    for (int32_t i = 0; i < solution->count; i++) {
        square += y[i] * y[i];
    }
    /* 1 where the others are in other rows, 0 where they make up this one. */
    const double own = 1 / (square * length_together(solution->fit, weights));
    if (own > MIN_OWN) {
        *error = errors_that_hold(solution->degrees_of_freedom) * solution->spread * sqrt(square);
    }
    return value;
}
