#include "data/images/image_set.h"

#include "base/name_index.h"
#include "base/utf8.h"
#include "data/images/cifar.h"
#include "data/images/idx.h"
#include "data/images/image_file.h"
#include "data/images/image_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REPEATED = -1
};

static const struct form {
    const char *name;
    bool (*detect)(const char *path);
    yk_status (*read)(const char *path, struct yk_image_set *set);
} forms[] = {
    {"CIFAR", yk_cifar_detect, yk_cifar_read},
    {"IDX", yk_idx_detect, yk_idx_read},
    {"folder tree", yk_image_folder_detect, yk_image_folder_read},
};

static const struct form *find_form(const char *path)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].detect(path)) {
            return &forms[i];
        }
    }
    return NULL;
}

bool yk_image_set_detect(const char *path)
{
    return find_form(path) != NULL;
}

/* Checks that names can be members of a config.json: UTF-8, and each of them once. */
static yk_status check_names(const struct yk_image_set *set, const char *path,
                             struct yk_name_index *index)
{
    for (int32_t c = 0; c < set->class_count; c++) {
        const char *name = set->class_names[c];
        bool added = false;
        int32_t ignored = 0;
        if (yk_utf8_valid_prefix_length(name, strlen(name)) < strlen(name)) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: the name of class %" PRId32 " is not UTF-8; rename it", path, c);
        }
        YK_TRY(yk_name_index_add(index, name, &added, &ignored));
        if (!added) {
            return yk_fail(YK_ERROR_INPUT, "%s: two classes are called \"%s\"; rename one of them",
                           path, name);
        }
    }
    return YK_OK;
}

static yk_status check_class_names(const struct yk_image_set *set, const char *path)
{
    struct yk_name_index *index = NULL;
    YK_TRY(yk_name_index_create(&index));
    const yk_status status = check_names(set, path, index);
    yk_name_index_destroy(index);
    return status;
}

static yk_status read_set(const char *path, struct yk_image_set *set)
{
    const struct form *form = find_form(path);
    if (access(path, F_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if (!form) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: there are no images; images are a folder with a sub-folder of PNG or "
                       "JPEG files for each class, CIFAR's binary files, or IDX files",
                       path);
    }
    set->form = form->name;
    YK_TRY(form->read(path, set));
    if (set->splits[YK_IMAGE_SPLIT_TRAIN].count == 0 &&
        set->splits[YK_IMAGE_SPLIT_TEST].count == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: there are no images", path);
    }
    return check_class_names(set, path);
}

yk_status yk_image_set_open(const char *path, struct yk_image_set **out)
{
    struct yk_image_set *set = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(set);
    YK_TRY_OR_CLEAN_UP(read_set(path, set), yk_image_set_close(set));
    *out = set;
    return YK_OK;
}

void yk_image_set_close(struct yk_image_set *set)
{
    if (set) {
        for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
            free(set->splits[s].records);
        }
        yk_arena_destroy(set->arena);
    }
}

/* Whether the classes are the first ones of `names`, in the same order. */
static bool has_order(const struct yk_image_set *set, const char *const *names, int64_t count)
{
    bool same = set->class_count <= count;
    for (int32_t i = 0; same && i < set->class_count; i++) {
        same = strcmp(set->class_names[i], names[i]) == 0;
    }
    return same;
}

/* The number of each name in `names`; REPEATED for one that occurs twice. */
static yk_status index_names(const char *const *names, int64_t count, struct yk_name_index *index,
                             int32_t *numbers)
{
    for (int64_t i = 0; i < count; i++) {
        bool added = false;
        int32_t at = 0;
        YK_TRY(yk_name_index_add(index, names[i], &added, &at));
        numbers[at] = added ? (int32_t)i : REPEATED;
    }
    return YK_OK;
}

static yk_status find_numbers(const struct yk_image_set *set, const char *const *names,
                              int64_t count, const char *unknown, struct yk_name_index *index,
                              struct yk_arena *arena, int32_t *out)
{
    int32_t *numbers = NULL;
    YK_TRY_NEW(arena, numbers, count + 1);
    YK_TRY(index_names(names, count, index, numbers));
    for (int32_t c = 0; c < set->class_count; c++) {
        int32_t at = 0;
        YK_TRY(yk_name_index_find_or_fail(index, set->class_names[c], unknown, &at));
        if (numbers[at] == REPEATED) {
            return yk_fail(YK_ERROR_INPUT,
                           "two classes of the model are called \"%s\": its classes cannot be "
                           "distinguished by name",
                           set->class_names[c]);
        }
        out[c] = numbers[at];
    }
    return YK_OK;
}

static yk_status renumber(struct yk_image_set *set, const char *const *names, int64_t count,
                          const char *unknown, struct yk_arena *arena)
{
    struct yk_name_index *index = NULL;
    int32_t *numbers = NULL;
    YK_TRY_NEW(arena, numbers, set->class_count + 1);
    YK_TRY(yk_name_index_create(&index));
    const yk_status status = find_numbers(set, names, count, unknown, index, arena, numbers);
    yk_name_index_destroy(index);
    YK_TRY(status);
    for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
        const struct yk_image_split *split = &set->splits[s];
        for (int64_t i = 0; i < split->count; i++) {
            split->labels[i] = numbers[split->labels[i]];
        }
    }
    return YK_OK;
}

yk_status yk_image_set_renumber_classes(struct yk_image_set *set, const char *const *names,
                                        int64_t count, const char *unknown)
{
    if (has_order(set, names, count)) {
        return YK_OK;
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, renumber(set, names, count, unknown, arena));
    return YK_OK;
}

static yk_status read_record(const struct yk_image_split *split, int64_t index,
                             struct yk_image *out)
{
    const uint8_t *from = split->records + index * split->record_bytes + split->pixel_offset;
    const int64_t pixels = split->height * split->width;
    YK_TRY(yk_image_allocate(split->height, split->width, split->channels, out));
    if (!split->planar) {
        memcpy(out->pixels, from, (size_t)(pixels * split->channels));
        return YK_OK;
    }
    for (int64_t c = 0; c < split->channels; c++) {
        for (int64_t i = 0; i < pixels; i++) {
            out->pixels[i * split->channels + c] = from[c * pixels + i];
        }
    }
    return YK_OK;
}

yk_status yk_image_set_read(const struct yk_image_split *split, int64_t index, int64_t channels,
                            struct yk_image *out)
{
    if (split->paths) {
        return yk_image_file_read(split->paths[index], channels, out);
    }
    struct yk_image image = {0};
    YK_TRY(read_record(split, index, &image));
    YK_TRY_OR_CLEAN_UP(yk_image_convert(&image, channels), yk_image_free(&image));
    *out = image;
    return YK_OK;
}
