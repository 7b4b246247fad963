#include "tensors/safetensors_writer.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "base/name_index.h"
#include "base/text.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADER_ALIGNMENT = 8,
    BUFFER_BYTES = 1 << 16 /* collects small chunks, to make fewer system calls */
};

struct yk_safetensors_writer {
    struct yk_text path;
    struct yk_text partial;  /* the path while it is written */
    struct yk_text metadata; /* "key": "value", … */
    struct yk_text entries;  /* "name": {…}, … */
    struct yk_name_index *names;
    struct yk_name_index *keys;
    struct yk_hash *hash;
    uint64_t declared; /* bytes of all tensors */
    uint64_t added;    /* bytes of tensors that were added so far */
    uint64_t header_bytes;
    int descriptor; /* of the partial file; -1 while it is not open */
    size_t buffered;
    unsigned char buffer[BUFFER_BYTES];
};

yk_status yk_safetensors_writer_create(const char *path, struct yk_safetensors_writer **out)
{
    struct yk_safetensors_writer *writer = calloc(1, sizeof *writer);
    YK_TRY_ALLOCATED(writer);
    writer->descriptor = -1;
    yk_text_add(&writer->path, path);
    yk_text_addf(&writer->partial, "%s.partial", path);
    yk_status status = yk_file_check_regular(path); /* a device would be replaced */
    YK_IF_OK(yk_text_status(&writer->path));
    YK_IF_OK(yk_text_status(&writer->partial));
    YK_IF_OK(yk_name_index_create(&writer->names));
    YK_IF_OK(yk_name_index_create(&writer->keys));
    YK_IF_OK(yk_hash_create(&writer->hash));
    YK_TRY_OR_CLEAN_UP(status, yk_safetensors_writer_destroy(writer));
    *out = writer;
    return YK_OK;
}

/* Closes and removes the partial file. */
static void abandon(struct yk_safetensors_writer *writer)
{
    if (writer->descriptor >= 0) {
        close(writer->descriptor);
        unlink(yk_text_chars(&writer->partial));
        writer->descriptor = -1;
    }
}

void yk_safetensors_writer_destroy(struct yk_safetensors_writer *writer)
{
    if (!writer) {
        return;
    }
    abandon(writer);
    yk_hash_destroy(writer->hash);
    yk_name_index_destroy(writer->keys);
    yk_name_index_destroy(writer->names);
    yk_text_free(&writer->entries);
    yk_text_free(&writer->metadata);
    yk_text_free(&writer->partial);
    yk_text_free(&writer->path);
    free(writer);
}

static yk_status check_text(const struct yk_safetensors_writer *writer, const char *text)
{
    if (yk_utf8_valid_prefix_length(text, strlen(text)) < strlen(text)) {
        return yk_fail(YK_ERROR_INPUT, "%s: a name or a value of metadata is not UTF-8",
                       yk_text_chars(&writer->path));
    }
    return YK_OK;
}

/* Adds a name to `names`, or fails if it was added before. */
static yk_status add_name(const struct yk_safetensors_writer *writer, struct yk_name_index *names,
                          const char *kind, const char *name)
{
    bool added = false;
    int32_t number = 0;
    if (writer->header_bytes > 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s \"%s\" comes after the header is written",
                       yk_text_chars(&writer->path), kind, name);
    }
    YK_TRY(check_text(writer, name));
    YK_TRY(yk_name_index_add(names, name, &added, &number));
    if (!added) {
        return yk_fail(YK_ERROR_INPUT, "%s: %s \"%s\" is declared twice",
                       yk_text_chars(&writer->path), kind, name);
    }
    return YK_OK;
}

yk_status yk_safetensors_writer_declare_tensor(struct yk_safetensors_writer *writer,
                                               const char *name, enum yk_tensor_dtype type,
                                               int32_t rank, const int64_t *shape)
{
    struct yk_text *entries = &writer->entries;
    uint64_t bytes = 0;
    uint64_t end = 0;
    if (strcmp(name, "__metadata__") == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: no tensor can be called \"%s\"",
                       yk_text_chars(&writer->path), name);
    }
    YK_TRY(add_name(writer, writer->names, "tensor", name));
    if (rank < 0 || rank > YK_TENSOR_MAX_RANK ||
        !yk_tensor_compute_bytes(type, rank, shape, &bytes) ||
        __builtin_add_overflow(writer->declared, bytes, &end)) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: tensor \"%s\" has a shape that a safetensors file cannot hold",
                       yk_text_chars(&writer->path), name);
    }
    struct yk_json_writer json = {.text = entries, .needs_comma = entries->length > 0};
    yk_json_write_begin_object(&json, name);
    yk_json_write_string(&json, "dtype", yk_tensor_dtype_name(type));
    yk_json_write_begin_array(&json, "shape");
    for (int32_t i = 0; i < rank; i++) {
        yk_json_write_integer(&json, NULL, shape[i]);
    }
    yk_json_write_end_array(&json);
    yk_json_write_key(&json, "data_offsets");
    yk_text_addf(entries, "[%" PRIu64 ",%" PRIu64 "]", writer->declared, end);
    yk_json_write_end_object(&json);
    writer->declared = end;
    return yk_text_status(entries);
}

yk_status yk_safetensors_writer_add_metadata(struct yk_safetensors_writer *writer, const char *key,
                                             const char *value)
{
    YK_TRY(add_name(writer, writer->keys, "metadata", key));
    YK_TRY(check_text(writer, value));
    struct yk_json_writer json = {.text = &writer->metadata,
                                  .needs_comma = writer->metadata.length > 0};
    yk_json_write_string(&json, key, value);
    return yk_text_status(&writer->metadata);
}

