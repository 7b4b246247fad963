/*
 * File: whole files in and out.
 *
 * A file is written beside its final name and renamed when complete, so that a reader never sees
 * half of one and a failure leaves what was there before.
 */
#ifndef YK_BASE_FILE_H
#define YK_BASE_FILE_H

#include "base/status.h"
#include "base/text.h"

/* Adds all of the file to `out`; the path "-" is standard input. */
yk_status yk_file_read(const char *path, struct yk_text *out) YK_MUST_USE;

/* Replaces the file by `text`; a path that is no plain file (a pipe, a terminal) is written to. */
yk_status yk_file_write(const char *path, const struct yk_text *text) YK_MUST_USE;

#endif
