/*
 * Run counters: what the devices' own meters showed, as part of a run's report: lines under the
 * measured step, on its time axis; lines over the whole run; tables of phases and kinds of layers.
 *
 * Ranks are those that the lanes show (run_lanes.h).
 */
#ifndef YK_REPORT_RUN_COUNTERS_H
#define YK_REPORT_RUN_COUNTERS_H

#include "report/plan_figure.h"
#include "report/run_lanes.h"
#include "trace/counters_file.h"

enum {
    YK_RUN_COUNTERS_LINES = 3 /* the most in one plot */
};

/* Counters that are drawn over each other, from 0 up to a most that they share. */
struct yk_run_counters_plot {
    const char *title;
    int32_t count;
    enum yk_counter counters[YK_RUN_COUNTERS_LINES];
};

/* The plot of that number that a line has anything for; NULL past the last. */
const struct yk_run_counters_plot *yk_run_counters_plot_at(const struct yk_counter_series *line,
                                                           int32_t number);

/* What the top of a plot stands for. */
double yk_run_counters_most(const struct yk_counter_series *line,
                            const struct yk_run_counters_plot *plot);

/* Whether a rank is shown, of all that have counters. */
bool yk_run_counters_shows(const struct yk_run_lanes *lanes, int32_t rank);

/* Whether any rank that is shown has readings of the step, and there is a step to put them under.
 */
bool yk_run_counters_has_lines(const struct yk_run_report *report,
                               const struct yk_run_lanes *lanes);

/* Lines under the step, or over the whole run. */
void yk_run_draw_counters(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                          bool whole_run, struct yk_figure frame);

/* All of it; nothing where no counters are known. */
void yk_run_section_counters(const struct yk_run_report *report, const struct yk_run_lanes *lanes,
                             struct yk_text *out);

#endif
