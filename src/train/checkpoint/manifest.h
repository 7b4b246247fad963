/*
 * Manifest: a file that lists the size and hash of every other file of a checkpoint, to check that
 * the checkpoint is complete and unchanged.
 *
 *   {
 *     "yoke": 1,
 *     "kind": "checkpoint",
 *     "step": 100,
 *     "ranks": 4,            (number of shards; only if several ranks saved it)
 *     "files": [
 *       {"name": "config.json", "bytes": 512, "xxh3": "0123456789abcdef"},
 *       …
 *     ]
 *   }
 *
 * A manifest has exactly one valid form, so that any change to its bytes is detected.
 */
#ifndef YK_TRAIN_CHECKPOINT_MANIFEST_H
#define YK_TRAIN_CHECKPOINT_MANIFEST_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_manifest_listed_file {
    const char *name;
    uint64_t bytes;
    uint64_t hash;
};

struct yk_manifest {
    int64_t step;
    int32_t ranks; /* number of shards among the files; 0 means: no shards */
    struct yk_manifest_listed_file *files; /* sorted by name */
    int32_t count;
};

/*
 * Writes the manifest of all files of `folder`, and syncs the files and the manifest to the disk.
 * `known` contains the step, the number of ranks, and the shards, which the ranks have already
 * synced and hashed. The shards are not read again; only their sizes are checked.
 */
yk_status yk_manifest_save_and_sync_folder(const char *folder,
                                           const struct yk_manifest *known) YK_MUST_USE;

/* The files that this rank hashes: every file whose index in the manifest, modulo `ranks`, is
 * `rank`. */
struct yk_manifest_hash_share {
    int32_t rank;
    int32_t ranks; /* 1 means: all files */
};

/* Reads the manifest of the folder. Compares the sizes of all files, and the hashes of the files in
 * `share`. The error message contains the name of the first file that differs. Sets `*hash` to the
 * hash of the manifest itself, with which ranks can check that they see the same folder. `hash` may
 * be NULL. */
yk_status yk_manifest_verify_folder(const char *folder, struct yk_manifest_hash_share share,
                                    struct yk_arena *arena, struct yk_manifest *out,
                                    uint64_t *hash) YK_MUST_USE;

bool yk_manifest_lists_file(const struct yk_manifest *manifest, const char *name);

/* The next two functions parse and write the text of a manifest. */
yk_status yk_manifest_parse_json(const char *bytes, size_t length, struct yk_arena *arena,
                                 struct yk_manifest *out) YK_MUST_USE;
void yk_manifest_write_json(const struct yk_manifest *manifest, struct yk_text *out);

#endif
