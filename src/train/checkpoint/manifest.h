/*
 * Manifest: a file with the size and hash of every other file of a folder, to check that the folder
 * is complete and unchanged.
 *
 *   {
 *     "yoke": 1,
 *     "kind": "checkpoint",
 *     "step": 100,
 *     "ranks": 4,            (of a checkpoint that several ranks saved: each has a shard in it)
 *     "files": [
 *       {"name": "config.json", "bytes": 512, "xxh3": "0123456789abcdef"},
 *       …
 *     ]
 *   }
 *
 * There is only one valid way to write a manifest, so that any change to its bytes is detected too.
 */
#ifndef YK_TRAIN_CHECKPOINT_MANIFEST_H
#define YK_TRAIN_CHECKPOINT_MANIFEST_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_manifest_file {
    const char *name;
    uint64_t bytes;
    uint64_t hash;
};

struct yk_manifest {
    int64_t step;
    int32_t ranks;                  /* whose shards are among the files; 0: there are none */
    struct yk_manifest_file *files; /* by name */
    int32_t count;
};

/*
 * Syncs every file of `folder` to the disk and writes the manifest of them there, synced too; step
 * and ranks are those of `known`. The files that `known` lists have been synced and hashed by the
 * ranks that wrote them: only their sizes are checked, and they are not read again.
 */
yk_status yk_manifest_save(const char *folder, const struct yk_manifest *known) YK_MUST_USE;

/* Which files this rank hashes, when several ranks share the work. */
struct yk_manifest_share {
    int32_t rank;
    int32_t ranks; /* 1: all files */
};

/* Reads the folder's manifest and compares the sizes of all files with it, and the hashes of a
 * share of them; the first that differs is named. `hash`, which may be NULL, is that of the
 * manifest itself: ranks that see the same folder get the same one. */
yk_status yk_manifest_verify(const char *folder, struct yk_manifest_share share,
                             struct yk_arena *arena, struct yk_manifest *out,
                             uint64_t *hash) YK_MUST_USE;

bool yk_manifest_has(const struct yk_manifest *manifest, const char *name);

/* The file's text. */
yk_status yk_manifest_read(const char *bytes, size_t length, struct yk_arena *arena,
                           struct yk_manifest *out) YK_MUST_USE;
void yk_manifest_write(const struct yk_manifest *manifest, struct yk_text *out);

#endif
