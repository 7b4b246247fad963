/* The charts of a run's page, in its order; their subject is struct yk_run_page. A new one is a
 * file with its record (chart.h), yk_run_chart_NAME, and one row here. */
#ifndef YK_REPORT_RUN_CHARTS_H
#define YK_REPORT_RUN_CHARTS_H

#include "report/chart.h"
#include "report/run/curves.h"
#include "report/run/lanes.h"

/* What a run's page is made of; all but the report in the arena. */
struct yk_run_page {
    const struct yk_run_report *report;
    struct yk_arena *arena;
    struct yk_run_ranks ranks;
    struct yk_run_lanes lanes;
    struct yk_run_curves curves;
    struct yk_run_kind kinds[YK_OP_STYLE_COUNT];
    struct yk_run_difference *differences; /* the largest first */
    int32_t difference_count;
};

#define YK_RUN_CHARTS(ROW)                                                                         \
    ROW(loss)                                                                                      \
    ROW(curves)                                                                                    \
    ROW(rank_curves)                                                                               \
    ROW(lanes)                                                                                     \
    ROW(counters)                                                                                  \
    ROW(ranks)                                                                                     \
    ROW(kinds)                                                                                     \
    ROW(differences)                                                                               \
    ROW(memory)                                                                                    \
    ROW(sample)                                                                                    \
    ROW(options)

#define YK_RUN_CHART_DECLARE(name) extern const struct yk_chart yk_run_chart_##name;
YK_RUN_CHARTS(YK_RUN_CHART_DECLARE)
#undef YK_RUN_CHART_DECLARE

#endif
