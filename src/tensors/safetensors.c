#include "tensors/safetensors.h"

#include "base/file.h"
#include "base/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct yk_safetensors {
    struct yk_arena *arena;
    struct yk_names *names; /* numbered as the header's entries are */
    const struct yk_safetensors_header *header;
    const char *path;
    uint64_t size;
    int descriptor;
};

static yk_status read_bytes(const struct yk_safetensors *file, uint64_t offset, uint64_t bytes,
                            void *to)
{
    unsigned char *at = to;
    while (bytes > 0) {
        const size_t piece = bytes < (1u << 30) ? (size_t)bytes : 1u << 30;
        const ssize_t taken = pread(file->descriptor, at, piece, (off_t)offset);
        if (taken < 0 && errno == EINTR) {
            continue;
        }
        if (taken < 0) {
            return yk_fail(YK_ERROR_SYSTEM, "cannot read %s: %s", file->path, strerror(errno));
        }
        if (taken == 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: the file ends %" PRIu64 " bytes too early; it was cut off while "
                           "it was read",
                           file->path, bytes);
        }
        at += taken;
        offset += (uint64_t)taken;
        bytes -= (uint64_t)taken;
    }
    return YK_OK;
}

static yk_status open_descriptor(struct yk_safetensors *file)
{
    struct stat info;
    YK_TRY(yk_file_open(file->path, false, &file->descriptor));
    if (fstat(file->descriptor, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", file->path, strerror(errno));
    }
    file->size = (uint64_t)info.st_size;
    return YK_OK;
}

static yk_status read_header(struct yk_safetensors *file)
{
    unsigned char prefix[YK_SAFETENSORS_PREFIX_BYTES] = {0};
    const size_t there = file->size < sizeof prefix ? (size_t)file->size : sizeof prefix;
    uint64_t length = 0;
    YK_TRY(read_bytes(file, 0, there, prefix));
    YK_TRY(yk_safetensors_header_length(prefix, there, file->size, file->path, &length));
    char *bytes = malloc((size_t)length + 1);
    if (!bytes) {
        return yk_fail_out_of_memory();
    }
    yk_status status = read_bytes(file, YK_SAFETENSORS_PREFIX_BYTES, length, bytes);
    if (status == YK_OK) {
        status = yk_safetensors_header_parse(bytes, (size_t)length, file->size, file->path,
                                             file->arena, &file->header);
    }
    free(bytes);
    return status;
}

static yk_status index_names(struct yk_safetensors *file)
{
    YK_TRY(yk_names_create(&file->names));
    for (int32_t i = 0; i < file->header->count; i++) {
        bool added = false;
        int32_t number = 0;
        YK_TRY(yk_names_add(file->names, file->header->entries[i].name, &added, &number));
    }
    return YK_OK;
}

yk_status yk_safetensors_open(const char *path, struct yk_safetensors **out)
{
    struct yk_safetensors *file = calloc(1, sizeof *file);
    yk_status status = YK_OK;
    if (!file) {
        return yk_fail_out_of_memory();
    }
    file->descriptor = -1;
    YK_TRY_GOTO(yk_arena_create(&file->arena), fail);
    file->path = yk_arena_copy_text(file->arena, path, strlen(path));
    if (!file->path) {
        status = yk_fail_out_of_memory();
        goto fail;
    }
    YK_TRY_GOTO(open_descriptor(file), fail);
    YK_TRY_GOTO(read_header(file), fail);
    YK_TRY_GOTO(index_names(file), fail);
    *out = file;
    return YK_OK;
fail:
    yk_safetensors_close(file);
    return status;
}

void yk_safetensors_close(struct yk_safetensors *file)
{
    if (!file) {
        return;
    }
    if (file->descriptor >= 0) {
        close(file->descriptor);
    }
    yk_names_destroy(file->names);
    yk_arena_destroy(file->arena);
    free(file);
}

const char *yk_safetensors_path(const struct yk_safetensors *file)
{
    return file->path;
}

uint64_t yk_safetensors_size(const struct yk_safetensors *file)
{
    return file->size;
}

int32_t yk_safetensors_count(const struct yk_safetensors *file)
{
    return file->header->count;
}

const struct yk_tensor_entry *yk_safetensors_at(const struct yk_safetensors *file, int32_t number)
{
    return &file->header->entries[number];
}

const struct yk_tensor_entry *yk_safetensors_find(const struct yk_safetensors *file,
                                                  const char *name)
{
    const int32_t number = yk_names_find(file->names, name);
    return number < 0 ? NULL : &file->header->entries[number];
}

const char *yk_safetensors_metadata(const struct yk_safetensors *file, const char *key)
{
    for (int32_t i = 0; i < file->header->note_count; i++) {
        if (strcmp(file->header->notes[i].key, key) == 0) {
            return file->header->notes[i].value;
        }
    }
    return NULL;
}

int32_t yk_safetensors_metadata_count(const struct yk_safetensors *file)
{
    return file->header->note_count;
}

const struct yk_safetensors_metadata_entry *
yk_safetensors_metadata_at(const struct yk_safetensors *file, int32_t number)
{
    return &file->header->notes[number];
}

yk_status yk_safetensors_read(const struct yk_safetensors *file,
                              const struct yk_tensor_entry *entry, uint64_t first_byte,
                              uint64_t bytes, void *to)
{
    if (first_byte > entry->bytes || bytes > entry->bytes - first_byte) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: tensor \"%s\" has %" PRIu64 " bytes, but %" PRIu64 " from byte %" PRIu64
                       " on are asked for",
                       file->path, entry->name, entry->bytes, bytes, first_byte);
    }
    return read_bytes(file, entry->offset + first_byte, bytes, to);
}
