/*
 * Inspect: what is in a file or folder of tensors, and in a checkpoint besides, for text and JSON.
 */
#ifndef YK_CLI_COMMANDS_INSPECT_H
#define YK_CLI_COMMANDS_INSPECT_H

#include "base/text.h"
#include "data/tensor_set.h"
#include "train/checkpoint.h"

#include <stdbool.h>
#include <stdint.h>

/* Owned by whoever opened them. */
struct yk_inspected {
    const char *path;
    const struct yk_checkpoint *checkpoint; /* NULL: no checkpoint */
    const struct yk_tensor_set *set;        /* weights, or an adapter */
    const struct yk_tensor_file *optimizer; /* NULL: none */
};

struct yk_inspected_sum {
    int64_t tensors;
    double numbers;
    double bytes;
};

struct yk_inspected_sum yk_inspect_sum(const struct yk_inspected *inspected);

yk_status yk_inspect_write_text(const struct yk_inspected *inspected,
                                struct yk_text *out) YK_MUST_USE;
yk_status yk_inspect_write_json(const struct yk_inspected *inspected,
                                struct yk_text *out) YK_MUST_USE;

/* A file of tokens, which has no tensors. */
yk_status yk_inspect_write_shard(const char *path, int64_t tokens, bool json,
                                 struct yk_text *out) YK_MUST_USE;

#endif
