#include "tensors/safetensors.h"

#include "base/file.h"
#include "base/json.h"
#include "base/name_index.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The header:
 *
 *   {"__metadata__": {"format": "pt", …},
 *    "wte.weight": {"dtype": "F32", "shape": [50257, 768], "data_offsets": [0, 154389504]}, …}
 *
 * with offsets counted from its end. The bytes of the tensors must fill the rest of the file,
 * without holes or overlap; the header may name them in any order.
 */
enum {
    START_BYTES = 64,  /* that tell a file from others */
    SHOWN_COLUMNS = 80 /* the longest name that a message shows in full */
};

yk_status yk_safetensors_header_parse_length(const unsigned char *bytes, size_t length,
                                             uint64_t file_size, const char *source, uint64_t *out)
{
    if (length < YK_SAFETENSORS_PREFIX_BYTES || file_size < YK_SAFETENSORS_PREFIX_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %" PRIu64
                       " bytes are too few for a safetensors file, which begins with the 8 bytes "
                       "of its header's length",
                       source, file_size);
    }
    uint64_t header = 0;
    for (int i = YK_SAFETENSORS_PREFIX_BYTES - 1; i >= 0; i--) {
        header = header << 8 | bytes[i];
    }
    if (header > YK_SAFETENSORS_MAX_HEADER_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a header of %" PRIu64
                       " bytes, where at most %d are allowed; this is no safetensors file",
                       source, header, YK_SAFETENSORS_MAX_HEADER_BYTES);
    }
    if (header > file_size - YK_SAFETENSORS_PREFIX_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: the file is cut off inside its header: %" PRIu64 " bytes are missing",
                       source, header - (file_size - YK_SAFETENSORS_PREFIX_BYTES));
    }
    *out = header;
    return YK_OK;
}

/* Reads a non-negative integer below 2^53, which a double represents exactly. */
static bool read_size(const struct yk_json *node, uint64_t *out)
{
    double number = 0;
    if (!yk_json_number_value(node, &number) || !(number >= 0) || number >= 0x1p53 ||
        number != trunc(number)) {
        return false;
    }
    *out = (uint64_t)number;
    return true;
}

static yk_status read_shape(const struct yk_json *node, struct yk_tensor_file_entry *out)
{
    const struct yk_json *shape = yk_json_get_member(node, "shape");
    const size_t rank = yk_json_array_count(shape);
    YK_TRY(yk_json_check_is_array(shape, "shape"));
    if (rank > YK_TENSOR_MAX_RANK) {
        return yk_fail(YK_ERROR_INPUT, "%zu dimensions, where at most %d are supported", rank,
                       YK_TENSOR_MAX_RANK);
    }
    for (size_t i = 0; i < rank; i++) {
        uint64_t size = 0;
        if (!read_size(yk_json_array_at(shape, i), &size)) {
            return yk_fail(YK_ERROR_INPUT, "dimension %zu of \"shape\" must be a whole number", i);
        }
        out->shape[i] = (int64_t)size;
    }
    out->rank = (int32_t)rank;
    return YK_OK;
}

static yk_status read_type(const struct yk_json *node, struct yk_tensor_file_entry *out)
{
    const struct yk_json *type = yk_json_get_member(node, "dtype");
    const char *name = yk_json_string_value(type);
    if (!name) {
        return yk_fail(YK_ERROR_INPUT, "\"dtype\" must be a string, not %s",
                       yk_json_type_name(type));
    }
    if (!yk_tensor_dtype_find_by_name(name, &out->type)) {
        return yk_fail(YK_ERROR_INPUT, "the type \"%.*s\" is not supported",
                       (int)yk_text_fitting_prefix_length(name, SHOWN_COLUMNS), name);
    }
    return YK_OK;
}

/* `data` is the offset of the first tensor's bytes in the file. */
static yk_status read_entry(const struct yk_json *node, uint64_t data,
                            struct yk_tensor_file_entry *out)
{
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object, not %s", yk_json_type_name(node));
    }
    YK_TRY(read_type(node, out));
    YK_TRY(read_shape(node, out));
    const struct yk_json *offsets = yk_json_get_member(node, "data_offsets");
    uint64_t begin = 0;
    uint64_t end = 0;
    if (yk_json_array_count(offsets) != 2 || !read_size(yk_json_array_at(offsets, 0), &begin) ||
        !read_size(yk_json_array_at(offsets, 1), &end) || begin > end) {
        return yk_fail(
            YK_ERROR_INPUT,
            "\"data_offsets\" must be two whole numbers, the second not below the first");
    }
    if (!yk_tensor_compute_bytes(out->type, out->rank, out->shape, &out->bytes)) {
        return yk_fail(YK_ERROR_INPUT, "the shape has more elements than can be counted");
    }
    if (out->bytes != end - begin) {
        return yk_fail(YK_ERROR_INPUT,
                       "its type and shape take %" PRIu64 " bytes, but its offsets span %" PRIu64,
                       out->bytes, end - begin);
    }
    out->offset = data + begin;
    return YK_OK;
}

