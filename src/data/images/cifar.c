#include "data/images/cifar.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SIDE = 32,
    PIXEL_BYTES = 3 * SIDE * SIDE,
    MAX_BATCHES = 5
};

#define MAX_FILE_BYTES (UINT64_C(1) << 30) /* the originals have 30 and 150 MB */

static const struct edition {
    const char *name;
    int coarse_labels;
    int32_t classes;
    const char *names_file;
    bool common_names; /* files of other kinds have such names, too */
    const char *files[YK_IMAGE_SPLIT_COUNT][MAX_BATCHES + 1];
} editions[] = {
    {
        .name = "CIFAR-10",
        .classes = 10,
        .names_file = "batches.meta.txt",
        .files = {[YK_IMAGE_SPLIT_TRAIN] = {"data_batch_1.bin", "data_batch_2.bin",
                                            "data_batch_3.bin", "data_batch_4.bin",
                                            "data_batch_5.bin"},
                  [YK_IMAGE_SPLIT_TEST] = {"test_batch.bin"}},
    },
    {
        .name = "CIFAR-100",
        .coarse_labels = 1,
        .classes = 100,
        .names_file = "fine_label_names.txt",
        .common_names = true,
        .files = {[YK_IMAGE_SPLIT_TRAIN] = {"train.bin"}, [YK_IMAGE_SPLIT_TEST] = {"test.bin"}},
    },
};

static int64_t record_bytes_of(int coarse_labels)
{
    return coarse_labels + 1 + PIXEL_BYTES;
}

yk_status yk_cifar_parse(uint8_t **records, size_t length, int coarse_labels, const char *source,
                         struct yk_arena *arena, struct yk_image_split *out)
{
    const struct edition *edition = &editions[coarse_labels];
    const int64_t record_bytes = record_bytes_of(coarse_labels);
    const int64_t count = (int64_t)length / record_bytes;
    int32_t *labels = NULL;
    if (count == 0 || (int64_t)length % record_bytes != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %zu bytes are not whole images of %s, which have %" PRId64
                       " each; the file is cut off, or another",
                       source, length, edition->name, record_bytes);
    }
    YK_TRY_NEW(arena, labels, count);
    for (int64_t i = 0; i < count; i++) {
        labels[i] = (*records)[i * record_bytes + coarse_labels];
        if (labels[i] >= edition->classes) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: image %" PRId64 " is of class %" PRId32
                           ", but %s has classes 0 to %" PRId32,
                           source, i, labels[i], edition->name, edition->classes - 1);
        }
    }
    *out = (struct yk_image_split){
        .count = count,
        .labels = labels,
        .records = *records,
        .record_bytes = record_bytes,
        .pixel_offset = coarse_labels + 1,
        .height = SIDE,
        .width = SIDE,
        .channels = 3,
        .planar = true,
    };
    *records = NULL;
    return YK_OK;
}

/* Whether a file of this edition has the name. */
static bool is_name_of(const struct edition *edition, const char *name)
{
    for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
        for (int i = 0; edition->files[s][i]; i++) {
            if (strcmp(edition->files[s][i], name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A train.bin may as well hold tokens: only whole records with a label that exists are images. */
static bool may_be_images(const struct edition *edition, const char *path)
{
    uint8_t labels[2] = {0};
    struct stat info;
    int descriptor = -1;
    if (!edition->common_names) {
        return true;
    }
    if (yk_file_open_for_reading(path, false, &descriptor) != YK_OK) {
        return false;
    }
    const int64_t record_bytes = record_bytes_of(edition->coarse_labels);
    const bool whole = fstat(descriptor, &info) == 0 && info.st_size >= record_bytes &&
                       info.st_size % record_bytes == 0;
    const bool read =
        yk_file_read_at(descriptor, 0, labels, sizeof labels) == (int64_t)sizeof labels;
    close(descriptor);
    return whole && read && labels[edition->coarse_labels] < edition->classes;
}

/* Collects the files of a split that are in a folder. */
static yk_status list_files(const struct edition *edition, enum yk_image_split_kind kind,
                            const char *folder, struct yk_arena *arena,
                            const char *out[MAX_BATCHES], int *out_count)
{
    *out_count = 0;
    for (int i = 0; edition->files[kind][i]; i++) {
        if (yk_folder_contains(folder, edition->files[kind][i])) {
            YK_TRY(
                yk_folder_join_path(folder, edition->files[kind][i], arena, &out[(*out_count)++]));
        }
    }
    return YK_OK;
}

/* The first batches alone are a smaller set; a gap means that a file was lost. */
static yk_status check_no_gap(const struct edition *edition, enum yk_image_split_kind kind,
                              const char *folder)
{
    const char *missing = NULL;
    for (int i = 0; edition->files[kind][i]; i++) {
        const char *name = edition->files[kind][i];
        if (!yk_folder_contains(folder, name)) {
            missing = missing ? missing : name;
        } else if (missing) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s has %s, but not %s, which comes before it; add the missing file, or "
                           "name one batch instead of the folder",
                           folder, name, missing);
        }
    }
    return YK_OK;
}

static bool is_folder_of(const struct edition *edition, const char *folder, struct yk_arena *arena)
{
    for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
        const char *paths[MAX_BATCHES];
        int count = 0;
        if (list_files(edition, s, folder, arena, paths, &count) == YK_OK && count > 0 &&
            may_be_images(edition, paths[0])) {
            return true;
        }
    }
    return false;
}

/* The edition of a folder or of a file; NULL if it is none. */
static const struct edition *find_edition(const char *path, struct yk_arena *arena)
{
    const char *slash = strrchr(path, '/');
    const bool is_folder = yk_folder_exists(path);
    for (size_t i = 0; i < sizeof editions / sizeof *editions; i++) {
        const struct edition *edition = &editions[i];
        if (is_folder
                ? is_folder_of(edition, path, arena)
                : is_name_of(edition, slash ? slash + 1 : path) && may_be_images(edition, path)) {
            return edition;
        }
    }
    return NULL;
}

bool yk_cifar_detect(const char *path)
{
    struct yk_arena *arena = NULL;
    if (yk_arena_create(&arena) != YK_OK) {
        return false;
    }
    const bool found = find_edition(path, arena) != NULL;
    yk_arena_destroy(arena);
    return found;
}

/* Reads some files after each other into memory. */
static yk_status read_files(const struct edition *edition, const char *const *paths, int count,
                            struct yk_text *out)
{
    const size_t record_bytes = (size_t)record_bytes_of(edition->coarse_labels);
    for (int i = 0; i < count; i++) {
        YK_TRY(yk_file_read_with_limit(paths[i], MAX_FILE_BYTES, out));
        if (out->length % record_bytes != 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: its size is not a multiple of %zu bytes, which an image of %s "
                           "has; the file is cut off",
                           paths[i], record_bytes, edition->name);
        }
    }
    return YK_OK;
}

