/* The charts of a plan's page, in the order of the page. Their subject is struct
 * yk_equal_ranks_sets. A new chart is a file with a record yk_plan_chart_NAME (chart.h) and one row
 * here; bars.c is a short example, tables.c has the charts that are tables. */
#ifndef YK_REPORT_PLAN_CHARTS_H
#define YK_REPORT_PLAN_CHARTS_H

#include "report/chart.h"
#include "report/plan/equal_ranks.h"

#define YK_PLAN_CHARTS(ROW)                                                                        \
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
YK_PLAN_CHARTS(YK_PLAN_CHART_DECLARE)
#undef YK_PLAN_CHART_DECLARE

enum {
    YK_PLAN_CHARTS_NARROW_WIDTH =
        480 /* below this width, a name stands above its bar, not left of it */
};

#endif
