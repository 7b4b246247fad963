/*
 * Plan report: a page about a plan. It shows the decisions of the plan, the predicted step on every
 * device and lane, the memory over time and its limits, the bottleneck, other plans, and the
 * cluster. Its pictures can also be written as SVG files.
 */
#ifndef YK_REPORT_PLAN_REPORT_H
#define YK_REPORT_PLAN_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "plan/plan_result.h"
#include "report/chart.h"

#include <stdint.h>

yk_status yk_plan_page_write(const struct yk_plan_result *result, struct yk_text *out) YK_MUST_USE;

/* Writes the picture with the name `name` ("lanes", "memory", "bars", "cluster", "split" or
 * "memory-of-devices"), or all pictures if `name` is NULL; see yk_chart_write_pictures(). */
yk_status yk_plan_page_write_pictures(const struct yk_plan_result *result, const char *name,
                                      yk_chart_picture_text_function open,
                                      void *argument) YK_MUST_USE;

/* Writes the memory of a rank over time as an SVG file: the kinds of memory stacked, and the limit.
 */
yk_status yk_plan_memory_write_rank_picture(const struct yk_plan_result *result, int32_t rank,
                                            struct yk_text *out) YK_MUST_USE;

/* Writes the curves of a trade-off as an SVG file. */
yk_status yk_plan_tradeoff_write_picture(const struct yk_plan_tradeoff_chart *tradeoff,
                                         struct yk_text *out) YK_MUST_USE;

#endif
