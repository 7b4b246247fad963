#include "train/checkpoint/manifest.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_write.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/shard.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_FILES = 64 + YK_SHARD_MAX_RANKS, /* of one folder */
    CHUNK_BYTES = 1 << 20,
    HASH_DIGITS = 16,
};

static const int64_t MAX_BYTES = INT64_C(1) << 53; /* JSON numbers are exact up to here */

bool yk_manifest_lists_file(const struct yk_manifest *manifest, const char *name)
{
    for (int32_t i = 0; i < manifest->count; i++) {
        if (strcmp(manifest->files[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void yk_manifest_write_json(const struct yk_manifest *manifest, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "checkpoint");
    yk_json_write_integer(&json, "step", manifest->step);
    if (manifest->ranks > 0) {
        yk_json_write_integer(&json, "ranks", manifest->ranks);
    }
    yk_json_write_begin_array(&json, "files");
    json.line_indent = 0;
    for (int32_t i = 0; i < manifest->count; i++) {
        const struct yk_manifest_listed_file *file = &manifest->files[i];
        char hash[HASH_DIGITS + 1];
        (void)snprintf(hash, sizeof hash, "%016" PRIx64, file->hash);
        yk_json_write_newline(&json, 4);
        yk_json_write_begin_object(&json, NULL);
        yk_json_write_string(&json, "name", file->name);
        yk_json_write_integer(&json, "bytes", (int64_t)file->bytes);
        yk_json_write_string(&json, "xxh3", hash);
        yk_json_write_end_object(&json);
    }
    yk_json_write_newline(&json, 2);
    yk_json_write_end_array(&json);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
}

static bool read_hash(const char *digits, uint64_t *out)
{
    *out = strtoull(digits, NULL, 16);
    return strlen(digits) == HASH_DIGITS && strspn(digits, "0123456789abcdef") == HASH_DIGITS;
}

static yk_status read_file(const struct yk_json *node, struct yk_arena *arena,
                           struct yk_manifest_listed_file *out)
{
    static const char *const known[] = {"name", "bytes", "xxh3"};
    const char *name = NULL;
    const char *digits = NULL;
    int64_t bytes = -1;
    YK_TRY(yk_json_check_object_keys(node, known, sizeof known / sizeof known[0]));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "name"), "name", &name));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "xxh3"), "xxh3", &digits));
    YK_TRY(yk_json_get_integer(node, "bytes", 0, MAX_BYTES, &bytes));
    if (name[0] == '.' || strchr(name, '/')) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is no plain name of a file beside the manifest",
                       name);
    }
    if (bytes < 0 || !read_hash(digits, &out->hash)) {
        return yk_fail(YK_ERROR_INPUT, "the size or the hash of \"%s\" makes no sense", name);
    }
    out->bytes = (uint64_t)bytes;
    return yk_arena_strdup(arena, name, &out->name);
}

/* Files are sorted by name, so shards are sorted by rank. */
static yk_status check_shards(const struct yk_manifest *manifest)
{
    int32_t shards = 0;
    for (int32_t i = 0; i < manifest->count; i++) {
        const char *name = manifest->files[i].name;
        int32_t rank = 0;
        int32_t ranks = 0;
        if (!yk_shard_parse_file_name(name, &rank, &ranks)) {
            continue;
        }
        if (ranks != manifest->ranks || rank != shards) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" is not shard %" PRId32 " of %" PRId32, name,
                           shards + 1, manifest->ranks);
        }
        shards++;
    }
    if (shards != manifest->ranks) {
        return yk_fail(YK_ERROR_INPUT, "shard %" PRId32 " of %" PRId32 " is missing", shards + 1,
                       manifest->ranks);
    }
    return YK_OK;
}

