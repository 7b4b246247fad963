#include "train/checkpoint/folder.h"

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

/* False: it is not the name of a checkpoint. */
static bool read_entry(const char *name, struct yk_checkpoint_folder_entry *out)
{
    out->old = read_name(name, ".old", &out->step);
    return out->old || read_name(name, "", &out->step);
}

static int is_checkpoint(const struct dirent *found)
{
    struct yk_checkpoint_folder_entry entry;
    return read_entry(found->d_name, &entry);
}

yk_status yk_checkpoint_folder_list_checkpoints(const char *folder, struct yk_arena *arena,
                                                struct yk_checkpoint_folder_list *out)
{
    struct dirent **found = NULL;
    *out = (struct yk_checkpoint_folder_list){0};
    const int count = scandir(folder, &found, is_checkpoint, NULL);
    if (count < 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? YK_OK
                   : yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", folder, strerror(errno));
    }
    struct yk_checkpoint_folder_entry *entries =
        yk_arena_allocate(arena, (size_t)count + 1, sizeof *entries);
    yk_status status = entries ? YK_OK : yk_fail_out_of_memory();
    for (int i = 0; i < count; i++) {
        if (status == YK_OK) {
            (void)read_entry(found[i]->d_name, &entries[i]);
            status = yk_arena_strdup(arena, found[i]->d_name, &entries[i].name);
        }
        free(found[i]);
    }
    free(found);
    YK_TRY(status);
    qsort(entries, (size_t)count, sizeof *entries, older_first);
    *out = (struct yk_checkpoint_folder_list){entries, count};
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
yk_status yk_checkpoint_folder_sync_path(const char *path)
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

void yk_checkpoint_folder_remove_partial_saves(const char *folder)
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
