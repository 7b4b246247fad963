/*
 * Checkpoint: a folder with everything that a training needs to continue as if it had not stopped.
 *
 *   checkpoints/step-00000100/
 *     manifest.json          version, step, and the size and XXH3 hash of every file
 *     config.json            the model config in Hugging Face format
 *     model.safetensors      the weights. With adapters: adapter_config.json and
 *                            adapter_model.safetensors, and no weights if the base model is known
 *     frozen.safetensors     the bytes of NF4 weights
 *     optimizer.safetensors  master.NAME, moment1.NAME, moment2.NAME
 *     state.json             steps, samples, loss scaler, seed, and the options of the run
 *     tokenizer.json         the tokenizer; a character tokenizer is vocabulary.json
 *
 * Several ranks save one checkpoint together, into a folder that all of them can access. It has one
 * shard per rank (shard.h) in place of the .safetensors files. Any number of ranks, with any
 * sharding, can load either form.
 *
 * A checkpoint is written under another name, synced and renamed, so that it is either complete or
 * absent. Older checkpoints are removed only after a newer one is complete. One thread at a time.
 */
#ifndef YK_TRAIN_CHECKPOINT_CHECKPOINT_H
#define YK_TRAIN_CHECKPOINT_CHECKPOINT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "comm/communicator.h"
#include "model/model.h"
#include "nn/loss_scaler.h"
#include "nn/store/parameter_store.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

/* The base model of adapters that adapt random weights: YK_PARAMETER_STORE_INIT_REPEATED with the
 * seed. */
#define YK_CHECKPOINT_RANDOM_BASE_MODEL "random"

struct yk_checkpoint_state {
    int64_t step;    /* steps done */
    int64_t updates; /* steps that were not skipped */
    int64_t samples; /* position in the data: units read from the sampler */
    int64_t epoch;   /* units per epoch, to detect different data; 0: unknown */
    int64_t bad;     /* consecutive skipped steps, up to the last step */
    uint64_t seed;
    struct yk_loss_scaler scaler;
};

/* What is saved. */
struct yk_checkpoint_content {
    const struct yk_parameter_store *store;
    struct yk_checkpoint_state state;
    const struct yk_tokenizer *tokenizer; /* may be NULL */
    const char *options_json;             /* a JSON object */
    const char *base_model;               /* of adapters; NULL: unknown, or no adapters */
    const struct yk_communicator *ranks;  /* ranks that save together; NULL: one rank */
    const struct yk_partition *saves;     /* (L) the part of each layer that this rank saves, see
                                             yk_rank_partitions_saved(); unused by one rank */
};

/* Writes folder/step-NNNNNNNN, appends its path to `out`, and removes all but the newest `keep`
 * checkpoints (0: none is removed). All ranks call it with the same state and return the same
 * status. If a rank cannot write its shard, all ranks report the rank and the reason, and the
 * previous checkpoint remains. */
yk_status yk_checkpoint_save(const char *folder, const struct yk_checkpoint_content *content,
                             int32_t keep, struct yk_text *out) YK_MUST_USE;

/* The bytes of a checkpoint's tensors, over all ranks. The other files are small. */
uint64_t yk_checkpoint_save_bytes(const struct yk_checkpoint_content *content);

/* Fails if the file system of `folder` has not enough free space for `saves` more checkpoints, of
 * which the newest `keep` are kept (0: all) while another one is written. Checkpoints that already
 * exist in folder/checkpoints count as kept. Succeeds if the free space is unknown. */
yk_status yk_checkpoint_check_save_space(const char *folder,
                                         const struct yk_checkpoint_content *content, int64_t saves,
                                         int32_t keep) YK_MUST_USE;

/* An opened checkpoint. Its files were verified and its small files were read. */
struct yk_checkpoint {
    struct yk_arena *arena;
    const char *path;
    const struct yk_model_config *config;
    struct yk_workload workload; /* of the training that was saved */
    double lora_alpha;
    const char *base_model;
    struct yk_checkpoint_state state;
    struct yk_tokenizer *tokenizer; /* NULL: none, or not supported */
    const char *options_json;       /* NULL: a folder in Hugging Face format */
    int32_t shards;                 /* number of shards; 0: one rank saved it */
};

/*
 * Opens a checkpoint, or the newest checkpoint of a run's folder. If the newest one is incomplete
 * (the size or hash of a file differs), it warns and opens an older one. Also opens a model or an
 * adapter in Hugging Face format, at step 0.
 */
yk_status yk_checkpoint_open(const char *path, struct yk_checkpoint **out) YK_MUST_USE;
/* Opens the same checkpoint on all ranks; they return the same status. Each rank verifies a share
 * of the files. Only rank 0 warns. `ranks` NULL: one rank. */
yk_status yk_checkpoint_open_on_ranks(const char *path, const struct yk_communicator *ranks,
                                      struct yk_checkpoint **out) YK_MUST_USE;
void yk_checkpoint_close(struct yk_checkpoint *checkpoint);

/* Loads the part of the weights and of the optimizer state that the store keeps. `base` is the path
 * of an adapter's base model; NULL: the path in the checkpoint. Each rank loads by itself and may
 * fail alone. */
yk_status yk_checkpoint_load(const struct yk_checkpoint *checkpoint, const char *base,
                             struct yk_parameter_store *store) YK_MUST_USE;

/* Loads only the parameters of a model, without adapters and optimizer state: from a file or folder
 * in Hugging Face format (nn/weights/weights.h), or from a checkpoint. */
yk_status yk_checkpoint_load_model(const char *path, struct yk_parameter_store *store) YK_MUST_USE;

#endif
