/*
 * Error band: how far off a sum of times may be, and where the times come from. Times of one origin
 * err together: a machine that was measured 3 % too fast is so for every layer. So errors do not
 * cancel as those of independent times would; the relative error of the sum is the mean of those of
 * its parts, weighted by time.
 */
#ifndef YK_COST_ERROR_BAND_H
#define YK_COST_ERROR_BAND_H

#include "cost/cost.h"

struct yk_error_band {
    double origin_s[YK_COST_ORIGINS];
    double off_s[YK_COST_ORIGINS]; /* Σ seconds · error */
};

/* Adds `seconds` whose relative error and origin are those of `time`. */
void yk_error_band_add(struct yk_error_band *band, const struct yk_cost_time *time, double seconds);

/* The relative distance within which nine tenths of such sums lie; 0 of nothing. */
double yk_error_band_error(const struct yk_error_band *band);

/* The part of the time that has this origin; 0 of nothing. */
double yk_error_band_part(const struct yk_error_band *band, enum yk_cost_origin origin);

/* Where the times come from, with the part of each where they are several; parts of less than half
 * a percent are left out. */
void yk_error_band_describe(const struct yk_error_band *band, struct yk_text *out);

/* ,"error":0.04,"origins":{"measured":0.9,"datasheet":0.1}: what is 0 is left out. */
void yk_error_band_write_json(const struct yk_error_band *band, struct yk_text *out);

#endif
