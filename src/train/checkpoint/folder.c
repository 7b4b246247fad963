#include "train/checkpoint/folder.h"

#include "base/array.h"
#include "base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIGITS = 8, /* at least */
    OPEN_FOLDERS = 8,
};

static const char PREFIX[] = "step-";

/* Reads the step of a name such as "step-00000100" followed by `suffix`. */
static bool read_name(const char *name, const char *suffix, int64_t *step)
{
    const size_t prefix = sizeof PREFIX - 1;
    if (strncmp(name, PREFIX, prefix) != 0) {
        return false;
    }
    const char *digits = name + prefix;
    const size_t length = strspn(digits, "0123456789");
    return length >= DIGITS && strcmp(digits + length, suffix) == 0 &&
           yk_number_parse_integer(digits, length, step);
}

static int older_first(const void *a, const void *b)
{
    const struct yk_checkpoint_folder_entry *left = a;
    const struct yk_checkpoint_folder_entry *right = b;
    const int steps = yk_number_compare(left->step, right->step);
    return steps != 0 ? steps : (int)right->old - (int)left->old;
}

static yk_status add_entry(struct yk_checkpoint_folder_list *list, int32_t *capacity,
                           const char *name, struct yk_arena *arena)
{
    struct yk_checkpoint_folder_entry entry = {0};
    if (read_name(name, ".old", &entry.step)) {
        entry.old = true;
    } else if (!read_name(name, "", &entry.step)) {
        return YK_OK;
    }
    YK_TRY(yk_arena_strdup(arena, name, &entry.name));
    YK_TRY(yk_array_grow((void **)&list->entries, capacity, list->count, sizeof *list->entries));
    list->entries[list->count++] = entry;
    return YK_OK;
}

static yk_status fill_list(DIR *listing, struct yk_arena *arena,
                           struct yk_checkpoint_folder_list *list)
{
    int32_t capacity = 0;
    yk_status status = YK_OK;
    for (struct dirent *entry = NULL; status == YK_OK && (entry = readdir(listing));) {
        status = add_entry(list, &capacity, entry->d_name, arena);
    }
    return status;
}

/* Sorts the list and moves it into the arena. */
static yk_status move_sorted(struct yk_arena *arena, struct yk_checkpoint_folder_list *list)
{
    struct yk_checkpoint_folder_entry *entries = NULL;
    if (list->count > 0) {
        YK_TRY_NEW(arena, entries, list->count);
        memcpy(entries, list->entries, (size_t)list->count * sizeof *entries);
        qsort(entries, (size_t)list->count, sizeof *entries, older_first);
    }
    free(list->entries);
    list->entries = entries;
    return YK_OK;
}

yk_status yk_checkpoint_folder_list(const char *folder, struct yk_arena *arena,
                                    struct yk_checkpoint_folder_list *out)
{
    struct yk_checkpoint_folder_list list = {0};
    DIR *listing = opendir(folder);
    *out = list;
    if (!listing) {
        return errno == ENOENT || errno == ENOTDIR
                   ? YK_OK
                   : yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", folder, strerror(errno));
    }
    yk_status status = fill_list(listing, arena, &list);
    closedir(listing);
    YK_THEN(move_sorted(arena, &list));
    YK_TRY_OR(status, free(list.entries));
    *out = list;
    return YK_OK;
}

bool yk_checkpoint_folder_has_weights(const char *folder)
{
    return yk_folder_contains(folder, YK_CHECKPOINT_MODEL_FILE) ||
           yk_folder_contains(folder, YK_CHECKPOINT_MODEL_INDEX_FILE);
}

bool yk_checkpoint_folder_has_adapter(const char *folder)
{
    return yk_folder_contains(folder, YK_CHECKPOINT_ADAPTER_CONFIG_FILE);
}

/* Some file systems cannot sync a folder and fail with EINVAL. */
yk_status yk_checkpoint_folder_sync(const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot open %s: %s", path, strerror(errno));
    }
    const int error = fsync(descriptor) != 0 ? errno : 0;
    close(descriptor);
    if (error != 0 && error != EINVAL && error != ENOTSUP) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", path, strerror(error));
    }
    return YK_OK;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    (void)remove(path);
    return 0;
}

void yk_checkpoint_folder_remove(const char *path)
{
    (void)nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

void yk_checkpoint_folder_remove_partial(const char *folder)
{
    DIR *listing = opendir(folder);
    struct yk_text path = {0};
    int64_t step = 0;
    for (struct dirent *entry = NULL; listing && (entry = readdir(listing));) {
        path.length = 0;
        yk_text_addf(&path, "%s/%s", folder, entry->d_name);
        if (read_name(entry->d_name, ".partial", &step) && yk_text_status(&path) == YK_OK) {
            yk_checkpoint_folder_remove(path.bytes);
        }
    }
    if (listing) {
        closedir(listing);
    }
    yk_text_free(&path);
}
