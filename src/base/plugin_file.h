/*
 * Plug-in file: a part of yoke in its own shared library. It is loaded on demand and never
 * unloaded.
 *
 * A plug-in exports one constant table of functions and a function pointer, YK_PLUGIN_FAIL, through
 * which its yk_fail() stores messages in the program that loaded it (base/plugin/status.c is linked
 * into every plug-in).
 */
#ifndef YK_BASE_PLUGIN_FILE_H
#define YK_BASE_PLUGIN_FILE_H

#include "base/status.h"

#include <stdbool.h>

#define YK_PLUGIN_FAIL "yk_plugin_fail" /* the name of that pointer, a yk_plugin_fail_function */

typedef yk_status (*yk_plugin_fail_function)(yk_status status, const char *format, ...)
    YK_PRINTF(2, 3);

struct yk_plugin_file_request {
    const char *table;      /* the exported name of the table of functions */
    const char *purpose;    /* for messages: "exchanges between ranks" */
    const char *built_with; /* for the message about a missing file: "Open MPI is installed (…)" */
    bool global; /* load with RTLD_GLOBAL: libraries of the plug-in find each other's symbols */
};

/* Loads a plug-in and returns its table. If that fails, the message says what to install. */
yk_status yk_plugin_file_load(const char *path, const struct yk_plugin_file_request *request,
                              const void **out) YK_MUST_USE;

/* Fails unless the version of the plug-in's table, `found`, is the one that this program needs,
 * `wanted`. */
yk_status yk_plugin_file_check_version(const char *path, const char *what, int found,
                                       int wanted) YK_MUST_USE;

#endif
