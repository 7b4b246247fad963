/* Run draw: a run's memory as a picture at the width a frame has, for a page or alone. */
#ifndef YK_REPORT_RUN_DRAW_H
#define YK_REPORT_RUN_DRAW_H

#include "report/plan_figure.h"
#include "report/run_report.h"

/* What a device would hold at its fullest moment, all kinds together. */
double yk_run_memory_predicted(const struct yk_run_report_memory *memory);

void yk_run_draw_memory(const struct yk_run_report *report, struct yk_figure frame);

#endif