static yk_status fail_to_write(struct yk_safetensors_writer *writer, int error)
{
    abandon(writer);
    return yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", yk_text_chars(&writer->path),
                   strerror(error));
}

static yk_status write_out(struct yk_safetensors_writer *writer, const void *bytes, size_t length)
{
    const int error = yk_file_write_to_descriptor(writer->descriptor, bytes, length);
    return error == 0 ? YK_OK : fail_to_write(writer, error);
}

static yk_status flush(struct yk_safetensors_writer *writer)
{
    const size_t length = writer->buffered;
    writer->buffered = 0;
    return write_out(writer, writer->buffer, length);
}

static yk_status write_bytes(struct yk_safetensors_writer *writer, const void *bytes, size_t length)
{
    yk_hash_update(writer->hash, bytes, length);
    if (length > BUFFER_BYTES - writer->buffered) {
        YK_TRY(flush(writer));
    }
    if (length > BUFFER_BYTES) {
        return write_out(writer, bytes, length);
    }
    if (length > 0) {
        memcpy(writer->buffer + writer->buffered, bytes, length);
        writer->buffered += length;
    }
    return YK_OK;
}

static void add_header(const struct yk_safetensors_writer *writer, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    if (writer->metadata.length > 0) {
        yk_json_write_begin_object(&json, "__metadata__");
        yk_text_add(out, yk_text_chars(&writer->metadata));
        yk_json_write_end_object(&json);
    }
    if (writer->entries.length > 0) {
        yk_json_write_raw(&json, NULL, yk_text_chars(&writer->entries));
    }
    yk_json_write_end_object(&json);
    while (out->length % HEADER_ALIGNMENT != 0 && !out->failed) {
        yk_text_add(out, " ");
    }
}

static yk_status begin(struct yk_safetensors_writer *writer, const struct yk_text *header)
{
    unsigned char prefix[YK_SAFETENSORS_PREFIX_BYTES];
    YK_TRY(yk_text_status(header));
    if (header->length > YK_SAFETENSORS_MAX_HEADER_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "%s: too many tensors for one safetensors file",
                       yk_text_chars(&writer->path));
    }
    for (int i = 0; i < YK_SAFETENSORS_PREFIX_BYTES; i++) {
        prefix[i] = (unsigned char)(header->length >> (8 * i));
    }
    writer->header_bytes = header->length;
    YK_TRY(yk_file_check_not_symlink(yk_text_chars(&writer->partial)));
    writer->descriptor = open(yk_text_chars(&writer->partial),
                              O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (writer->descriptor < 0) {
        return fail_to_write(writer, errno);
    }
    YK_TRY(write_bytes(writer, prefix, sizeof prefix));
    return write_bytes(writer, header->bytes, header->length);
}

yk_status yk_safetensors_writer_write_header(struct yk_safetensors_writer *writer)
{
    struct yk_text header = {0};
    if (writer->header_bytes > 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: the header is written already",
                       yk_text_chars(&writer->path));
    }
    add_header(writer, &header);
    const yk_status status = begin(writer, &header);
    yk_text_free(&header);
    return status;
}

static yk_status check_begun(const struct yk_safetensors_writer *writer)
{
    if (writer->descriptor < 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: the file is not open for writing",
                       yk_text_chars(&writer->path));
    }
    return YK_OK;
}

yk_status yk_safetensors_writer_append_bytes(struct yk_safetensors_writer *writer,
                                             const void *bytes, size_t length)
{
    YK_TRY(check_begun(writer));
    if (length > writer->declared - writer->added) {
        return yk_fail(YK_ERROR_INPUT, "%s: %" PRIu64 " bytes more than the tensors declared have",
                       yk_text_chars(&writer->path),
                       (uint64_t)length - (writer->declared - writer->added));
    }
    writer->added += length;
    return write_bytes(writer, bytes, length);
}

/* Makes the rename durable. Some file systems do not support fsync() on a folder. */
static yk_status sync_folder(struct yk_safetensors_writer *writer)
{
    struct yk_text path = {0};
    yk_text_add(&path, yk_text_chars(&writer->path));
    YK_TRY(yk_text_status(&path));
    yk_status status = YK_OK;
    const int folder = open(dirname(path.bytes), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        if (fsync(folder) != 0 && errno != EINVAL && errno != ENOTSUP) {
            status = fail_to_write(writer, errno);
        }
        close(folder);
    }
    yk_text_free(&path);
    return status;
}

yk_status yk_safetensors_writer_finish(struct yk_safetensors_writer *writer,
                                       struct yk_safetensors_size_and_hash *out)
{
    YK_TRY(check_begun(writer));
    if (writer->added < writer->declared) {
        return yk_fail(
            YK_ERROR_INPUT,
            "%s: %" PRIu64 " of %" PRIu64 " bytes of the tensors declared were not written",
            yk_text_chars(&writer->path), writer->declared - writer->added, writer->declared);
    }
    YK_TRY(flush(writer));
    if (fsync(writer->descriptor) != 0 ||
        rename(yk_text_chars(&writer->partial), yk_text_chars(&writer->path)) != 0) {
        return fail_to_write(writer, errno);
    }
    const int descriptor = writer->descriptor;
    writer->descriptor = -1;
    if (close(descriptor) != 0) {
        return fail_to_write(writer, errno);
    }
    if (out) {
        out->bytes = YK_SAFETENSORS_PREFIX_BYTES + writer->header_bytes + writer->declared;
        out->hash = yk_hash_digest(writer->hash);
    }
    return sync_folder(writer);
}
