/*
 * Plug-in file: a shared library that contains a part of yoke. It is loaded on demand and never
 * unloaded.
 *
 * A plug-in exports one constant table of functions and one function pointer with the name
 * YK_PLUGIN_FAIL_SYMBOL. The file base/plugin/status.c is linked into every plug-in. The yk_fail()
 * in this file stores error messages in the program that loaded the plug-in: it calls the pointer,
 * which yk_plugin_file_load() has set.
 */
#ifndef YK_BASE_PLUGIN_FILE_H
#define YK_BASE_PLUGIN_FILE_H

#include "base/status.h"

#include <stdbool.h>

#define YK_PLUGIN_FAIL_SYMBOL "yk_plugin_fail" /* the pointer is a yk_plugin_fail_function */

typedef yk_status (*yk_plugin_fail_function)(yk_status status, const char *format, ...)
    YK_PRINTF_LIKE(2, 3);

struct yk_plugin_file_request {
    const char *table;   /* exported name of the table of functions */
    const char *purpose; /* what the plug-in is for, in messages: "exchanges between ranks" */
    /* For the message about a missing file: the condition under which yoke is built with this
     * plug-in, for example "Open MPI is installed (…)". */
    const char *built_with;
    /* Load with RTLD_GLOBAL, so that the libraries of the plug-in find each other's symbols. */
    bool global;
};

/* Loads a plug-in and sets `*out` to its table. If a library or the file is missing, the error
 * message says what to install. */
yk_status yk_plugin_file_load(const char *path, const struct yk_plugin_file_request *request,
                              const void **out) YK_MUST_USE;

/* Fails unless `found`, the version of the plug-in's table, equals `wanted`, the version that this
 * program needs. `what` describes the table in the error message. */
yk_status yk_plugin_file_check_version(const char *path, const char *what, int found,
                                       int wanted) YK_MUST_USE;

#endif
