#include "job/profiling/profile.h"

#include "job/profile_path.h"
#include "profile/import.h"

#include <inttypes.h>
#include <string.h>

/* The files to be added, and the profile that they are added to. */
struct import {
    const struct yk_profile_words *words;
    struct yk_arena *arena;
    const char *path;
    struct yk_profile *profile;
    struct yk_text *out;
    int32_t count; /* of the files so far */
};

/* Calls `visit` with every file that the words name. */
static yk_status each_file(struct import *import,
                           yk_status (*visit)(struct import *import, const char *path))
{
    const char *word = import->words->import;
    while (word) {
        const size_t length = strcspn(word, ",");
        const char *path = yk_arena_copy_text(import->arena, word, length);
        if (!path) {
            return yk_fail_out_of_memory();
        }
        if (length == 0) {
            return yk_fail(YK_ERROR_USAGE, "--import: a file without a name; write A.db,B.db");
        }
        YK_TRY(visit(import, path));
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    return YK_OK;
}

static yk_status check(struct import *import, const char *path)
{
    struct yk_profile *other = NULL;
    (void)import;
    YK_TRY(yk_profile_open(path, &other));
    yk_profile_close(other);
    return YK_OK;
}

static void add_text(struct import *import, const char *path,
                     const struct yk_profile_import_counts *counts)
{
    struct yk_text *out = import->out;
    const int64_t numbers = counts->added + counts->replaced + counts->left;
    yk_text_addf(out,
                 "%s: %" PRId64 " number%s, %" PRId64 " new, %" PRId64 " newer, %" PRId64
                 " no newer than what is known\n",
                 path, numbers, numbers == 1 ? "" : "s", counts->added, counts->replaced,
                 counts->left);
}

static void add_json(const char *path, const struct yk_profile_import_counts *counts,
                     struct yk_text *out)
{
    yk_text_add(out, "\n  {\"file\": ");
    yk_text_add_json(out, path);
    yk_text_addf(out, ", \"new\": %" PRId64 ", \"newer\": %" PRId64 ", \"left\": %" PRId64 "}",
                 counts->added, counts->replaced, counts->left);
}

static yk_status add(struct import *import, const char *path)
{
    struct yk_profile_import_counts counts;
    YK_TRY(yk_profile_import(import->profile, path, &counts));
    if (import->words->json) {
        yk_text_add(import->out, import->count++ > 0 ? "," : "");
        add_json(path, &counts, import->out);
    } else {
        add_text(import, path, &counts);
    }
    return YK_OK;
}

/* Every file is looked at before anything is written. */
static yk_status run(struct import *import)
{
    YK_TRY(yk_profiling_find_path(import->words, import->arena, &import->path));
    YK_TRY(each_file(import, check));
    YK_TRY(yk_profile_path_create(import->words->profile, import->path, &import->profile));
    if (import->words->json) {
        yk_text_add(import->out, "{\"profile\": ");
        yk_text_add_json(import->out, import->path);
        yk_text_add(import->out, ",\n \"imported\": [");
    }
    YK_TRY(each_file(import, add));
    if (import->words->json) {
        yk_text_add(import->out, "]}\n");
    } else {
        yk_text_addf(import->out, "\nkept in %s\n", import->path);
    }
    return yk_text_status(import->out);
}

yk_status yk_profile_import_run(const struct yk_profile_words *words, struct yk_text *out)
{
    struct import import = {.words = words, .out = out};
    YK_TRY(yk_arena_create(&import.arena));
    const yk_status status = run(&import);
    yk_profile_close(import.profile);
    yk_arena_destroy(import.arena);
    return status;
}
