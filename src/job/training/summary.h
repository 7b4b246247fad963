/* Train summary: what `yoke train` says before and after a run. */
#ifndef YK_JOB_TRAINING_SUMMARY_H
#define YK_JOB_TRAINING_SUMMARY_H

#include "job/training/progress.h"
#include "job/training/setup.h"

/* What is going to happen, on standard error. */
yk_status yk_train_announce(const struct yk_training *training) YK_MUST_USE;

/* Of --dry-run: the plan, its memory, and how long it all will take; JSON where that is asked for.
 */
yk_status yk_train_forecast(const struct yk_training *training, struct yk_text *out) YK_MUST_USE;

/* What has happened. */
yk_status yk_train_summarise(const struct yk_training *training,
                             const struct yk_train_progress *progress,
                             struct yk_text *out) YK_MUST_USE;

/* Writes the last step as it was and as it was predicted, and the summary, into the run's folder.
 */
yk_status yk_train_write_results(const struct yk_training *training,
                                 const struct yk_train_progress *progress) YK_MUST_USE;
/* And the page, of what is in the folder. */
yk_status yk_train_write_page(const struct yk_training *training) YK_MUST_USE;

#endif
