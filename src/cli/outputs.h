/*
 * Outputs: the files a command writes beside its printed result.
 *
 * All are made before the first is written, so that a failure to make one leaves no file behind.
 * One thread at a time.
 */
#ifndef YK_CLI_OUTPUTS_H
#define YK_CLI_OUTPUTS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_OUTPUTS_MOST = 8
};

struct yk_output {
    const char *path;
    struct yk_text text;
};

/* Starts as {0}. */
struct yk_outputs {
    struct yk_output files[YK_OUTPUTS_MOST];
    size_t count;
    bool own; /* within a folder of ours: links are not followed */
};

/*
 * Refuses, before any work is done, a file that cannot be written because its folder is missing or
 * closed to us, that is to be written twice, or that is one of the inputs: the first
 * `input_count` of `paths` are inputs, the others outputs; any may be NULL.
 */
yk_status yk_outputs_check(const char *const *paths, size_t count, size_t input_count) YK_MUST_USE;

/* The text to fill for the file at `path`. */
struct yk_text *yk_outputs_add(struct yk_outputs *outputs, const char *path);

yk_status yk_outputs_write(const struct yk_outputs *outputs) YK_MUST_USE;
void yk_outputs_free(struct yk_outputs *outputs);

#endif
