#include "trace/bounded_fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    MOST = YK_BOUNDED_FIT_MAX
};

/* What of a column's square must be its own for its unknown to be told. */
static const double LEAST_OWN = 1e-4;
/* Pivots below this part of 1 are what is left of a column that others make up. */
static const double LEAST_PIVOT = 1e-10;
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
            products[i * MOST + j] += weight * parts[i] * parts[j];
        }
        values[i] += weight * parts[i] * value;
    }
}

void yk_bounded_fit_add(struct yk_bounded_fit *fit, const double *parts, double value,
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
    add_row(fit->count, parts, value, weight, fit->leaning, fit->lean_values);
}

void yk_bounded_fit_clear_priors(struct yk_bounded_fit *fit)
{
    memset(fit->leaning, 0, sizeof fit->leaning);
    memset(fit->lean_values, 0, sizeof fit->lean_values);
}

/* The problem with columns of length 1: S z = c, z from 0 to `most`. */
struct scaled {
    int32_t count;
    double s[MOST * MOST];
    double c[MOST];
    double most[MOST];
    double length[MOST]; /* of the columns as they were; 0: empty */
};

static void scale(const struct yk_bounded_fit *fit, double most, struct scaled *out)
{
    out->count = fit->count;
    for (int32_t i = 0; i < fit->count; i++) {
        const double square = fit->products[i * MOST + i];
        out->length[i] =
            square > 1e-12 * fit->weight ? sqrt(square + fit->leaning[i * MOST + i]) : 0;
    }
    for (int32_t i = 0; i < fit->count; i++) {
        for (int32_t j = 0; j < fit->count; j++) {
            const double both = out->length[i] * out->length[j];
            const double product = fit->products[i * MOST + j] + fit->leaning[i * MOST + j];
            out->s[i * MOST + j] = both > 0 ? product / both : 0;
        }
        out->s[i * MOST + i] = 1;
        out->c[i] =
            out->length[i] > 0 ? (fit->values[i] + fit->lean_values[i]) / out->length[i] : 0;
        out->most[i] = out->length[i] > 0 ? most * out->length[i] : 0;
    }
}

/* Cholesky of the columns `of` (count): L (count, count) with S = L Lᵀ. A column that those before
 * it make up gets a pivot of 0 and takes no part. */
static void factor(const struct scaled *scaled, const int32_t *of, int32_t count, double ridge,
                   double *lower)
{
    for (int32_t j = 0; j < count; j++) {
        double pivot = scaled->s[of[j] * MOST + of[j]] + ridge;
        for (int32_t k = 0; k < j; k++) {
            pivot -= lower[j * MOST + k] * lower[j * MOST + k];
        }
        const double root = pivot > LEAST_PIVOT ? sqrt(pivot) : 0;
        lower[j * MOST + j] = root;
        for (int32_t i = j + 1; i < count; i++) {
            double sum = scaled->s[of[i] * MOST + of[j]];
            for (int32_t k = 0; k < j; k++) {
                sum -= lower[i * MOST + k] * lower[j * MOST + k];
            }
            lower[i * MOST + j] = root > 0 ? sum / root : 0;
        }
    }
}

/* Solves L z = y, z in place of y; 0 where L has no pivot. */
static void go_forward(const double *lower, int32_t count, double *y)
{
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < i; k++) {
            y[i] -= lower[i * MOST + k] * y[k];
        }
        y[i] = lower[i * MOST + i] > 0 ? y[i] / lower[i * MOST + i] : 0;
    }
}

static void go_back(const double *lower, int32_t count, double *y)
{
    for (int32_t i = count - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < count; k++) {
            y[i] -= lower[k * MOST + i] * y[k];
        }
        y[i] = lower[i * MOST + i] > 0 ? y[i] / lower[i * MOST + i] : 0;
    }
}

/* Where an unknown stands while the best place is looked for. */
enum place {
    AT_ZERO,
    AT_MOST,
    FREE,
};

struct search {
    const struct scaled *scaled;
    enum place place[MOST];
    double z[MOST];
};

static double slope(const struct search *search, int32_t i)
{
    const struct scaled *scaled = search->scaled;
    double sum = scaled->c[i];
    for (int32_t j = 0; j < scaled->count; j++) {
        sum -= (scaled->s[i * MOST + j] + (i == j ? RIDGE : 0)) * search->z[j];
    }
    return sum;
}

/* The unknown at an end of its range that gains most by leaving it; −1: none gains. */
static int32_t find_gain(const struct search *search, double least)
{
    int32_t best = -1;
    for (int32_t i = 0; i < search->scaled->count; i++) {
        const double up = slope(search, i);
        const double gain = search->place[i] == AT_ZERO   ? up
                            : search->place[i] == AT_MOST ? -up
                                                          : 0;
        if (search->scaled->length[i] > 0 && gain > least) {
            least = gain;
            best = i;
        }
    }
    return best;
}

