#include "data/images/image_folder.h"

#include "base/array.h"
#include "base/folder.h"
#include "base/text.h"
#include "data/file_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    DETECT_DEPTH = 3,     /* of folders that are searched for a first image: split, class, … */
    DETECT_ENTRIES = 1000 /* that are looked at in all */
};

/* The names of the splits; the first that is there counts. */
static const char *const split_names[YK_IMAGE_SPLIT_COUNT][5] = {
    [YK_IMAGE_SPLIT_TRAIN] = {"train", "training"},
    [YK_IMAGE_SPLIT_VALIDATION] = {"val", "valid", "validation", "dev"},
    [YK_IMAGE_SPLIT_TEST] = {"test", "testing", "eval"},
};

/* Images of other formats are listed, too: to ignore them would train on less than is there. */
static bool is_image(const char *path)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".jpe",  ".jfif", ".webp",
                                          ".bmp", ".gif", ".tif",  ".tiff", ".ppm",  ".avif"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcasecmp(dot, endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct names {
    const char **items;
    int32_t count;
    int32_t capacity;
};

static yk_status add_name(struct names *names, const char *name)
{
    YK_TRY_GROW_ARRAY(names->items, names->capacity, names->count);
    names->items[names->count++] = name;
    return YK_OK;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static yk_status add_subfolder(const char *folder, const char *name, struct yk_arena *arena,
                               struct names *names)
{
    const char *path = NULL;
    const char *copy = NULL;
    if (name[0] == '.') {
        return YK_OK;
    }
    YK_TRY(yk_folder_join_path(folder, name, arena, &path));
    if (!yk_folder_exists(path)) {
        return YK_OK;
    }
    YK_TRY(yk_arena_strdup(arena, name, &copy));
    return add_name(names, copy);
}

/* Adds the names of the sub-folders. Links to folders count: collections are often made of them. */
static yk_status add_subfolders(const char *folder, struct yk_arena *arena, struct names *names)
{
    DIR *stream = opendir(folder);
    if (!stream) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", folder, strerror(errno));
    }
    yk_status status = YK_OK;
    const struct dirent *entry = NULL;
    while (status == YK_OK && (entry = readdir(stream))) {
        status = add_subfolder(folder, entry->d_name, arena, names);
    }
    closedir(stream);
    return status;
}

/* The folder of a split, or NULL. */
static yk_status find_split(const char *folder, enum yk_image_split_kind kind,
                            struct yk_arena *arena, const char **out)
{
    *out = NULL;
    for (int i = 0; split_names[kind][i] && !*out; i++) {
        YK_TRY(yk_folder_join_path(folder, split_names[kind][i], arena, out));
        *out = yk_folder_exists(*out) ? *out : NULL;
    }
    return YK_OK;
}

/* Finds the folders of the splits; without train, the whole folder is the training split. */
static yk_status find_splits(const char *folder, struct yk_arena *arena,
                             const char *out[YK_IMAGE_SPLIT_COUNT])
{
    for (enum yk_image_split_kind i = 0; i < YK_IMAGE_SPLIT_COUNT; i++) {
        YK_TRY(find_split(folder, i, arena, &out[i]));
    }
    if (!out[YK_IMAGE_SPLIT_TRAIN]) {
        out[YK_IMAGE_SPLIT_TRAIN] = folder;
        out[YK_IMAGE_SPLIT_VALIDATION] = NULL;
        out[YK_IMAGE_SPLIT_TEST] = NULL;
    }
    return YK_OK;
}

/* Sorts the names and keeps one of each. */
static yk_status keep_classes(struct names *names, struct yk_image_set *set)
{
    int32_t kept = 0;
    if (names->count > 0) {
        qsort(names->items, (size_t)names->count, sizeof *names->items, compare_names);
    }
    YK_TRY_NEW(set->arena, set->class_names, names->count);
    for (int32_t i = 0; i < names->count; i++) {
        if (kept == 0 || strcmp(set->class_names[kept - 1], names->items[i]) != 0) {
            set->class_names[kept++] = names->items[i];
        }
    }
    set->class_count = kept;
    return YK_OK;
}

static yk_status read_classes(const char *const folders[YK_IMAGE_SPLIT_COUNT],
                              struct yk_image_set *set)
{
    struct names names = {0};
    yk_status status = YK_OK;
    for (enum yk_image_split_kind i = 0; i < YK_IMAGE_SPLIT_COUNT; i++) {
        if (folders[i]) {
            YK_IF_OK(add_subfolders(folders[i], set->arena, &names));
        }
    }
    YK_IF_OK(keep_classes(&names, set));
    free(names.items);
    return status;
}

struct found_images {
    struct names paths;
    int32_t *labels;
    int32_t label_capacity;
};

static yk_status add_class(const char *folder, int32_t label, struct yk_arena *arena,
                           struct found_images *images)
{
    struct yk_file_list files = {0};
    YK_TRY(yk_file_list_read_data_folder(folder, arena, &files));
    for (int32_t i = 0; i < files.count; i++) {
        if (is_image(files.paths[i])) {
            YK_TRY_GROW_ARRAY(images->labels, images->label_capacity, images->paths.count);
            images->labels[images->paths.count] = label;
            YK_TRY(add_name(&images->paths, files.paths[i]));
        }
    }
    return YK_OK;
}

static yk_status add_classes(const char *folder, enum yk_image_split_kind kind,
                             const struct yk_image_set *set, struct found_images *images)
{
    for (int32_t label = 0; label < set->class_count; label++) {
        const char *path = NULL;
        const int32_t before = images->paths.count;
        YK_TRY(yk_folder_join_path(folder, set->class_names[label], set->arena, &path));
        if (yk_folder_exists(path)) {
            YK_TRY(add_class(path, label, set->arena, images));
        } else if (kind == YK_IMAGE_SPLIT_TRAIN) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: there is no such folder to train with, but the images to validate "
                           "or test have this class; add it here, or remove it there",
                           path);
        }
        if (kind == YK_IMAGE_SPLIT_TRAIN && images->paths.count == before) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: the class has no image (PNG or JPEG) to train with; add some, or "
                           "remove the folder",
                           path);
        }
    }
    return YK_OK;
}

