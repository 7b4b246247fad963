/*
 * Plan report: one page about a plan, for a browser: what was decided, where the time of the
 * predicted step goes on every device and lane, memory over time against the limits, what binds,
 * the runners-up, and the cluster; and its pictures, each as an SVG that stands alone.
 */
#ifndef YK_REPORT_PLAN_REPORT_H
#define YK_REPORT_PLAN_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "plan/result.h"
#include "report/chart.h"

#include <stdint.h>

yk_status yk_plan_report_page(const struct yk_plan_result *result, struct yk_text *out) YK_MUST_USE;

/* The pictures of the page, or one of them by its name ("lanes", "memory", "bars", "cluster"):
 * see yk_chart_write(). */
yk_status yk_plan_page_pictures(const struct yk_plan_result *result, const char *name,
                                yk_chart_open open, void *argument) YK_MUST_USE;

/* A rank's memory over time, stacked by kind, with its limit. */
yk_status yk_plan_memory_write(const struct yk_plan_result *result, int32_t rank,
                               struct yk_text *out) YK_MUST_USE;

yk_status yk_plan_tradeoff_write(const struct yk_plan_tradeoff *tradeoff,
                                 struct yk_text *out) YK_MUST_USE;

#endif
