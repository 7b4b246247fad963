#include "base/status.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_SIZE = 1024
};

static _Thread_local char last_message[MESSAGE_SIZE];

yk_status(yk_fail)(yk_status status, const char *format, ...)
{
    /* An argument may point into last_message. */
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    /* It may contain names from files, which must not control the terminal. */
    yk_utf8_replace_control_characters(message, strlen(message));
    memcpy(last_message, message, sizeof last_message);
    return status;
}

yk_status(yk_status_prefix_message)(yk_status status, const char *prefix)
{
    return status == YK_OK ? YK_OK : yk_fail(status, "%s: %s", prefix, last_message);
}

yk_status(yk_fail_out_of_memory)(void)
{
    return yk_fail(YK_ERROR_SYSTEM, "out of memory; close other programs or use a smaller problem");
}

const char *yk_status_message(void)
{
    return last_message;
}
