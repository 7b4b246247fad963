/* Plan CSV: the numbers of a plan's pictures, as they stand in its page (csv.h). */
#ifndef YK_REPORT_PLAN_CSV_H
#define YK_REPORT_PLAN_CSV_H

#include "report/plan_fold.h"

/* ranks,device,lane,op,start_s,end_s,bytes: of the first `folds` folds. */
void yk_plan_csv_lanes(const struct yk_plan_folds *folds, int32_t fold_count, struct yk_text *out);

/* Of one event: lane,op,start_s,end_s,bytes. */
void yk_plan_csv_event(const struct yk_trace_event *event, struct yk_text *out);

/* ranks,device,limit_bytes,at_s and a column for each kind of memory. */
void yk_plan_csv_memory(const struct yk_plan_folds *folds, struct yk_text *out);

/* ranks,device,compute_s,exposed_s,idle_s,peak_bytes */
void yk_plan_csv_times(const struct yk_plan_folds *folds, struct yk_text *out);

/* from,from_count,to,to_count,latency_s,bytes_per_s: of stations. */
yk_status yk_plan_csv_links(const struct yk_plan_result *result, struct yk_text *out) YK_MUST_USE;

/* mark,name,x,step_s: mark is "curve", "chosen", "joint optimum" or "lower bound". */
void yk_plan_csv_tradeoff(const struct yk_plan_tradeoff *tradeoff, struct yk_text *out);

#endif
