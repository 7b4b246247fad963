/*
 * Log: what the library would like a person to know while it works. It never prints: a line goes to
 * the sink that the program has set. Any thread may log, several at once; setting a sink waits for
 * calls that are under way, so a sink must not set one.
 */
#ifndef YK_BASE_LOG_H
#define YK_BASE_LOG_H

#include "base/status.h"

enum yk_log_level {
    YK_LOG_WARNING, /* the result stands, but a person should know this */
    YK_LOG_NOTE,    /* what was chosen where the input left it open */
    YK_LOG_DETAIL,  /* for someone who wonders what happens inside */
};

typedef void (*yk_log_sink)(void *user, enum yk_log_level level, const char *line);

void yk_log_set_sink(yk_log_sink sink, void *user);

void yk_log(enum yk_log_level level, const char *format, ...) YK_PRINTF(2, 3);

#endif