/* The best z of the free unknowns while the others stay; `free_ones` has their numbers. */
static int32_t solve_free(const struct search *search, int32_t *free_ones, double *out)
{
    const struct scaled *scaled = search->scaled;
    double lower[MOST * MOST];
    int32_t count = 0;
    for (int32_t i = 0; i < scaled->count; i++) {
        if (search->place[i] == FREE) {
            free_ones[count] = i;
            out[count] = scaled->c[i];
            for (int32_t j = 0; j < scaled->count; j++) {
                out[count] -= search->place[j] == FREE ? 0 : scaled->s[i * MOST + j] * search->z[j];
            }
            count++;
        }
    }
    factor(scaled, free_ones, count, RIDGE, lower);
    go_forward(lower, count, out);
    go_back(lower, count, out);
    return count;
}

/* Goes towards the best place of the free ones until one of them meets an end of its range, where
 * it stays: true; or all the way. */
static bool meets_end(struct search *search)
{
    int32_t free_ones[MOST];
    double best[MOST];
    const int32_t count = solve_free(search, free_ones, best);
    double part = 1;
    int32_t first = -1;
    for (int32_t f = 0; f < count; f++) {
        const int32_t i = free_ones[f];
        const double most = search->scaled->most[i];
        const double end = best[f] < 0 ? 0 : most;
        if (best[f] < 0 || best[f] > most) {
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
            search->place[i] = below ? AT_ZERO : AT_MOST;
            search->z[i] = below ? 0 : search->scaled->most[i];
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
    for (int32_t turn = 0; turn < 8 * MOST; turn++) {
        const int32_t gains = find_gain(search, 1e-10 * size);
        if (gains < 0) {
            return;
        }
        search->place[gains] = FREE;
        while (meets_end(search)) {
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
            sum += x[i] * fit->products[i * MOST + j] * x[j];
        }
    }
    return fmax(sum, 0);
}

void yk_bounded_fit_solve(const struct yk_bounded_fit *fit, double most,
                          struct yk_bounded_fit_solution *out)
{
    struct scaled scaled;
    int32_t all[MOST];
    int64_t told = 0;
    memset(&scaled, 0, sizeof scaled);
    scale(fit, most, &scaled);
    struct search search = {.scaled = &scaled};
    search_best(&search);
    *out = (struct yk_bounded_fit_solution){.count = fit->count, .fit = fit};
    for (int32_t i = 0; i < fit->count; i++) {
        all[i] = i;
        out->lengths[i] = scaled.length[i];
        out->values[i] = scaled.length[i] > 0 ? search.z[i] / scaled.length[i] : 0;
        told += scaled.length[i] > 0;
    }
    out->spare = fit->rows - told;
    out->spread = out->spare > 0 ? sqrt(misfit(fit, out->values) / (double)out->spare) : INFINITY;
    factor(&scaled, all, fit->count, RIDGE, out->lower);
}

/* The square of the length that the columns with a weight have together. */
static double length_together(const struct yk_bounded_fit *fit, const double *weights)
{
    double sum = 0;
    for (int32_t i = 0; i < fit->count; i++) {
        for (int32_t j = 0; j < fit->count; j++) {
            sum += weights[i] > 0 && weights[j] > 0 ? fit->products[i * MOST + j] : 0;
        }
    }
    return sum;
}

/* How many standard errors hold 19 times of 20 where the spread is itself known from so many rows:
 * Student's t, expanded in 1/rows (Abramowitz and Stegun, 26.7.5). */
static double errors_that_hold(int64_t rows)
{
    const double part = rows > 0 ? 1 / (double)rows : INFINITY;
    return 1.95996 + part * (2.37227 + part * (2.82250 + part * (2.55585 + part * 1.58953)));
}

double yk_bounded_fit_weighted_sum(const struct yk_bounded_fit_solution *answer,
                                   const double *weights, double *error)
{
    double y[MOST];
    double value = 0;
    double square = 0; /* wᵀz, where AᵀA z = w and A are the rows */
    *error = INFINITY;
    for (int32_t i = 0; i < answer->count; i++) {
        if (weights[i] > 0 && !(answer->lengths[i] > 0)) {
            return 0;
        }
        y[i] = weights[i] > 0 ? weights[i] / answer->lengths[i] : 0;
        value += weights[i] * answer->values[i];
    }
    go_forward(answer->lower, answer->count, y);
    for (int32_t i = 0; i < answer->count; i++) {
        square += y[i] * y[i];
    }
    /* 1 where the others are in other rows, 0 where they make up this one. */
    const double own = 1 / (square * length_together(answer->fit, weights));
    if (own > LEAST_OWN) {
        *error = errors_that_hold(answer->spare) * answer->spread * sqrt(square);
    }
    return value;
}