static yk_status read_root(const struct yk_json *root, struct yk_arena *arena,
                           struct yk_manifest *out)
{
    static const char *const known[] = {"yoke", "kind",  "name", "comment",
                                        "step", "ranks", "files"};
    const struct yk_json *files = NULL;
    int64_t ranks = 0;
    YK_TRY(yk_json_check_yoke_document(root, "checkpoint", known, sizeof known / sizeof known[0]));
    YK_TRY(yk_json_get_integer(root, "step", 0, MAX_BYTES, &out->step));
    if (yk_json_get_member(root, "ranks")) {
        YK_TRY(yk_json_get_integer(root, "ranks", 2, YK_SHARD_MAX_RANKS, &ranks));
    }
    out->ranks = (int32_t)ranks;
    YK_TRY(yk_json_require_array(root, "files", &files));
    const size_t count = yk_json_array_count(files);
    if (count > MAX_FILES) {
        return yk_fail(YK_ERROR_INPUT, "%zu files are more than a checkpoint has", count);
    }
    YK_TRY_NEW(arena, out->files, count + 1);
    for (; out->count < (int32_t)count; out->count++) {
        const size_t number = (size_t)out->count;
        YK_TRY(yk_json_prefix_error_with_element(
            read_file(yk_json_array_at(files, number), arena, &out->files[number]), "files", number,
            NULL));
    }
    return check_shards(out);
}

/* A manifest whose bytes differ from what yoke writes was changed. */
static yk_status check_form(const struct yk_manifest *manifest, const char *bytes, size_t length)
{
    struct yk_text again = {0};
    yk_manifest_write_json(manifest, &again);
    yk_status status = yk_text_status(&again);
    if (status == YK_OK && (again.length != length || memcmp(again.bytes, bytes, length) != 0)) {
        status = yk_fail(YK_ERROR_INPUT, "it was changed after it was written");
    }
    yk_text_free(&again);
    return status;
}

yk_status yk_manifest_parse_json(const char *bytes, size_t length, struct yk_arena *arena,
                                 struct yk_manifest *out)
{
    struct yk_json *root = NULL;
    struct yk_manifest manifest = {0};
    YK_TRY(yk_json_parse(bytes, length, &root));
    yk_status status = read_root(root, arena, &manifest);
    yk_json_destroy(root);
    YK_IF_OK(check_form(&manifest, bytes, length));
    if (status == YK_OK) {
        *out = manifest;
    }
    return status;
}

static yk_status hash_open(int descriptor, const char *path, struct yk_hash *hash, char *chunk,
                           struct yk_manifest_listed_file *out)
{
    out->bytes = 0;
    for (;;) {
        const ssize_t length = read(descriptor, chunk, CHUNK_BYTES);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length < 0) {
            return yk_fail(YK_ERROR_INPUT, "cannot read %s: %s", path, strerror(errno));
        }
        if (length == 0) {
            break;
        }
        yk_hash_update(hash, chunk, (size_t)length);
        out->bytes += (uint64_t)length;
    }
    out->hash = yk_hash_digest(hash);
    return YK_OK;
}

static yk_status hash_file(const char *path, struct yk_manifest_listed_file *out)
{
    struct yk_hash *hash = NULL;
    YK_TRY(yk_hash_create(&hash));
    char *chunk = malloc(CHUNK_BYTES);
    int descriptor = -1;
    yk_status status =
        chunk ? yk_file_open_for_reading(path, false, &descriptor) : yk_fail_out_of_memory();
    YK_IF_OK(hash_open(descriptor, path, hash, chunk, out));
    if (descriptor >= 0) {
        close(descriptor);
    }
    free(chunk);
    yk_hash_destroy(hash);
    return status;
}

static int by_name(const void *a, const void *b)
{
    const struct yk_manifest_listed_file *left = a;
    const struct yk_manifest_listed_file *right = b;
    return strcmp(left->name, right->name);
}

static yk_status add_file(const char *folder, const char *name, struct yk_arena *arena,
                          struct yk_manifest *manifest)
{
    const char *path = NULL;
    if (manifest->count == MAX_FILES) {
        return yk_fail(YK_ERROR_SYSTEM, "%s holds too many files", folder);
    }
    struct yk_manifest_listed_file *file = &manifest->files[manifest->count++];
    YK_TRY(yk_arena_strdup(arena, name, &file->name));
    YK_TRY(yk_folder_join_path(folder, file->name, arena, &path));
    YK_TRY(yk_checkpoint_folder_sync_path(path));
    return hash_file(path, file);
}

/* Adds the files that other ranks have written and hashed. */
static yk_status add_known(const char *folder, const struct yk_manifest *known,
                           struct yk_arena *arena, struct yk_manifest *manifest)
{
    struct stat info;
    const char *path = NULL;
    for (int32_t i = 0; i < known->count; i++) {
        const struct yk_manifest_listed_file *file = &known->files[i];
        YK_TRY(yk_folder_join_path(folder, file->name, arena, &path));
        if (stat(path, &info) != 0 || (uint64_t)info.st_size != file->bytes) {
            return yk_fail(YK_ERROR_SYSTEM,
                           "%s is not here as it was written; checkpoints must be in a folder "
                           "that all ranks share",
                           path);
        }
        if (manifest->count == MAX_FILES) {
            return yk_fail(YK_ERROR_SYSTEM, "%s holds too many files", folder);
        }
        manifest->files[manifest->count++] = *file;
    }
    return YK_OK;
}

