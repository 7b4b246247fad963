/*
 * Plan report: one page about a plan, for a browser: what was decided, where the time of the
 * predicted step goes on every device and lane, memory over time against the limits, what binds,
 * the runners-up, and the cluster. `yk_plan_figure_*` are its pictures, each as an SVG that stands
 * alone.
 */
#ifndef YK_REPORT_PLAN_REPORT_H
#define YK_REPORT_PLAN_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "plan/result.h"

#include <stdint.h>

yk_status yk_plan_report_page(const struct yk_plan_result *result, struct yk_text *out) YK_MUST_USE;

/* Ops on every lane of every rank over time. */
yk_status yk_plan_figure_lanes(const struct yk_plan_result *result,
                               struct yk_text *out) YK_MUST_USE;

/* A rank's memory over time, stacked by kind, with its limit. */
yk_status yk_plan_figure_memory(const struct yk_plan_result *result, int32_t rank,
                                struct yk_text *out) YK_MUST_USE;

/* Compute, exposed and idle of every rank as bars. */
yk_status yk_plan_figure_bars(const struct yk_plan_result *result, struct yk_text *out) YK_MUST_USE;

/* Devices by node, with the speeds of the links between them. */
yk_status yk_plan_figure_cluster(const struct yk_plan_result *result,
                                 struct yk_text *out) YK_MUST_USE;

yk_status yk_plan_figure_tradeoff(const struct yk_plan_tradeoff *tradeoff,
                                  struct yk_text *out) YK_MUST_USE;

#endif
