/*
 * Inspect: lists the contents of a tensor file or folder, of a checkpoint, or of a token shard. Not
 * thread-safe.
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
    /* A .safetensors file, a folder of such files, a checkpoint, a run folder (its newest
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
    double numbers; /* elements of all tensors */
    double bytes;
    /* NULL: not a checkpoint. Sizes and hashes of all its files have been verified. */
    struct yk_checkpoint *checkpoint;
    const char *tokenizer; /* "byte-level BPE, 50257 tokens"; NULL: none */
    const char *options; /* options of the run that differ from their defaults: " --batch 16 --nf4";
                            NULL: not saved by a run */
    struct yk_safetensors *optimizer; /* file of the optimizer state; NULL: none */
};

/* Fails with the name of the file if a file is truncated or damaged. */
yk_status yk_inspect_run(const struct yk_inspect_request *request,
                         struct yk_inspect_result *out) YK_MUST_USE;
void yk_inspect_result_free(struct yk_inspect_result *result);

yk_status yk_inspect_write_text(const struct yk_inspect_result *result,
                                struct yk_text *out) YK_MUST_USE;
yk_status yk_inspect_write_json(const struct yk_inspect_result *result,
                                struct yk_text *out) YK_MUST_USE;

#endif