/* Adds the files that this rank has written. */
static yk_status add_own(const char *folder, const struct yk_manifest *known,
                         struct yk_arena *arena, struct yk_manifest *manifest)
{
    DIR *listing = opendir(folder);
    if (!listing) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot open %s: %s", folder, strerror(errno));
    }
    yk_status status = YK_OK;
    for (struct dirent *entry = NULL; status == YK_OK && (entry = readdir(listing));) {
        if (entry->d_name[0] != '.' && !yk_manifest_lists_file(known, entry->d_name)) {
            status = add_file(folder, entry->d_name, arena, manifest);
        }
    }
    closedir(listing);
    return status;
}

static yk_status save(const char *folder, const struct yk_manifest *known, struct yk_arena *arena)
{
    struct yk_manifest manifest = {.step = known->step, .ranks = known->ranks};
    struct yk_text text = {0};
    const char *path = NULL;
    YK_TRY_NEW(arena, manifest.files, MAX_FILES);
    YK_TRY(add_own(folder, known, arena, &manifest));
    YK_TRY(add_known(folder, known, arena, &manifest));
    YK_TRY(yk_folder_join_path(folder, YK_CHECKPOINT_MANIFEST_FILE, arena, &path));
    qsort(manifest.files, (size_t)manifest.count, sizeof *manifest.files, by_name);
    yk_manifest_write_json(&manifest, &text);
    yk_status status = yk_file_write_nofollow(path, &text);
    YK_IF_OK(yk_checkpoint_folder_sync_path(path));
    yk_text_free(&text);
    return status;
}

yk_status yk_manifest_save_and_sync_folder(const char *folder, const struct yk_manifest *known)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, save(folder, known, arena));
    return YK_OK;
}

static yk_status check_size(const char *path, const struct yk_manifest_listed_file *file)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if ((uint64_t)info.st_size != file->bytes) {
        return yk_fail(YK_ERROR_INPUT, "%s has %lld bytes, but had %" PRIu64 " when it was saved",
                       path, (long long)info.st_size, file->bytes);
    }
    return YK_OK;
}

static yk_status check_hash(const char *path, const struct yk_manifest_listed_file *file)
{
    struct yk_manifest_listed_file found = {0};
    YK_TRY(hash_file(path, &found));
    if (found.hash != file->hash || found.bytes != file->bytes) {
        return yk_fail(YK_ERROR_INPUT, "%s does not hold what was saved: its hash differs", path);
    }
    return YK_OK;
}

static yk_status check_files(const char *folder, const struct yk_manifest *manifest,
                             struct yk_manifest_hash_share share, struct yk_arena *arena,
                             yk_status (*check)(const char *path,
                                                const struct yk_manifest_listed_file *file))
{
    for (int32_t i = share.rank; i < manifest->count; i += share.ranks) {
        const char *path = NULL;
        YK_TRY(yk_folder_join_path(folder, manifest->files[i].name, arena, &path));
        YK_TRY(check(path, &manifest->files[i]));
    }
    return YK_OK;
}

yk_status yk_manifest_verify_folder(const char *folder, struct yk_manifest_hash_share share,
                                    struct yk_arena *arena, struct yk_manifest *out, uint64_t *hash)
{
    static const struct yk_manifest_hash_share everything = {.rank = 0, .ranks = 1};
    const char *path = NULL;
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(yk_folder_join_path(folder, YK_CHECKPOINT_MANIFEST_FILE, arena, &path));
    YK_TRY(yk_file_read_document_to_arena(path, arena, &text, &length));
    const yk_status status = yk_manifest_parse_json(text, length, arena, out);
    YK_TRY(status == YK_ERROR_INPUT ? yk_status_prefix_message(status, path) : status);
    if (hash) {
        *hash = yk_hash_bytes(text, length);
    }
    YK_TRY(check_files(folder, out, everything, arena, check_size));
    return check_files(folder, out, share, arena, check_hash);
}
