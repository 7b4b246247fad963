/*
 * Run numbers: whether the numbers of a run are still good, and the sentence that ends it where
 * they are not: which tensor went bad, and what to try.
 *
 * All ranks of a run make the same calls, each on the thread that trains.
 */
#ifndef YK_TRAIN_RUN_NUMBERS_H
#define YK_TRAIN_RUN_NUMBERS_H

#include "base/status.h"
#include "train/run.h"

/* Of a step that has ended. One whose numbers are bad counts as done, but updates nothing; fails
 * where that cannot be, or too many follow each other. */
yk_status yk_run_steps_check_result(struct yk_run *run, struct yk_executor *executor,
                                    const struct yk_step_result *result) YK_MUST_USE;

/* A run that ends while its numbers are bad: steps that were skipped did no harm, unless the loss
 * or the weights themselves are no numbers. */
yk_status yk_run_steps_check_end(struct yk_run *run) YK_MUST_USE;

/* Always a failure. All ranks come here together: one that holds the bad numbers names them. */
yk_status yk_run_steps_fail_nonfinite(struct yk_run *run, double loss) YK_MUST_USE;

#endif
