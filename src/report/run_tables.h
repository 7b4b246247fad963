/* Run tables: the figures of a run that are read, not seen, as HTML for its page. */
#ifndef YK_REPORT_RUN_TABLES_H
#define YK_REPORT_RUN_TABLES_H

#include "report/run_lanes.h"

/* What the ops of every kind take together, as predicted and as measured, and whole steps. */
void yk_run_table_kinds(const struct yk_run_report *report, const struct yk_run_ranks *ranks,
                        const struct yk_run_kind kinds[YK_LOOK_OP_COUNT], struct yk_text *out);

/* A row for each rank: its share, compute, exposed, idle and memory, predicted and measured. */
void yk_run_table_ranks(const struct yk_run_ranks *ranks, struct yk_text *out);

void yk_run_table_differences(const struct yk_run_ranks *ranks,
                              const struct yk_run_difference *differences, int32_t count,
                              struct yk_text *out);

void yk_run_table_settings(const struct yk_run_report *report, struct yk_text *out);

#endif
