#include "data/file_list.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MAX_LINKS = 1 << 12 /* to folders: they can lead to one folder in exponentially many ways */
};

struct paths {
    const char **items;
    int32_t count;
    int32_t capacity;
};

struct listing {
    struct yk_arena *arena;
    bool is_data;  /* nothing may be missed */
    int32_t links; /* to folders, that were followed */
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

/* The path of an entry of a folder, which may end with "/". */
static yk_status join(struct listing *listing, const char *folder, const char *name,
                      const char **out)
{
    struct yk_text joined = {0};
    const size_t length = strlen(folder);
    yk_text_addf(&joined, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/",
                 name);
    return yk_text_move_to_arena(&joined, listing->arena, out);
}

/* Whether a link leads to a folder that it is in. */
static yk_status leads_back(const char *path, bool *out)
{
    char *above = strdup(path);
    YK_TRY_ALLOCATED(above);
    *out = false;
    for (char *end = strrchr(above, '/'); end && !*out; end = strrchr(above, '/')) {
        *end = '\0';
        *out = yk_folder_is_same_path(path, above);
    }
    free(above);
    return YK_OK;
}

static yk_status add_linked_folder(struct listing *listing, const char *path)
{
    bool back = false;
    YK_TRY(leads_back(path, &back));
    if (back) {
        return YK_OK;
    }
    if (++listing->links > MAX_LINKS) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: more than %d links to folders are below it; name the folders "
                       "themselves, or copy them",
                       listing->folders.items[0], MAX_LINKS);
    }
    return add(&listing->folders, path);
}

static yk_status add_entry(struct listing *listing, const char *folder, const char *name)
{
    struct stat info;
    const char *path = NULL;
    if (name[0] == '.') {
        return YK_OK;
    }
    YK_TRY(join(listing, folder, name, &path));
    if (lstat(path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return !listing->is_data && is_left_out(name) ? YK_OK : add(&listing->folders, path);
    }
    if (stat(path, &info) != 0) {
        return listing->is_data ? add(&listing->files, path) : YK_OK;
    }
    if (S_ISDIR(info.st_mode)) {
        return listing->is_data ? add_linked_folder(listing, path) : YK_OK;
    }
    return S_ISREG(info.st_mode) ? add(&listing->files, path) : YK_OK;
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

static yk_status read_tree(const char *folder, bool is_data, struct yk_arena *arena,
                           struct yk_file_list *out)
{
    struct listing listing = {.arena = arena, .is_data = is_data};
    yk_status status = add(&listing.folders, folder);
    for (int32_t i = 0; status == YK_OK && i < listing.folders.count; i++) {
        status = read_folder(&listing, listing.folders.items[i]);
    }
    YK_IF_OK(keep(&listing, out));
    free(listing.files.items);
    free(listing.folders.items);
    return status;
}

yk_status yk_file_list_read_folder(const char *folder, struct yk_arena *arena,
                                   struct yk_file_list *out)
{
    return read_tree(folder, false, arena, out);
}

yk_status yk_file_list_read_data_folder(const char *folder, struct yk_arena *arena,
                                        struct yk_file_list *out)
{
    return read_tree(folder, true, arena, out);
}
