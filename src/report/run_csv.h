/* Run CSV: the numbers of a run's pictures, as they stand in its page (csv.h). */
#ifndef YK_REPORT_RUN_CSV_H
#define YK_REPORT_RUN_CSV_H

#include "report/run_curves.h"
#include "report/run_lanes.h"

/* ranks,device,lane,op,start_s,end_s,bytes,trace: of the first `fold_count` folds. */
void yk_run_csv_lanes(const struct yk_run_lanes *lanes, int32_t fold_count, struct yk_text *out);

/* kind,predicted_count,predicted_s,measured_count,measured_s */
void yk_run_csv_kinds(const struct yk_run_kind kinds[YK_LOOK_OP_COUNT], struct yk_text *out);

/* step,loss,smooth_loss,evaluation_loss,norm,rate,seconds,tokens_per_s,skipped: of every `stride`th
 * step, and of those after which the model was evaluated. */
void yk_run_csv_steps(const struct yk_run_report *report, const struct yk_run_curves *curves,
                      int32_t stride, struct yk_text *out);

/* device,limit_bytes,measured_bytes and a column for each kind that was predicted. */
void yk_run_csv_memory(const struct yk_run_report *report, struct yk_text *out);

#endif
