/* The yk_fail() of a plug-in: stores messages in the program that loaded the plug-in. base/status.c
 * is not linked here. */
#include "base/plugin_file.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    SENTENCE_SIZE = 1024
};

extern yk_plugin_fail_function yk_plugin_fail;
__attribute__((visibility("default"))) yk_plugin_fail_function yk_plugin_fail;

yk_status(yk_fail)(yk_status status, const char *format, ...)
{
    char sentence[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    /* Several plug-ins compile this file; clang-tidy 14 forgets va_start when it reads it again. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return yk_plugin_fail ? yk_plugin_fail(status, "%s", sentence) : status;
}

yk_status(yk_fail_out_of_memory)(void)
{
    return yk_fail(YK_ERROR_SYSTEM, "out of memory; close other programs or use a smaller problem");
}
