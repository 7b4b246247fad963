/*
 * Checkpoint: all that a training needs to go on as if it had never stopped, as a folder.
 *
 *   checkpoints/step-00000100/
 *     manifest.json          version, step, and every file's size and XXH3 hash
 *     config.json            the model, as Hugging Face writes it
 *     model.safetensors      its weights (adapters besides: adapter_config.json,
 *                            adapter_model.safetensors; then the frozen base is not saved again)
 *     optimizer.safetensors  master.NAME, moment1.NAME, moment2.NAME
 *     state.json             steps, samples, scaler, seed, and the run's options
 *     tokenizer.json         how its text becomes tokens; by character: vocabulary.json
 *
 * Several ranks save theirs together, into a folder that all of them see. In place of weights,
 * adapters and optimizer.safetensors it then has a shard of every rank (shard.h). Any number
 * of ranks, each keeping any part, can go on from either form.
 *
 * It is written under another name, synced and renamed, so that it is there whole or not at all;
 * older ones go only when a newer one is whole. One thread at a time.
 */
#ifndef YK_TRAIN_CHECKPOINT_CHECKPOINT_H
#define YK_TRAIN_CHECKPOINT_CHECKPOINT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "comm/ranks.h"
#include "model/model.h"
#include "nn/loss_scaler.h"
#include "nn/store/store.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

/* What adapters adapt when nobody keeps it: weights that YK_STORE_INIT_ROUGH draws by the
 * seed. */
#define YK_CHECKPOINT_RANDOM "random"

struct yk_checkpoint_state {
    int64_t step;    /* steps done */
    int64_t updates; /* of them, those that were not skipped */
    int64_t samples; /* read from the sampler, in its units: the position in the data */
    int64_t epoch;   /* units of an epoch, by which other data is recognised; 0: not known */
    int64_t bad;     /* steps in a row that were skipped by now */
    uint64_t seed;
    struct yk_loss_scaler scaler;
};

struct yk_checkpoint_content {
    const struct yk_store *store;
    struct yk_checkpoint_state state;
    const struct yk_tokenizer *tokenizer; /* or NULL */
    const char *options_json;             /* an object */
    const char *base_model;               /* of adapters; else NULL */
    const struct yk_ranks *ranks;         /* that save it together; NULL: this one alone */
    const struct yk_partition *saves;     /* (L) with several ranks: what this one saves of each
                                           layer, see yk_partitions_to_save() */
};

/* Writes folder/step-NNNNNNNN and then removes all but the newest `keep`. `out` is its path.
 * Several ranks call it together, with one state, and get one status: where a rank cannot write its
 * shard, all report which and why, and the checkpoint before stays. */
yk_status yk_checkpoint_save(const char *folder, const struct yk_checkpoint_content *content,
                             int32_t keep, struct yk_text *out) YK_MUST_USE;

/* The bytes of a checkpoint's tensors, of all ranks together. The other files are small. */
uint64_t yk_checkpoint_save_bytes(const struct yk_checkpoint_content *content);

/* Fails where the existing `folder` lacks the space for `saves` more checkpoints, of which the
 * newest `keep` stay (0: all) next to the one that is being written. Those in folder/checkpoints
 * count. A file system that does not say how much is free is assumed to be large enough. */
yk_status yk_checkpoint_check_save_space(const char *folder,
                                         const struct yk_checkpoint_content *content, int64_t saves,
                                         int32_t keep) YK_MUST_USE;

/* A checkpoint that has been opened: found whole, its small files read. */
struct yk_checkpoint {
    struct yk_arena *arena;
    const char *path;
    const struct yk_model_config *config;
    struct yk_workload workload; /* precision, adapters, NF4, sequence; batch as it was trained */
    double lora_alpha;
    const char *base_model;
    struct yk_checkpoint_state state;
    struct yk_tokenizer *tokenizer; /* or NULL */
    const char *options_json;       /* or NULL: a folder of Hugging Face */
    int32_t shards;                 /* of the ranks that saved it; 0: of one rank alone */
};

/*
 * Opens a checkpoint, or the newest in a run's folder. One that is torn (a file of another size or
 * hash) is left alone with a warning where there is an older one. A folder of Hugging Face's with
 * config.json and weights is opened as well, at step 0; so is one with an adapter.
 */
yk_status yk_checkpoint_open(const char *path, struct yk_checkpoint **out) YK_MUST_USE;
/* The same by several ranks together, which read a share of its files each: all of them open one
 * checkpoint, or get one status. Warnings are the first rank's alone. NULL: this one alone. */
yk_status yk_checkpoint_open_ranks(const char *path, const struct yk_ranks *ranks,
                                   struct yk_checkpoint **out) YK_MUST_USE;
void yk_checkpoint_close(struct yk_checkpoint *checkpoint);

/* The store's part of the weights, and of the optimizer's state where it has one. `base` is where
 * the frozen weights of an adapter are; NULL: where the checkpoint says. Each rank loads for
 * itself, and may fail alone. */
yk_status yk_checkpoint_load(const struct yk_checkpoint *checkpoint, const char *base,
                             struct yk_store *store) YK_MUST_USE;

/* The parameters of a model alone, no adapters: of a file or a folder as Hugging Face's tools write
 * them (nn/weights/weights.h), or of a checkpoint, to begin something else with. */
yk_status yk_checkpoint_load_model(const char *path, struct yk_store *store) YK_MUST_USE;

#endif
