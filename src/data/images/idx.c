#include "data/images/idx.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/system.h"
#include "base/text.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TYPE_BYTES = 0x08, /* unsigned bytes; files of images have no other type */
    MAX_DIMENSIONS = 4,
    READ_BYTES = 1 << 20
};

#define MIN_LIMIT_BYTES (INT64_C(1) << 30)

/* The records may take half of the free memory; gzip data may claim to be of any size. */
static int64_t limit_bytes(void)
{
    const int64_t half = (int64_t)(yk_system_free_memory_bytes() / 2);
    return half > MIN_LIMIT_BYTES ? half : MIN_LIMIT_BYTES;
}

static yk_status read_exactly(struct yk_input_stream *stream, const char *source, uint8_t *to,
                              size_t count)
{
    for (size_t done = 0; done < count;) {
        size_t length = 0;
        YK_TRY(yk_input_stream_read(stream, (char *)to + done, count - done, &length));
        if (length == 0) {
            return yk_fail(YK_ERROR_INPUT, "%s: the file is cut off: %zu of %zu bytes are missing",
                           source, count - done, count);
        }
        done += length;
    }
    return YK_OK;
}

static yk_status check_end(struct yk_input_stream *stream, const char *source)
{
    char more = 0;
    size_t length = 0;
    YK_TRY(yk_input_stream_read(stream, &more, 1, &length));
    return length == 0
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "%s: the file is longer than its header says", source);
}

/* Reads the header: two zeros, the type, the number of dimensions, and the dimensions. */
static yk_status read_header(struct yk_input_stream *stream, const char *source, int min_dimensions,
                             int max_dimensions, int64_t dimensions[MAX_DIMENSIONS], int *out_count)
{
    uint8_t bytes[4] = {0};
    YK_TRY(read_exactly(stream, source, bytes, sizeof bytes));
    if (bytes[0] != 0 || bytes[1] != 0 || bytes[2] != TYPE_BYTES || bytes[3] < min_dimensions ||
        bytes[3] > max_dimensions) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: it begins with %02x%02x%02x%02x, not with 000008%02x as an IDX file of "
                       "%s",
                       source, bytes[0], bytes[1], bytes[2], bytes[3], min_dimensions,
                       min_dimensions == 1 ? "labels" : "images");
    }
    *out_count = bytes[3];
    for (int i = 0; i < *out_count; i++) {
        uint8_t b[4] = {0};
        YK_TRY(read_exactly(stream, source, b, sizeof b));
        dimensions[i] = (int64_t)b[0] << 24 | (int64_t)b[1] << 16 | (int64_t)b[2] << 8 | b[3];
        if (dimensions[i] < 1) {
            return yk_fail(YK_ERROR_INPUT, "%s: dimension %d is 0", source, i);
        }
    }
    return YK_OK;
}

/* Reads `total` bytes. Memory grows with what the stream really has, not with what it claims. */
static yk_status read_records(struct yk_input_stream *stream, const char *source, int64_t total,
                              uint8_t **out)
{
    uint8_t *records = NULL;
    int64_t capacity = 0;
    int64_t done = 0;
    yk_status status = YK_OK;
    while (status == YK_OK && done < total) {
        if (done == capacity) {
            const int64_t wanted = capacity == 0 ? READ_BYTES : 2 * capacity;
            capacity = wanted < total ? wanted : total;
            uint8_t *grown = realloc(records, (size_t)capacity);
            if (!grown) {
                free(records);
                return yk_fail_out_of_memory();
            }
            records = grown;
        }
        status = read_exactly(stream, source, records + done, (size_t)(capacity - done));
        done = capacity;
    }
    YK_IF_OK(check_end(stream, source));
    YK_TRY_OR_CLEAN_UP(status, free(records));
    *out = records;
    return YK_OK;
}

