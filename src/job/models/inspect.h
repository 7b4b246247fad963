/*
 * Inspect: lists the contents of a tensor file, of a folder of tensor files, of a checkpoint, or of
 * a token shard. Not thread-safe.
 */
#ifndef YK_JOB_MODELS_INSPECT_H
#define YK_JOB_MODELS_INSPECT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "tensors/tensor_set.h"
#include "train/checkpoint/checkpoint.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_inspect_request {
    /* A .safetensors file, a folder of .safetensors files, a checkpoint, a run folder (its newest
     * checkpoint is inspected), or a token shard (.bin). */
    const char *path;
};

/* Starts as {0}; owns what it points to. */
struct yk_inspect_result {
    struct yk_arena *arena;
    const char *path; /* for a run folder: the path of its checkpoint */

    bool is_token_shard; /* if true, only path and tokens are set */
    int64_t tokens;

    struct yk_tensor_set *set;
    double numbers; /* number of elements in all tensors */
    double bytes;   /* size of all tensors */
    /* The checkpoint that was inspected; NULL means: the path is neither a checkpoint nor a run
     * folder. The sizes and hashes of all its files have been verified. */
    struct yk_checkpoint *checkpoint;
    const char *tokenizer; /* description: "byte-level BPE, 50257 tokens"; NULL means: none */
    /* Options of the run that differ from their defaults: " --batch 16 --nf4". NULL means: the
     * checkpoint was not saved by a run. */
    const char *options;
    struct yk_safetensors_file *optimizer; /* file of the optimizer state; NULL means: none */
};

/* Fails if a file is truncated or damaged. The message names the file. */
yk_status yk_inspect_run(const struct yk_inspect_request *request,
                         struct yk_inspect_result *out) YK_MUST_USE;
void yk_inspect_result_free(struct yk_inspect_result *result);

yk_status yk_inspect_write_text(const struct yk_inspect_result *result,
                                struct yk_text *out) YK_MUST_USE;
yk_status yk_inspect_write_json(const struct yk_inspect_result *result,
                                struct yk_text *out) YK_MUST_USE;

#endif
