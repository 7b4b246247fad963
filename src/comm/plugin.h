/*
 * Plugin: what a comm that is loaded by name exports besides its table `yk_comm_plugin`.
 *
 * A plug-in keeps no sentences of its own: the loader gives it the function that writes them, so
 * that whoever reads them finds them.
 */
#ifndef YK_COMM_PLUGIN_H
#define YK_COMM_PLUGIN_H

#include "comm/comm.h"

#define YK_COMM_PLUGIN_TABLE "yk_comm_plugin"     /* const struct yk_comm */
#define YK_COMM_PLUGIN_FAIL "yk_comm_plugin_fail" /* yk_comm_plugin_fail_function */

typedef yk_status (*yk_comm_plugin_fail_function)(yk_status status, const char *format, ...)
    YK_PRINTF(2, 3);

#endif
