/*
 * Checkpoint folder: the folder that contains a run's checkpoints, and the files of a checkpoint.
 * Each checkpoint is a folder of its own. Its files are synced before it gets its final name, so
 * that a checkpoint is either complete or absent. The names of these folders mean:
 *
 *   step-00000100          a checkpoint
 *   step-00000100.partial  a checkpoint that is being written or removed;
 *                          it is never read
 *   step-00000100.old      a checkpoint that is being replaced by a new one of
 *                          the same step; it is read only while the new one
 *                          does not exist
 */
#ifndef YK_TRAIN_CHECKPOINT_FOLDER_H
#define YK_TRAIN_CHECKPOINT_FOLDER_H

#include "base/arena.h"
#include "base/folder.h"
#include "base/status.h"
#include "base/text.h"
#include "train/checkpoint/checkpoint.h"

#include <stdbool.h>
#include <stdint.h>

#define YK_CHECKPOINT_CONFIG_FILE "config.json"
#define YK_CHECKPOINT_MODEL_FILE "model.safetensors"
#define YK_CHECKPOINT_MODEL_INDEX_FILE "model.safetensors.index.json"
#define YK_CHECKPOINT_ADAPTER_CONFIG_FILE "adapter_config.json"
#define YK_CHECKPOINT_FROZEN_FILE "frozen.safetensors"
#define YK_CHECKPOINT_OPTIMIZER_FILE "optimizer.safetensors"
#define YK_CHECKPOINT_STATE_FILE "state.json"
#define YK_CHECKPOINT_TOKENIZER_FILE "tokenizer.json"
#define YK_CHECKPOINT_VOCABULARY_FILE "vocabulary.json"
#define YK_CHECKPOINT_IMAGES_FILE "preprocessor_config.json"
#define YK_CHECKPOINT_MANIFEST_FILE "manifest.json"

struct yk_checkpoint_folder_entry {
    const char *name;
    int64_t step;
    bool old; /* the name ends in ".old" */
};

struct yk_checkpoint_folder_list {
    struct yk_checkpoint_folder_entry *entries; /* oldest first */
    int32_t count;
};

/* Lists the checkpoints in `folder`. The list is empty if the folder does not exist. */
yk_status yk_checkpoint_folder_list_checkpoints(const char *folder, struct yk_arena *arena,
                                                struct yk_checkpoint_folder_list *out) YK_MUST_USE;

/* Returns whether the folder contains the weights of a model in Hugging Face format. */
bool yk_checkpoint_folder_has_weights(const char *folder);
/* Returns whether the folder contains a PEFT adapter. */
bool yk_checkpoint_folder_has_adapter(const char *folder);

/* Waits until a file or folder is stored on the disk. */
yk_status yk_checkpoint_folder_sync_path(const char *path) YK_MUST_USE;

/* Removes a folder and its contents. Ignores errors. */
void yk_checkpoint_folder_remove(const char *path);

/* Removes the .partial folders that interrupted saves left behind. */
void yk_checkpoint_folder_remove_partial_saves(const char *folder);

/* Appends the contents of state.json to `out`: the progress of the training, its workload and its
 * options. The seed is a string, because a JSON number cannot hold 64 bits. The options are copied
 * verbatim; they must be a JSON object. */
yk_status yk_checkpoint_state_write_json(const struct yk_checkpoint_content *content,
                                         struct yk_text *out) YK_MUST_USE;

/* Parses a state.json. Sets the members state, workload, lora_alpha, base_model and options_json of
 * `out`, and sets `*model` to the model's name. Strings are in the arena. */
yk_status yk_checkpoint_state_parse_json(const char *bytes, size_t length, struct yk_arena *arena,
                                         struct yk_checkpoint *out, const char **model) YK_MUST_USE;

/* The next two functions write and read optimizer.safetensors: the optimizer state as fp32. Loading
 * also sets the weights of the store: they are the rounded master weights. */
yk_status yk_checkpoint_save_optimizer_tensors(const struct yk_parameter_store *store,
                                               const char *path) YK_MUST_USE;
yk_status yk_checkpoint_load_optimizer_tensors(struct yk_parameter_store *store,
                                               const char *path) YK_MUST_USE;

/* The next two functions write and read frozen.safetensors: the bytes of frozen NF4 weights. The
 * bytes are saved because dequantising and quantising the weights again would change them. */
yk_status yk_checkpoint_save_frozen_nf4_tensors(const struct yk_parameter_store *store,
                                                const char *path) YK_MUST_USE;
yk_status yk_checkpoint_load_frozen_nf4_tensors(struct yk_parameter_store *store,
                                                const char *path) YK_MUST_USE;

#endif
