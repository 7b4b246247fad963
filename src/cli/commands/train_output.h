/* Train output: what `yoke train` prints at the end. */
#ifndef YK_CLI_COMMANDS_TRAIN_OUTPUT_H
#define YK_CLI_COMMANDS_TRAIN_OUTPUT_H

#include "job/training/train.h"

/* Of --dry-run: the plan, its memory, and how long it all will take; JSON where that is asked for.
 */
yk_status yk_train_output_forecast(const struct yk_train_request *request,
                                   const struct yk_train_result *result,
                                   struct yk_text *out) YK_MUST_USE;

/* What has happened. */
yk_status yk_train_output_summary(const struct yk_train_request *request,
                                  const struct yk_train_result *result,
                                  struct yk_text *out) YK_MUST_USE;

#endif