static yk_status keep_images(const struct found_images *images, struct yk_arena *arena,
                             struct yk_image_split *split)
{
    const size_t count = (size_t)images->paths.count;
    YK_TRY_NEW(arena, split->paths, count);
    YK_TRY_NEW(arena, split->labels, count);
    if (count > 0) {
        memcpy(split->paths, images->paths.items, count * sizeof *split->paths);
        memcpy(split->labels, images->labels, count * sizeof *split->labels);
    }
    split->count = images->paths.count;
    return YK_OK;
}

yk_status yk_image_folder_read(const char *path, struct yk_image_set *set)
{
    const char *folders[YK_IMAGE_SPLIT_COUNT] = {0};
    YK_TRY(find_splits(path, set->arena, folders));
    YK_TRY(read_classes(folders, set));
    if (set->class_count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: there are no sub-folders; the images of each class belong into a "
                       "folder with the name of the class",
                       folders[YK_IMAGE_SPLIT_TRAIN]);
    }
    for (enum yk_image_split_kind i = 0; i < YK_IMAGE_SPLIT_COUNT; i++) {
        struct found_images images = {0};
        yk_status status = folders[i] ? add_classes(folders[i], i, set, &images) : YK_OK;
        YK_IF_OK(keep_images(&images, set->arena, &set->splits[i]));
        free(images.paths.items);
        free(images.labels);
        YK_TRY(status);
    }
    return YK_OK;
}

/* Searches for an image in the sub-folders of a folder. An image in the folder itself does not
 * count when `depth` is 0: it has no class. */
static bool has_image(const char *folder, int depth, int *entries, struct yk_arena *arena)
{
    bool found = false;
    DIR *stream = opendir(folder);
    const struct dirent *entry = NULL;
    while (stream && !found && (*entries)++ < DETECT_ENTRIES && (entry = readdir(stream))) {
        const char *path = NULL;
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (depth > 0 && is_image(entry->d_name)) {
            found = true;
        } else if (depth < DETECT_DEPTH && entry->d_type != DT_REG &&
                   yk_folder_join_path(folder, entry->d_name, arena, &path) == YK_OK &&
                   yk_folder_exists(path)) {
            found = has_image(path, depth + 1, entries, arena);
        }
    }
    if (stream) {
        closedir(stream);
    }
    return found;
}

bool yk_image_folder_detect(const char *path)
{
    struct yk_arena *arena = NULL;
    int entries = 0;
    if (!yk_folder_exists(path) || yk_arena_create(&arena) != YK_OK) {
        return false;
    }
    const bool found = has_image(path, 0, &entries, arena);
    yk_arena_destroy(arena);
    return found;
}
