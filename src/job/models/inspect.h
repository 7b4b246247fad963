/*
 * Inspect: lists the contents of a tensor file or folder, of a checkpoint, or of a token shard. Not
 * thread-safe.
 */
#ifndef YK_JOB_MODELS_INSPECT_H
#define YK_JOB_MODELS_INSPECT_H

#include "base/arena.h"
#include "base/status.h"
#include "tensors/tensor_set.h"
#include "train/checkpoint/checkpoint.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_inspect_request {
    /* A .safetensors file, a folder of such files, a checkpoint, a run folder (its newest
     * checkpoint is inspected), or a token shard (.bin). */
    const char *path;
};

struct yk_inspect_tensor {
    const char *name;
    const char *type; /* "BF16" */
    int32_t rank;     /* number of dimensions; 0: a scalar */
    const int64_t *shape;
    uint64_t bytes;
};

/* One entry of a file's metadata. */
struct yk_inspect_metadata_entry {
    const char *key;
    const char *value;
};

struct yk_inspect_file {
    const char *path;
    uint64_t bytes;
    struct yk_inspect_metadata_entry *metadata;
    int32_t metadata_count;
};

/* A checkpoint. Sizes and hashes of all its files have been verified. */
struct yk_inspect_checkpoint {
    int64_t step;
    int64_t updates;
    int64_t samples;
    const char *architecture;
    int64_t layers;
    int64_t width;
    int64_t vocabulary;
    int64_t sequence;
    const char *precision;
    int64_t lora_rank; /* 0: no adapter */
    double lora_alpha;
    bool nf4;
    const char *base_model;   /* base weights of the adapter; NULL: not named */
    const char *tokenizer;    /* "byte-level BPE, 50257 tokens"; NULL: none */
    const char *options_json; /* all options of the run; NULL: not saved by a run */
    const char *options;      /* options that differ from their defaults: " --batch 16 --nf4" */
    int32_t shards;           /* number of ranks that saved a shard; 0: one rank saved all */
};

/* Starts as {0}. */
struct yk_inspect_result {
    const char *path; /* for a run folder: the path of its checkpoint */

    bool is_token_shard; /* if true, only path and tokens are set */
    int64_t tokens;

    struct yk_inspect_checkpoint *checkpoint; /* NULL: not a checkpoint */
    struct yk_inspect_file *files;
    int32_t file_count;
    struct yk_inspect_tensor *tensors; /* of all files */
    int32_t tensor_count;
    double numbers; /* elements of all tensors */
    double bytes;

    const char *optimizer; /* file of the optimizer state; NULL: none */
    int32_t optimizer_tensors;
    uint64_t optimizer_bytes;

    /* Owners of the data that the members above point to. */
    struct yk_arena *arena;
    struct yk_checkpoint *opened;
    struct yk_tensor_set *set;
    struct yk_safetensors *optimizer_file;
};

/* Fails with the name of the file if a file is truncated or damaged. */
yk_status yk_inspect_run(const struct yk_inspect_request *request,
                         struct yk_inspect_result *out) YK_MUST_USE;
void yk_inspect_result_free(struct yk_inspect_result *result);

#endif
