/*
 * Log: messages to the user while the program works. This module does not print. It passes each
 * line to a callback, the sink, which the program has set. Several threads may log at the same
 * time. yk_log_set_sink() waits until all running calls of the sink have returned. Therefore a sink
 * must not call yk_log_set_sink().
 */
#ifndef YK_BASE_LOG_H
#define YK_BASE_LOG_H

#include "base/status.h"

enum yk_log_level {
    YK_LOG_WARNING, /* the result is valid, but the user should know this */
    YK_LOG_NOTE,    /* a choice that was made because the input left it open */
    YK_LOG_DETAIL,  /* for debugging */
};

typedef void (*yk_log_sink)(void *user, enum yk_log_level level, const char *line);

void yk_log_set_sink(yk_log_sink sink, void *user);

void yk_log(enum yk_log_level level, const char *format, ...) YK_PRINTF_LIKE(2, 3);

#endif
