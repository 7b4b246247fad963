/*
 * Checkpoint folder: the folder in which a run keeps its checkpoints. Files are synced and renamed
 * so that each checkpoint is there completely or not at all.
 *
 * step-00000100           a checkpoint
 * step-00000100.partial   one that is being written, or removed: never read
 * step-00000100.old       one that is being replaced by another of the same step: read as long as
 *                         the other is not there
 */
#ifndef YK_TRAIN_CHECKPOINT_FOLDER_H
#define YK_TRAIN_CHECKPOINT_FOLDER_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define YK_CHECKPOINT_CONFIG "config.json"
#define YK_CHECKPOINT_MODEL "model.safetensors"
#define YK_CHECKPOINT_MODEL_INDEX "model.safetensors.index.json"
#define YK_CHECKPOINT_ADAPTER_CONFIG "adapter_config.json"
#define YK_CHECKPOINT_ADAPTER "adapter_model.safetensors"
#define YK_CHECKPOINT_FROZEN "frozen.safetensors"
#define YK_CHECKPOINT_OPTIMIZER "optimizer.safetensors"
#define YK_CHECKPOINT_STATE "state.json"
#define YK_CHECKPOINT_TOKENIZER "tokenizer.json"
#define YK_CHECKPOINT_VOCABULARY "vocabulary.json"
#define YK_CHECKPOINT_MANIFEST "manifest.json"

struct yk_checkpoint_folder_entry {
    const char *name;
    int64_t step;
    bool old; /* the one that was replaced */
};

struct yk_checkpoint_folder_list {
    struct yk_checkpoint_folder_entry *entries; /* the oldest first */
    int32_t count;
};

/* The checkpoints in `folder`; none where there is no such folder. */
yk_status yk_checkpoint_folder_list(const char *folder, struct yk_arena *arena,
                                    struct yk_checkpoint_folder_list *out) YK_MUST_USE;

/* Adds folder/name to `out`, which is emptied first. */
yk_status yk_checkpoint_folder_join(const char *folder, const char *name,
                                    struct yk_text *out) YK_MUST_USE;

bool yk_checkpoint_folder_has(const char *folder, const char *name);

/* Whether there are weights of a model, as Hugging Face keeps them; or an adapter. */
bool yk_checkpoint_folder_has_weights(const char *folder);
bool yk_checkpoint_folder_is_adapter(const char *folder);

/* Waits until a file or folder is on the disk. */
yk_status yk_checkpoint_folder_sync(const char *path) YK_MUST_USE;

/* Removes a folder and what is in it, as far as that can be done. */
void yk_checkpoint_folder_remove(const char *path);

/* Removes what saving that was cut off left behind. */
void yk_checkpoint_folder_remove_partial(const char *folder);

#endif
