#include "base/log.h"

#include "base/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static yk_log_sink current_sink;
static void *current_user;

void yk_log_set_sink(yk_log_sink sink, void *user)
{
    current_sink = sink;
    current_user = user;
}

void yk_log(enum yk_log_level level, const char *format, ...)
{
    if (!current_sink) {
        return;
    }
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    yk_control_mask(line, strlen(line));
    current_sink(current_user, level, line);
}
