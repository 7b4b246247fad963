/*
 * Train option sources: options that lie between the presets of a training and what is asked of it:
 * those of the run that is resumed, the workload of a plan, a file of options.
 */
#ifndef YK_JOB_TRAINING_OPTION_SOURCES_H
#define YK_JOB_TRAINING_OPTION_SOURCES_H

#include "base/option_sources.h"
#include "job/training/request.h"

/* Which sources a request has; in the arena. Notes in the request the checkpoint that it resumes.
 */
yk_status yk_train_option_sources(struct yk_train_request *request, struct yk_arena *arena,
                                  struct yk_option_sources *out) YK_MUST_USE;

/* Refuses options that are not those of the run that `options_json` was saved by, where a run
 * cannot go on with others. `source` is where they were saved. */
yk_status yk_train_option_sources_check_resumed(const struct yk_train_request *request,
                                                const char *options_json,
                                                const char *source) YK_MUST_USE;

#endif
