/*
 * Checkpoint room: what checkpoints take on the disk, known before the first is written.
 */
#ifndef YK_TRAIN_CHECKPOINT_SPACE_H
#define YK_TRAIN_CHECKPOINT_SPACE_H

#include "train/checkpoint/checkpoint.h"

/* The bytes of a checkpoint's tensors, of all ranks together. The other files are small. */
uint64_t yk_checkpoint_save_bytes(const struct yk_checkpoint_content *content);

/*
 * Fails where `folder`, which is there, lacks the room for `saves` more checkpoints, of which the
 * newest `keep` stay (0: all) beside the one that is being written. Those in folder/checkpoints
 * count. A file system that does not say how much is free is taken for large enough.
 */
yk_status yk_checkpoint_check_save_space(const char *folder,
                                         const struct yk_checkpoint_content *content, int64_t saves,
                                         int32_t keep) YK_MUST_USE;

#endif
