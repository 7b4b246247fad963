/*
 * Load: a comm from the file of its plug-in.
 *
 * Loaded once, it stays for as long as the process: libraries underneath cannot be unloaded.
 */
#ifndef YK_COMM_LOAD_H
#define YK_COMM_LOAD_H

#include "comm/comm.h"

/* Where the file cannot be loaded, or is of another version, the sentence says what to install. */
yk_status yk_comm_load(const char *path, const struct yk_comm **out) YK_MUST_USE;

#endif
