/* Profile plot: measurements over a size, both axes logarithmic: points with their spread as bars,
 * and ticks. A plot's x is log2 of the size, its y log10 of the value. */
#ifndef YK_REPORT_PROFILE_PLOT_H
#define YK_REPORT_PROFILE_PLOT_H

#include "base/arena.h"
#include "base/units.h"
#include "report/plot.h"

#include <stdint.h>

struct yk_profile_series {
    double *sizes;   /* (count), log2 */
    double *values;  /* (count), log10 */
    double *spreads; /* (count), over the value */
    int32_t count;
};

/* Room for `most`; starts with none. */
yk_status yk_profile_series_make(int32_t most, struct yk_arena *arena,
                                 struct yk_profile_series *out) YK_MUST_USE;

/* One more point; what is not positive cannot be shown. */
void yk_profile_series_add(struct yk_profile_series *series, double size, double value,
                           double spread);

/* Ranges that hold the series with its bars, beside what they hold already. */
void yk_profile_plot_include(struct yk_plot *plot, const struct yk_profile_series *series);

/* A frame, grid lines at round values of `unit`, and ticks at the sizes: bytes, or plain numbers.
 */
void yk_profile_plot_axes(const struct yk_plot *plot, const struct yk_profile_series *series,
                          enum yk_unit unit, bool bytes);

/* Curve, bars and points in colour number `look`. */
void yk_profile_plot_series(const struct yk_plot *plot, const struct yk_profile_series *series,
                            int look);

#endif
