/*
 * Plug-in file: a part of yoke in a library of its own, loaded when it is asked for, and never
 * unloaded.
 *
 * A plug-in exports one const table of functions, and a pointer to the function that writes
 * sentences: it has none of its own (base/plugin/status.c is linked into it).
 */
#ifndef YK_BASE_PLUGIN_FILE_H
#define YK_BASE_PLUGIN_FILE_H

#include "base/status.h"

#include <stdbool.h>

#define YK_PLUGIN_FAIL "yk_plugin_fail" /* yk_plugin_fail_function */

typedef yk_status (*yk_plugin_fail_function)(yk_status status, const char *format, ...)
    YK_PRINTF(2, 3);

struct yk_plugin_file_request {
    const char *table;      /* the name it is exported by */
    const char *purpose;    /* "exchanges between ranks" */
    const char *built_with; /* "Open MPI is installed (…)": where a file is that is missing */
    bool global;            /* its libraries look for their symbols among all that there are */
};

/* Where the file cannot be loaded the sentence says what to install. */
yk_status yk_plugin_file_load(const char *path, const struct yk_plugin_file_request *request,
                              const void **out) YK_MUST_USE;

/* A table whose number is `found` where this yoke wants `wanted`. */
yk_status yk_plugin_file_check(const char *path, const char *what, int found,
                               int wanted) YK_MUST_USE;

#endif
