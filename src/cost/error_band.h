/*
 * Error band: the relative error of a sum of predicted times, and the origins of those times.
 * Errors of one origin are correlated: a machine measured 3 % too fast is too fast for every layer.
 * So errors are not assumed to cancel. The error of the sum is the time-weighted mean of the errors
 * of its terms.
 */
#ifndef YK_COST_ERROR_BAND_H
#define YK_COST_ERROR_BAND_H

#include "cost/cost.h"

struct yk_error_band {
    double origin_s[YK_COST_ORIGINS]; /* Σ seconds */
    double error_s[YK_COST_ORIGINS];  /* Σ seconds · error */
};

/* Adds `seconds` with the relative error and origin of `time`. */
void yk_error_band_add(struct yk_error_band *band, const struct yk_cost_time *time, double seconds);

/* Relative error that 90 % of such sums stay within; 0 for an empty band. */
double yk_error_band_error(const struct yk_error_band *band);

/* Fraction of the time with this origin; 0 for an empty band. */
double yk_error_band_part(const struct yk_error_band *band, enum yk_cost_origin origin);

/* Writes the origins in words, with percentages if there are several. Origins below 0.5 % of the
 * time are omitted. */
void yk_error_band_describe(const struct yk_error_band *band, struct yk_text *out);

/* Writes ,"error":0.04,"origins":{"measured":0.9,"datasheet":0.1} without origins that are 0. */
void yk_error_band_write_json(const struct yk_error_band *band, struct yk_text *out);

#endif
