/*
 * Checkpoint: a folder with everything that a training run needs to continue as if it had not
 * stopped.
 *
 *   checkpoints/step-00000100/
 *     manifest.json          version, step, and the size and XXH3 hash of every file
 *     config.json            the model config in Hugging Face format
 *     model.safetensors      the weights
 *     frozen.safetensors     the bytes of NF4 weights
 *     optimizer.safetensors  master.NAME, moment1.NAME, moment2.NAME
 *     state.json             steps, samples, loss scaler, seed, and the options of the run
 *     tokenizer.json         the tokenizer; a character tokenizer has vocabulary.json instead
 *     chat_template.jinja, tokenizer_config.json, special_tokens_map.json
 *                            the chat files of the tokenizer, if it has them
 *     preprocessor_config.json  how images become the input of a model that reads images
 *
 * If one rank saves a checkpoint with adapters, the checkpoint also has adapter_config.json and
 * adapter_model.safetensors. If the base model is known, the checkpoint contains only the name of
 * the base model, not its weights.
 *
 * If a run has several ranks, they save one checkpoint together, into a folder that all of them can
 * access. This checkpoint has one shard per rank (shard.h) instead of the .safetensors files. Every
 * checkpoint, with or without shards, can be loaded by any number of ranks with any sharding.
 *
 * A checkpoint is first written under another name, then synced and renamed, so that it is either
 * complete or absent. Older checkpoints are removed only after a newer one is complete. Only one
 * thread at a time may use these functions.
 */
#ifndef YK_TRAIN_CHECKPOINT_CHECKPOINT_H
#define YK_TRAIN_CHECKPOINT_CHECKPOINT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "comm/communicator.h"
#include "data/images/image_processor.h"
#include "model/model.h"
#include "nn/loss_scaler.h"
#include "nn/store/parameter_store.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

/* The name of the base model if the adapters adapt random weights. Then the weights are initialised
 * with YK_PARAMETER_STORE_INIT_REPEATED and the seed of the checkpoint. */
#define YK_CHECKPOINT_RANDOM_BASE_MODEL_NAME "random"

/* How far a training run has come. */
struct yk_checkpoint_progress {
    int64_t step;    /* number of steps done */
    int64_t updates; /* number of steps that were not skipped */
    int64_t samples; /* position in the data: number of units read from the sampler */
    int64_t epoch;   /* units per epoch, to detect that the data changed; 0 means: unknown */
    int64_t bad;     /* number of skipped steps since the last step that was not skipped */
    uint64_t seed;
    struct yk_loss_scaler scaler;
};

/* The data that a checkpoint saves. */
struct yk_checkpoint_content {
    const struct yk_parameter_store *store;
    struct yk_checkpoint_progress state;
    const struct yk_tokenizer *tokenizer;    /* may be NULL */
    const struct yk_image_processor *images; /* NULL unless the model reads images */
    const char *options_json;                /* a JSON object */
    const char *base_model; /* base model of the adapters; NULL means: unknown, or no adapters */
    const struct yk_communicator *ranks; /* ranks that save together; NULL means: only one rank */
    /* (L) the part of each layer that this rank saves, see yk_rank_partitions_compute_saved(); not
     * used if only one rank saves. */
    const struct yk_layer_partition *saves;
};

/* Writes the checkpoint folder/step-NNNNNNNN, appends its path to `out`, and removes all
 * checkpoints except the newest `keep` ones (0 means: removes none). All ranks must call it with
 * the same state. All ranks return the same status. If a rank cannot write its shard, the error
 * message on all ranks contains this rank and the reason, and the older checkpoints remain. */
yk_status yk_checkpoint_save(const char *folder, const struct yk_checkpoint_content *content,
                             int32_t keep, struct yk_text *out) YK_MUST_USE;

/* Returns the size of a checkpoint's tensors in bytes, over all ranks. The other files are
 * small. */
uint64_t yk_checkpoint_save_size_bytes(const struct yk_checkpoint_content *content);

/* Fails if the file system of `folder` does not have enough free space to save `saves` more
 * checkpoints. `folder` is the folder of the run; its checkpoints are in folder/checkpoints. Only
 * the newest `keep` checkpoints need space (0 means: all), plus one that is being written before an
 * older one is removed. Checkpoints that already exist there need no more space. Succeeds if the
 * free space is unknown. */
yk_status yk_checkpoint_check_save_disk_space(const char *folder,
                                              const struct yk_checkpoint_content *content,
                                              int64_t saves, int32_t keep) YK_MUST_USE;

/* An open checkpoint. Its files have been verified, and its small files have been read. */
struct yk_checkpoint {
    struct yk_arena *arena;
    const char *path;
    const struct yk_model_config *config;
    struct yk_workload workload; /* workload of the saved training run */
    double lora_alpha;
    const char *base_model;
    struct yk_checkpoint_progress state;
    struct yk_tokenizer *tokenizer;   /* NULL means: no tokenizer, or its type is not supported */
    struct yk_image_processor images; /* of a model that reads images */
    /* A JSON object. NULL means: this is not a checkpoint, but a folder in Hugging Face format. */
    const char *options_json;
    int32_t shards; /* 0 means: one rank saved the checkpoint, without shards */
};

/*
 * Opens a checkpoint, or the newest checkpoint in the folder of a run. If the newest checkpoint is
 * damaged (the size or hash of a file differs), prints a warning and opens an older one. Also opens
 * a model or an adapter in Hugging Face format; `state.step` is then 0.
 */
yk_status yk_checkpoint_open(const char *path, struct yk_checkpoint **out) YK_MUST_USE;
/* Opens the same checkpoint on all ranks. All ranks return the same status. Each rank verifies some
 * of the files. Only rank 0 prints warnings. If `ranks` is NULL, there is only one rank. */
yk_status yk_checkpoint_open_on_all_ranks(const char *path, const struct yk_communicator *ranks,
                                          struct yk_checkpoint **out) YK_MUST_USE;
void yk_checkpoint_close(struct yk_checkpoint *checkpoint);

/* Loads the part of the weights and of the optimizer state that the store keeps. `base` is the path
 * of the base model of an adapter; NULL means: the base model that the checkpoint names. Each rank
 * loads by itself, so one rank may fail while others succeed. */
yk_status yk_checkpoint_load(const struct yk_checkpoint *checkpoint, const char *base,
                             struct yk_parameter_store *store) YK_MUST_USE;

/* Loads only the parameters of a model, without adapters and without optimizer state. `path` is a
 * checkpoint, or a file or folder in Hugging Face format (nn/weights/weights.h). */
yk_status yk_checkpoint_load_model_weights(const char *path,
                                           struct yk_parameter_store *store) YK_MUST_USE;

#endif
