/*
 * Train progress in lines: what a person sees of a training while it goes on.
 *
 * One line a step on standard error, rewritten in place on a terminal; the first ten and then every
 * so many are kept. From the first step on, Ctrl-C and TERM ask the run to save and stop.
 */
#ifndef YK_CLI_COMMANDS_TRAIN_PROGRESS_H
#define YK_CLI_COMMANDS_TRAIN_PROGRESS_H

#include "base/text.h"
#include "job/training/progress.h"

#include <stdint.h>

/* Starts with its first member, the rest 0. */
struct yk_train_lines {
    int64_t log_every;
    int64_t first_step;  /* done before this run began */
    struct yk_text line; /* being written */
};

/* The callbacks, which last as long as `lines`. */
struct yk_train_progress yk_train_lines_progress(struct yk_train_lines *lines);
void yk_train_lines_free(struct yk_train_lines *lines);

#endif
