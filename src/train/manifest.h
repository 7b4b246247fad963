/*
 * Manifest: the size and hash of every file of a folder, in a file of its own, by which it is known
 * whether the folder is still whole.
 *
 *   {
 *     "yoke": 1,
 *     "kind": "checkpoint",
 *     "step": 100,
 *     "files": [
 *       {"name": "config.json", "bytes": 512, "xxh3": "0123456789abcdef"},
 *       …
 *     ]
 *   }
 *
 * One manifest is written in one way only, so that any change to it is noticed as well.
 */
#ifndef YK_TRAIN_MANIFEST_H
#define YK_TRAIN_MANIFEST_H

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
    struct yk_manifest_file *files; /* by name */
    int32_t count;
};

/* Syncs every file of `folder` to the disk and writes the manifest of them there, synced too. */
yk_status yk_manifest_seal(const char *folder, int64_t step) YK_MUST_USE;

/* Reads the folder's manifest and compares every file with it; the first that differs is named. */
yk_status yk_manifest_verify(const char *folder, struct yk_arena *arena,
                             struct yk_manifest *out) YK_MUST_USE;

bool yk_manifest_has(const struct yk_manifest *manifest, const char *name);

/* The file's text. */
yk_status yk_manifest_read(const char *bytes, size_t length, struct yk_arena *arena,
                           struct yk_manifest *out) YK_MUST_USE;
void yk_manifest_write(const struct yk_manifest *manifest, struct yk_text *out);

#endif
