#include "base/log.h"

#include "base/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Locked for reading during a call of the sink: several threads can log at the same time, and
 * setting another sink waits for them. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static yk_log_sink current_sink;
static void *current_user;

void yk_log_set_sink(yk_log_sink sink, void *user)
{
    (void)pthread_rwlock_wrlock(&lock);
    current_sink = sink;
    current_user = user;
    (void)pthread_rwlock_unlock(&lock);
}

void yk_log(enum yk_log_level level, const char *format, ...)
{
    (void)pthread_rwlock_rdlock(&lock);
    if (current_sink) {
        char line[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        yk_utf8_replace_control_characters(line, strlen(line));
        current_sink(current_user, level, line);
    }
    (void)pthread_rwlock_unlock(&lock);
}