yk_status yk_idx_read_images(struct yk_input_stream *stream, const char *source,
                             struct yk_image_split *out)
{
    int64_t dimensions[MAX_DIMENSIONS] = {0};
    int count = 0;
    YK_TRY(read_header(stream, source, 3, 4, dimensions, &count));
    assert(dimensions[0] > 0 && dimensions[1] > 0 && dimensions[2] > 0);
    const int64_t channels = count == 4 ? dimensions[3] : 1;
    if (channels != 1 && channels != 3) {
        return yk_fail(YK_ERROR_INPUT, "%s: images with %" PRId64 " channels; 1 or 3 are read",
                       source, channels);
    }
    if (dimensions[2] > YK_IMAGE_MAX_PIXELS / dimensions[1]) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: images of %" PRId64 " × %" PRId64 " pixels; at most %" PRId64
                       " are read",
                       source, dimensions[2], dimensions[1], YK_IMAGE_MAX_PIXELS);
    }
    const int64_t record_bytes = dimensions[1] * dimensions[2] * channels;
    const int64_t limit = limit_bytes();
    assert(record_bytes > 0);
    if (dimensions[0] > limit / record_bytes) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %" PRId64 " images of %" PRId64 " bytes are more than half of the free "
                       "memory; use a folder of images",
                       source, dimensions[0], record_bytes);
    }
    uint8_t *records = NULL;
    YK_TRY(read_records(stream, source, dimensions[0] * record_bytes, &records));
    *out = (struct yk_image_split){
        .count = dimensions[0],
        .records = records,
        .record_bytes = record_bytes,
        .height = dimensions[1],
        .width = dimensions[2],
        .channels = channels,
    };
    return YK_OK;
}

static yk_status read_labels(struct yk_input_stream *stream, const char *source,
                             struct yk_arena *arena, struct yk_image_split *split)
{
    int64_t dimensions[MAX_DIMENSIONS] = {0};
    int count = 0;
    uint8_t *labels = NULL;
    YK_TRY(read_header(stream, source, 1, 1, dimensions, &count));
    if (dimensions[0] != split->count) {
        return yk_fail(YK_ERROR_INPUT, "%s: %" PRId64 " labels, but there are %" PRId64 " images",
                       source, dimensions[0], split->count);
    }
    YK_TRY_NEW(arena, split->labels, split->count);
    YK_TRY(read_records(stream, source, split->count, &labels));
    for (int64_t i = 0; i < split->count; i++) {
        split->labels[i] = labels[i];
    }
    free(labels);
    return YK_OK;
}

/* Reads the labels of the split or, if `arena` is NULL, its images. */
static yk_status read_file(const char *path, struct yk_arena *arena, struct yk_image_split *split)
{
    struct yk_input_stream *stream = NULL;
    int descriptor = -1;
    YK_TRY(yk_file_open_for_reading(path, false, &descriptor));
    yk_status status = yk_input_stream_open(descriptor, path, &stream);
    YK_IF_OK(arena ? read_labels(stream, path, arena, split)
                   : yk_idx_read_images(stream, path, split));
    yk_input_stream_close(stream);
    close(descriptor);
    return status;
}

/* Whether a name is that of a file of images, such as "train-images-idx3-ubyte.gz". */
static bool is_images_name(const char *name)
{
    return strstr(name, "images") && (strstr(name, "idx3") || strstr(name, "idx4"));
}

/* Replaces the first `old` by `new`, which is as long. */
static void replace(char *text, const char *old, const char *new)
{
    char *at = strstr(text, old);
    for (size_t i = 0; at && new[i]; i++) {
        at[i] = new[i];
    }
}

/* The labels of a file of images, compressed or not. */
static yk_status find_labels(const char *images, struct yk_arena *arena, const char **out)
{
    char *path = yk_arena_format(arena, "%s.gz", images);
    YK_TRY_ALLOCATED(path);
    const size_t length = strlen(path);
    char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    replace(name, "images", "labels");
    replace(name, "idx3", "idx1");
    replace(name, "idx4", "idx1");
    if (yk_text_ends_with(images, ".gz")) {
        path[length - strlen(".gz")] = '\0'; /* as compressed as the images */
    }
    char *plain = yk_arena_copy_text(arena, path, strlen(path));
    YK_TRY_ALLOCATED(plain);
    plain[strlen(plain) - strlen(".gz")] = '\0';
    *out = access(plain, F_OK) == 0 ? plain : path;
    if (access(*out, F_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: there are no labels; they belong into %s", images,
                       plain);
    }
    return YK_OK;
}

