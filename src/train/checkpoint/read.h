/*
 * Checkpoint read: the small files of one folder, after all of its files were found whole.
 */
#ifndef YK_TRAIN_CHECKPOINT_READ_H
#define YK_TRAIN_CHECKPOINT_READ_H

#include "base/status.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/manifest.h"

#include <stdbool.h>
#include <stdint.h>

/* A folder to look at, and how. */
struct yk_checkpoint_source {
    const char *path;
    bool own; /* yoke's; else one that Hugging Face's tools wrote */
    struct yk_manifest_share share;
};

/* `hash` is the manifest's, 0 where there is none. */
yk_status yk_checkpoint_read(const struct yk_checkpoint_source *look, struct yk_checkpoint **out,
                             uint64_t *hash) YK_MUST_USE;

#endif
