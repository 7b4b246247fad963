/*
 * Load: a backend from the file of its plug-in, which exports its table as YK_BACKEND_PLUGIN_TABLE.
 *
 * Loaded once, it stays for as long as the process.
 */
#ifndef YK_BACKEND_LOAD_H
#define YK_BACKEND_LOAD_H

#include "backend/backend.h"

#define YK_BACKEND_PLUGIN_TABLE "yk_backend_plugin" /* const struct yk_backend */

/* Where the file cannot be loaded, or is of another version, the sentence says what to install. */
yk_status yk_backend_load(const char *path, const struct yk_backend **out) YK_MUST_USE;

#endif
