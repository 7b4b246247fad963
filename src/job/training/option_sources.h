/*
 * Train option sources: where options of a training run come from that the command line does not
 * give: the run that is resumed, the workload of a plan, a file of options.
 */
#ifndef YK_JOB_TRAINING_OPTION_SOURCES_H
#define YK_JOB_TRAINING_OPTION_SOURCES_H

#include "base/option.h"
#include "job/training/request.h"

/* The sources of a request, in the arena. Stores the checkpoint to resume from in the request. */
yk_status yk_train_option_sources(struct yk_train_request *request, struct yk_arena *arena,
                                  struct yk_option_sources *out) YK_MUST_USE;

/* Fails if an option that must not change when a run is resumed differs from `options_json`, which
 * the run saved. `source` is the file it was saved in. */
yk_status yk_train_option_sources_check_resumed(const struct yk_train_request *request,
                                                const char *options_json,
                                                const char *source) YK_MUST_USE;

#endif