static yk_status fail_in_tensor(yk_status status, const char *name)
{
    struct yk_text place = {0};
    yk_text_addf(&place, "tensor \"%.*s\"", (int)yk_text_fitting_prefix_length(name, SHOWN_COLUMNS),
                 name);
    status = yk_status_prefix_message(status, yk_text_chars(&place));
    yk_text_free(&place);
    return status;
}

/* By offset. Empty tensors come before the tensor that begins at the same offset. */
static int compare_offsets(const void *left, const void *right)
{
    const struct yk_tensor_file_entry *a = left;
    const struct yk_tensor_file_entry *b = right;
    if (a->offset != b->offset) {
        return a->offset < b->offset ? -1 : 1;
    }
    if (a->bytes != b->bytes) {
        return a->bytes < b->bytes ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* Checks that the tensors, sorted by offset, fill the file from `data` to its end. */
static yk_status check_offsets(const struct yk_tensor_file_entry *entries, int32_t count,
                               uint64_t data, uint64_t file_size)
{
    uint64_t end = data;
    for (int32_t i = 0; i < count; i++) {
        const struct yk_tensor_file_entry *entry = &entries[i];
        if (entry->offset != end) {
            const yk_status status =
                entry->offset < end
                    ? yk_fail(YK_ERROR_INPUT,
                              "its bytes overlap those of another tensor by %" PRIu64,
                              end - entry->offset)
                    : yk_fail(YK_ERROR_INPUT, "%" PRIu64 " bytes before it belong to no tensor",
                              entry->offset - end);
            return fail_in_tensor(status, entry->name);
        }
        end = entry->offset + entry->bytes;
    }
    if (end > file_size) {
        return yk_fail(YK_ERROR_INPUT,
                       "the file is cut off: %" PRIu64 " of %" PRIu64 " bytes are missing",
                       end - file_size, end);
    }
    if (end < file_size) {
        return yk_fail(YK_ERROR_INPUT, "%" PRIu64 " bytes after the last tensor belong to none",
                       file_size - end);
    }
    return YK_OK;
}

static const char metadata_key[] = "__metadata__";

static yk_status read_metadata(const struct yk_json *root, struct yk_arena *arena,
                               struct yk_safetensors_header *out)
{
    const struct yk_json *node = yk_json_get_member(root, metadata_key);
    struct yk_json_member_iterator member = {0};
    struct yk_safetensors_metadata_entry *entries = NULL;
    if (!node) {
        return YK_OK;
    }
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be an object, not %s", metadata_key,
                       yk_json_type_name(node));
    }
    YK_TRY_NEW(arena, entries, yk_json_member_count(node));
    while (yk_json_next_member(node, &member)) {
        const char *value = yk_json_string_value(member.value);
        if (!value) {
            return yk_fail(YK_ERROR_INPUT, "\"%.*s\" of \"%s\" must be a string, not %s",
                           (int)yk_text_fitting_prefix_length(member.name, SHOWN_COLUMNS),
                           member.name, metadata_key, yk_json_type_name(member.value));
        }
        struct yk_safetensors_metadata_entry *entry = &entries[out->metadata_count++];
        YK_TRY(yk_arena_strdup(arena, member.name, &entry->key));
        YK_TRY(yk_arena_strdup(arena, value, &entry->value));
    }
    out->metadata = entries;
    return YK_OK;
}

static yk_status read_root(size_t length, uint64_t file_size, const struct yk_json *root,
                           struct yk_arena *arena, struct yk_safetensors_header *out)
{
    const uint64_t data = YK_SAFETENSORS_PREFIX_BYTES + (uint64_t)length;
    struct yk_json_member_iterator member = {0};
    struct yk_tensor_file_entry *entries = NULL;
    YK_TRY(read_metadata(root, arena, out));
    YK_TRY_NEW(arena, entries, yk_json_member_count(root));
    while (yk_json_next_member(root, &member)) {
        if (strcmp(member.name, metadata_key) == 0) {
            continue;
        }
        struct yk_tensor_file_entry *entry = &entries[out->count++];
        YK_TRY(yk_arena_strdup(arena, member.name, &entry->name));
        const yk_status status = read_entry(member.value, data, entry);
        if (status != YK_OK) {
            return fail_in_tensor(status, entry->name);
        }
    }
    qsort(entries, (size_t)out->count, sizeof *entries, compare_offsets);
    out->entries = entries;
    return check_offsets(entries, out->count, data, file_size);
}

