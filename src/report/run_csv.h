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

/* rank,device,share,predicted_compute_s,measured_compute_s, and so on for exposed, idle and bytes.
 */
void yk_run_csv_ranks(const struct yk_run_ranks *ranks, struct yk_text *out);

/* step, and for each rank a column with what it computed: of every `stride`th step. */
void yk_run_csv_rank_steps(const struct yk_run_report *report, int32_t stride, struct yk_text *out);

/* op,rank,device,predicted_s,measured_s */
void yk_run_csv_differences(const struct yk_run_ranks *ranks,
                            const struct yk_run_difference *differences, int32_t count,
                            struct yk_text *out);

/* The most ranks that any step tells of. */
int32_t yk_run_csv_rank_columns(const struct yk_run_report *report);

#endif
