/*
 * Plan charts: the charts of a plan's page, in the order of the page. Their subject is struct
 * yk_equal_ranks_sets. A new chart is a file with a record yk_plan_chart_NAME (a struct yk_chart,
 * chart.h) and one row here. bars.c is a short example; tables.c has the charts that are tables.
 *
 * Some other lists are kept by hand. Add a chart with a picture to plan/report.h and to
 * tests/cli/cases/report-page.case and report-files.case, and a chart with numbers to `ids` in
 * tests/report/plan_page_test.c. If the library should draw the picture, add it to enum yoke_figure
 * in include/yoke/report.h and to src/library/report.c.
 */
#ifndef YK_REPORT_PLAN_CHARTS_H
#define YK_REPORT_PLAN_CHARTS_H

#include "report/chart.h"
#include "report/plan/equal_ranks.h"

#define YK_FOR_EACH_PLAN_CHART(ROW)                                                                \
    ROW(lanes)                                                                                     \
    ROW(memory)                                                                                    \
    ROW(bars)                                                                                      \
    ROW(cluster)                                                                                   \
    ROW(devices)                                                                                   \
    ROW(layers)                                                                                    \
    ROW(alternatives)                                                                              \
    ROW(leave_one_out)                                                                             \
    ROW(split)                                                                                     \
    ROW(memory_of_devices)

#define YK_PLAN_CHART_DECLARE(name) extern const struct yk_chart yk_plan_chart_##name;
YK_FOR_EACH_PLAN_CHART(YK_PLAN_CHART_DECLARE)
#undef YK_PLAN_CHART_DECLARE

enum {
    YK_PLAN_CHARTS_NARROW_WIDTH =
        480 /* in narrower pictures, a name is above its bar, not to the left of it */
};

#endif