yk_status yk_safetensors_header_parse(const char *bytes, size_t length, uint64_t file_size,
                                      const char *source, struct yk_arena *arena,
                                      const struct yk_safetensors_header **out)
{
    struct yk_safetensors_header *header = NULL;
    YK_TRY_NEW(arena, header, 1);
    if (length == 0 || bytes[0] != '{') {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: the header does not begin with {; this is no safetensors file", source);
    }
    YK_TRY_WITH_PARSED_JSON(root, bytes, length, source,
                            read_root(length, file_size, root, arena, header));
    *out = header;
    return YK_OK;
}

static yk_status read_bytes(const struct yk_safetensors_file *file, uint64_t offset, uint64_t bytes,
                            void *to)
{
    const int64_t used = yk_file_read_at(file->descriptor, offset, to, bytes);
    if (used < 0) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot read %s: %s", file->path, strerror(errno));
    }
    return (uint64_t)used == bytes
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s: the file ends %" PRIu64 " bytes too early; it was cut off while "
                         "it was read",
                         file->path, bytes - (uint64_t)used);
}

static yk_status open_descriptor(struct yk_safetensors_file *file)
{
    struct stat info;
    YK_TRY(yk_file_open_for_reading(file->path, false, &file->descriptor));
    if (fstat(file->descriptor, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", file->path, strerror(errno));
    }
    file->size = (uint64_t)info.st_size;
    return YK_OK;
}

static yk_status read_header(struct yk_safetensors_file *file)
{
    unsigned char start[START_BYTES] = {0};
    const size_t there = file->size < sizeof start ? (size_t)file->size : sizeof start;
    uint64_t length = 0;
    YK_TRY(read_bytes(file, 0, there, start));
    YK_TRY(yk_file_check_not_lfs_pointer(file->path, (const char *)start, there));
    YK_TRY(yk_safetensors_header_parse_length(start, there, file->size, file->path, &length));
    char *bytes = malloc((size_t)length + 1);
    YK_TRY_ALLOCATED(bytes);
    yk_status status = read_bytes(file, YK_SAFETENSORS_PREFIX_BYTES, length, bytes);
    YK_IF_OK(yk_safetensors_header_parse(bytes, (size_t)length, file->size, file->path, file->arena,
                                         &file->header));
    free(bytes);
    return status;
}

static yk_status index_names(struct yk_safetensors_file *file)
{
    YK_TRY(yk_name_index_create(&file->names));
    for (int32_t i = 0; i < file->header->count; i++) {
        bool added = false;
        int32_t number = 0;
        YK_TRY(yk_name_index_add(file->names, file->header->entries[i].name, &added, &number));
    }
    return YK_OK;
}

yk_status yk_safetensors_open(const char *path, struct yk_safetensors_file **out)
{
    struct yk_safetensors_file *file = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(file);
    file->descriptor = -1;
    yk_status status = yk_arena_strdup(file->arena, path, &file->path);
    YK_IF_OK(open_descriptor(file));
    YK_IF_OK(read_header(file));
    YK_IF_OK(index_names(file));
    YK_TRY_OR_CLEAN_UP(status, yk_safetensors_close(file));
    *out = file;
    return YK_OK;
}

void yk_safetensors_close(struct yk_safetensors_file *file)
{
    if (!file) {
        return;
    }
    if (file->descriptor >= 0) {
        close(file->descriptor);
    }
    yk_name_index_destroy(file->names);
    yk_arena_destroy(file->arena);
}

const struct yk_tensor_file_entry *
yk_safetensors_find_tensor(const struct yk_safetensors_file *file, const char *name)
{
    const int32_t number = yk_name_index_find(file->names, name);
    return number < 0 ? NULL : &file->header->entries[number];
}

yk_status yk_safetensors_read_tensor_range(const struct yk_safetensors_file *file,
                                           const struct yk_tensor_file_entry *entry,
                                           uint64_t first_byte, uint64_t bytes, void *to)
{
    if (first_byte > entry->bytes || bytes > entry->bytes - first_byte) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: tensor \"%s\" has %" PRIu64 " bytes, but %" PRIu64 " from byte %" PRIu64
                       " on are asked for",
                       file->path, entry->name, entry->bytes, bytes, first_byte);
    }
    return read_bytes(file, entry->offset + first_byte, bytes, to);
}
