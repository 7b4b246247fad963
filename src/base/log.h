/*
 * Log: messages for the user while work goes on. Nothing is printed here: each line is passed to
 * the sink that the program has set. Several threads may log at once. yk_log_set_sink() waits for
 * calls of the sink that are under way, so a sink must not call it.
 */
#ifndef YK_BASE_LOG_H
#define YK_BASE_LOG_H

#include "base/status.h"

enum yk_log_level {
    YK_LOG_WARNING, /* the result is valid, but the user should know this */
    YK_LOG_NOTE,    /* what was chosen where the input did not say */
    YK_LOG_DETAIL,  /* for debugging */
};

typedef void (*yk_log_sink)(void *user, enum yk_log_level level, const char *line);

void yk_log_set_sink(yk_log_sink sink, void *user);

void yk_log(enum yk_log_level level, const char *format, ...) YK_PRINTF(2, 3);

#endif