static yk_status read_split(const char *images, struct yk_arena *arena, struct yk_image_split *out)
{
    const char *labels = NULL;
    YK_TRY(find_labels(images, arena, &labels));
    YK_TRY(read_file(images, NULL, out));
    return read_file(labels, arena, out);
}

static enum yk_image_split_kind split_of(const char *name)
{
    if (strstr(name, "t10k") || strstr(name, "test")) {
        return YK_IMAGE_SPLIT_TEST;
    }
    return strstr(name, "val") ? YK_IMAGE_SPLIT_VALIDATION : YK_IMAGE_SPLIT_TRAIN;
}

/* Notes a file of images for its split. A file beside its compressed form is the same. */
static yk_status add_images(const char *folder, const char *name, struct yk_arena *arena,
                            const char *out[YK_IMAGE_SPLIT_COUNT])
{
    const char **slot = &out[split_of(name)];
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(folder, name, arena, &path));
    if (*slot) {
        const size_t old_length = strlen(*slot);
        const size_t length = strlen(path);
        const size_t common = old_length < length ? old_length : length;
        if (strncmp(*slot, path, common) != 0 ||
            strcmp((old_length < length ? path : *slot) + common, ".gz") != 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: both %s and %s hold images of one split; name one of them as the "
                           "data",
                           folder, *slot + strlen(folder) + 1, name);
        }
        path = old_length < length ? *slot : path;
    }
    *slot = path;
    return YK_OK;
}

static yk_status find_files(const char *folder, struct yk_arena *arena,
                            const char *out[YK_IMAGE_SPLIT_COUNT])
{
    DIR *stream = opendir(folder);
    if (!stream) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", folder, strerror(errno));
    }
    yk_status status = YK_OK;
    const struct dirent *entry = NULL;
    while (status == YK_OK && (entry = readdir(stream))) {
        if (entry->d_name[0] != '.' && is_images_name(entry->d_name)) {
            status = add_images(folder, entry->d_name, arena, out);
        }
    }
    closedir(stream);
    return status;
}

bool yk_idx_detect(const char *path)
{
    struct yk_arena *arena = NULL;
    const char *files[YK_IMAGE_SPLIT_COUNT] = {0};
    const char *slash = strrchr(path, '/');
    if (!yk_folder_exists(path)) {
        return is_images_name(slash ? slash + 1 : path) && access(path, F_OK) == 0;
    }
    if (yk_arena_create(&arena) != YK_OK) {
        return false;
    }
    /* Several training sets are IDX, too, although one must be named. */
    const bool found = find_files(path, arena, files) != YK_OK || files[YK_IMAGE_SPLIT_TRAIN] ||
                       files[YK_IMAGE_SPLIT_TEST];
    yk_arena_destroy(arena);
    return found;
}

static yk_status name_classes(struct yk_image_set *set)
{
    for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
        const struct yk_image_split *split = &set->splits[s];
        for (int64_t i = 0; i < split->count; i++) {
            set->class_count =
                split->labels[i] >= set->class_count ? split->labels[i] + 1 : set->class_count;
        }
    }
    YK_TRY_NEW(set->arena, set->class_names, set->class_count);
    for (int32_t i = 0; i < set->class_count; i++) {
        set->class_names[i] = yk_arena_format(set->arena, "%" PRId32, i);
        YK_TRY_ALLOCATED(set->class_names[i]);
    }
    return YK_OK;
}

yk_status yk_idx_read(const char *path, struct yk_image_set *set)
{
    const char *files[YK_IMAGE_SPLIT_COUNT] = {[YK_IMAGE_SPLIT_TRAIN] = path};
    set->form = "IDX";
    if (yk_folder_exists(path)) {
        files[YK_IMAGE_SPLIT_TRAIN] = NULL;
        YK_TRY(find_files(path, set->arena, files));
    }
    for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
        if (files[s]) {
            YK_TRY(read_split(files[s], set->arena, &set->splits[s]));
        }
    }
    return name_classes(set);
}
