/*
 * Inspect: what is in a file or folder of tensors, in a checkpoint, or in a token shard. One thread
 * at a time.
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
    /* A .safetensors file, a folder of them, a checkpoint, the folder of a run (its newest
     * checkpoint), or a token shard (.bin). */
    const char *path;
};

struct yk_inspect_tensor {
    const char *name;
    const char *type; /* "BF16" */
    int32_t rank;     /* 0: one number */
    const int64_t *shape;
    uint64_t bytes;
};

/* What a file says about itself. */
struct yk_inspect_note {
    const char *key;
    const char *value;
};

struct yk_inspect_file {
    const char *path;
    uint64_t bytes;
    struct yk_inspect_note *notes;
    int32_t note_count;
};

/* Of a checkpoint whose files have all their sizes and hashes. */
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
    const char *base_model;   /* what the adapter adapts; NULL: not named */
    const char *tokenizer;    /* "byte-level BPE, 50257 tokens"; NULL: none */
    const char *options_json; /* of the run; NULL: of no run */
    const char *options;      /* those that are not preset: " --batch 16 --nf4"; NULL: of no run */
    int32_t shards;           /* of the ranks that saved it; 0: one rank alone */
};

/* Starts as {0}. */
struct yk_inspect_result {
    const char *path; /* of a run, that of the checkpoint */

    bool is_token_shard; /* then this is all there is */
    int64_t tokens;

    struct yk_inspect_checkpoint *checkpoint; /* NULL: no checkpoint */
    struct yk_inspect_file *files;
    int32_t file_count;
    struct yk_inspect_tensor *tensors; /* of all files */
    int32_t tensor_count;
    double numbers; /* in all tensors */
    double bytes;

    const char *optimizer; /* the file of an optimizer's state; NULL: none */
    int32_t optimizer_tensors;
    uint64_t optimizer_bytes;

    /* What all of it points into. */
    struct yk_arena *arena;
    struct yk_checkpoint *opened;
    struct yk_tensor_set *set;
    struct yk_safetensors *optimizer_file;
};

/* What is torn is refused by the name of the file. */
yk_status yk_inspect_run(const struct yk_inspect_request *request,
                         struct yk_inspect_result *out) YK_MUST_USE;
void yk_inspect_result_free(struct yk_inspect_result *result);

#endif
