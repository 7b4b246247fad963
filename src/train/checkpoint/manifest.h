/*
 * Manifest: the size and hash of every file of a folder, in a file of its own, by which it is known
 * whether the folder is still whole.
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
 * One manifest is written in one way only, so that any change to it is noticed as well.
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
 * and ranks are those of `known`. The files that `known` names have been synced and hashed by those
 * who wrote them: they must be here in their size, and are not read again.
 */
yk_status yk_manifest_save(const char *folder, const struct yk_manifest *known) YK_MUST_USE;

/* Which files are to be compared byte by byte, when several ranks share the work. */
struct yk_manifest_share {
    int32_t rank;
    int32_t ranks; /* 1: all files */
};

/* Reads the folder's manifest and compares the sizes of all files with it, and the hashes of a
 * share of them; the first that differs is named. `hash`, which may be NULL, is the manifest's own:
 * those who see one folder have one. */
yk_status yk_manifest_verify(const char *folder, struct yk_manifest_share share,
                             struct yk_arena *arena, struct yk_manifest *out,
                             uint64_t *hash) YK_MUST_USE;

bool yk_manifest_has(const struct yk_manifest *manifest, const char *name);

/* The file's text. */
yk_status yk_manifest_read(const char *bytes, size_t length, struct yk_arena *arena,
                           struct yk_manifest *out) YK_MUST_USE;
void yk_manifest_write(const struct yk_manifest *manifest, struct yk_text *out);

#endif
