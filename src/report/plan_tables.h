/* Tables: the figures of a plan that are read, not seen, as HTML for its page. */
#ifndef YK_REPORT_PLAN_TABLES_H
#define YK_REPORT_PLAN_TABLES_H

#include "report/plan_fold.h"

/* Who takes what part of the work, and how its time is spent. */
void yk_plan_table_devices(const struct yk_plan_folds *folds, struct yk_text *out);

/* The fullest moment that is possible on every device, by kind, against its limit. */
void yk_plan_table_memory(const struct yk_plan_folds *folds, struct yk_text *out);

/* Neighbours that are kept alike are one row. */
void yk_plan_table_layers(const struct yk_plan_result *result, struct yk_text *out);

void yk_plan_table_alternatives(const struct yk_plan_result *result, struct yk_text *out);

/* What leaving out each device changes; devices of one type with one outcome are one row. */
void yk_plan_table_without(const struct yk_plan_result *result, struct yk_text *out);

#endif
