#include "data/file_list.h"

#include "base/array.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct paths {
    const char **items;
    int32_t count;
    int32_t capacity;
};

struct listing {
    struct yk_arena *arena;
    struct paths files;
    struct paths folders; /* a queue: reading a folder appends its subfolders */
};

static yk_status add(struct paths *paths, const char *path)
{
    YK_TRY_GROW_ARRAY(paths->items, paths->capacity, paths->count);
    paths->items[paths->count++] = path;
    return YK_OK;
}

static bool is_left_out(const char *name)
{
    static const char *const folders[] = {"build", "node_modules", "__pycache__"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (strcmp(name, folders[i]) == 0) {
            return true;
        }
    }
    return false;
}

static yk_status add_entry(struct listing *listing, const char *folder, const char *name)
{
    struct stat info;
    struct yk_text joined = {0};
    if (name[0] == '.') {
        return YK_OK;
    }
    const size_t length = strlen(folder);
    yk_text_addf(&joined, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/",
                 name);
    const char *path = NULL;
    YK_TRY(yk_text_move_to_arena(&joined, listing->arena, &path));
    if (lstat(path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return is_left_out(name) ? YK_OK : add(&listing->folders, path);
    }
    const bool plain = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    return plain ? add(&listing->files, path) : YK_OK;
}

static yk_status read_folder(struct listing *listing, const char *folder)
{
    DIR *stream = opendir(folder);
    if (!stream) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", folder, strerror(errno));
    }
    yk_status status = YK_OK;
    while (status == YK_OK) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry) {
            status = errno ? yk_fail(YK_ERROR_SYSTEM, "cannot read %s: %s", folder, strerror(errno))
                           : YK_OK;
            break;
        }
        status = add_entry(listing, folder, entry->d_name);
    }
    closedir(stream);
    return status;
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static yk_status keep(const struct listing *listing, struct yk_file_list *out)
{
    const char **paths = NULL;
    YK_TRY_NEW(listing->arena, paths, listing->files.count);
    if (listing->files.count > 0) {
        memcpy(paths, listing->files.items, (size_t)listing->files.count * sizeof *paths);
        qsort(paths, (size_t)listing->files.count, sizeof *paths, compare);
    }
    out->paths = paths;
    out->count = listing->files.count;
    return YK_OK;
}

yk_status yk_file_list_read_folder(const char *folder, struct yk_arena *arena,
                                   struct yk_file_list *out)
{
    struct listing listing = {.arena = arena};
    yk_status status = add(&listing.folders, folder);
    for (int32_t i = 0; status == YK_OK && i < listing.folders.count; i++) {
        status = read_folder(&listing, listing.folders.items[i]);
    }
    YK_IF_OK(keep(&listing, out));
    free(listing.files.items);
    free(listing.folders.items);
    return status;
}