static yk_status read_split(const struct edition *edition, const char *const *paths, int count,
                            struct yk_arena *arena, struct yk_image_split *out)
{
    struct yk_text bytes = {0};
    if (count == 0) {
        return YK_OK;
    }
    yk_status status = read_files(edition, paths, count, &bytes);
    uint8_t *records = (uint8_t *)bytes.bytes;
    YK_IF_OK(yk_cifar_parse(&records, bytes.length, edition->coarse_labels, paths[0], arena, out));
    free(records);
    return status;
}

/* Reads one name a line into `names`, which has room for those of all classes. Without a line, the
 * name of a class stays NULL; blank lines may only follow the last name. */
static yk_status read_names(const struct edition *edition, const char *path, struct yk_arena *arena,
                            const char **names)
{
    const char *line = NULL;
    size_t length = 0;
    bool blank = false;
    YK_TRY(yk_file_read_document_to_arena(path, arena, &line, &length));
    for (int64_t i = 0; *line; i++) {
        line += strspn(line, "\t ");
        const size_t name_length = strcspn(line, "\r\n");
        if (name_length > 0 && blank) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: line %" PRId64 " is blank, but names of classes follow; there must "
                           "be one name a line",
                           path, i);
        }
        if (name_length > 0 && i >= edition->classes) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s has more than %" PRId32 " names, but %s has %" PRId32
                           " classes; there must be one name a line for each class",
                           path, edition->classes, edition->name, edition->classes);
        }
        if (name_length > 0) {
            names[i] = yk_arena_copy_text(arena, line, name_length);
            YK_TRY_ALLOCATED(names[i]);
        }
        blank = name_length == 0;
        line += name_length;
        line += *line == '\r';
        line += *line == '\n';
    }
    return YK_OK;
}

static yk_status name_classes(const struct edition *edition, const char *folder,
                              struct yk_image_set *set)
{
    const char *path = NULL;
    set->class_count = edition->classes;
    YK_TRY_NEW(set->arena, set->class_names, edition->classes);
    if (yk_folder_contains(folder, edition->names_file)) {
        YK_TRY(yk_folder_join_path(folder, edition->names_file, set->arena, &path));
        YK_TRY(read_names(edition, path, set->arena, set->class_names));
    }
    for (int32_t i = 0; i < edition->classes; i++) {
        if (!set->class_names[i]) {
            set->class_names[i] = yk_arena_format(set->arena, "%" PRId32, i);
            YK_TRY_ALLOCATED(set->class_names[i]);
        }
    }
    return YK_OK;
}

/* The folder of a file. */
static yk_status parent_of(const char *path, struct yk_arena *arena, const char **out)
{
    const char *slash = strrchr(path, '/');
    *out = slash ? yk_arena_copy_text(arena, path, (size_t)(slash - path) + 1) : ".";
    YK_TRY_ALLOCATED(*out);
    return YK_OK;
}

yk_status yk_cifar_read(const char *path, struct yk_image_set *set)
{
    const struct edition *edition = find_edition(path, set->arena);
    const char *folder = path;
    if (!edition) {
        return yk_fail(YK_ERROR_INPUT, "%s: there are no images of CIFAR", path);
    }
    set->form = edition->name;
    if (!yk_folder_exists(path)) {
        YK_TRY(parent_of(path, set->arena, &folder));
        YK_TRY(read_split(edition, &path, 1, set->arena, &set->splits[YK_IMAGE_SPLIT_TRAIN]));
        return name_classes(edition, folder, set);
    }
    for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
        const char *paths[MAX_BATCHES];
        int count = 0;
        YK_TRY(check_no_gap(edition, s, folder));
        YK_TRY(list_files(edition, s, folder, set->arena, paths, &count));
        YK_TRY(read_split(edition, paths, count, set->arena, &set->splits[s]));
    }
    return name_classes(edition, folder, set);
}
