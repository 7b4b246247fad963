/*
 * Safetensors: a reader for files of named tensors in Hugging Face's format. A file consists of
 * eight bytes with the length of a JSON header (little-endian), the header, and the bytes of all
 * tensors.
 *
 * Opening a file reads and validates the header. Tensor bytes are read on demand with pread() and
 * are not mapped, so that a read returns an error if the file was truncated after it was opened. An
 * open file owns its entries and their names. Any number of threads may read from one file.
 *
 * Files of this folder:
 *   tensor              data types, and the entry that describes one tensor
 *   safetensors         the reader
 *   safetensors_writer  the writer
 *   tensor_set          the weights of a model, in one file or several
 */
#ifndef YK_TENSORS_SAFETENSORS_H
#define YK_TENSORS_SAFETENSORS_H

#include "base/arena.h"
#include "base/name_index.h"
#include "base/status.h"
#include "tensors/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_SAFETENSORS_PREFIX_BYTES = 8,            /* bytes that hold the length of the header */
    YK_SAFETENSORS_MAX_HEADER_BYTES = 100000000 /* limit that the format sets */
};

/* A key and its value in the `__metadata__` object of a header. */
struct yk_safetensors_metadata_entry {
    const char *key;
    const char *value;
};

struct yk_safetensors_header {
    const struct yk_tensor_file_entry *entries; /* (count), sorted by offset */
    int32_t count;
    const struct yk_safetensors_metadata_entry *metadata; /* (metadata_count), in file order */
    int32_t metadata_count;
};

/* Reads the length of the header. `bytes` are the first `length` bytes of the file. Fails if
 * `length` is less than YK_SAFETENSORS_PREFIX_BYTES. The whole file has `file_size` bytes. `source`
 * is the name of the file in error messages. */
yk_status yk_safetensors_header_parse_length(const unsigned char *bytes, size_t length,
                                             uint64_t file_size, const char *source,
                                             uint64_t *out) YK_MUST_USE;

/*
 * Parses a header, which is `length` bytes of JSON. The whole file has `file_size` bytes. Allocates
 * the result in the arena. `source` is the name of the file in error messages.
 */
yk_status yk_safetensors_header_parse(const char *bytes, size_t length, uint64_t file_size,
                                      const char *source, struct yk_arena *arena,
                                      const struct yk_safetensors_header **out) YK_MUST_USE;

/* An open file. Callers must not change the members. */
struct yk_safetensors_file {
    const char *path;
    uint64_t size; /* size of the file in bytes */
    const struct yk_safetensors_header *header;

    struct yk_arena *arena;      /* owns this struct, the path and the header */
    struct yk_name_index *names; /* finds the index in header->entries by the name of the tensor */
    int descriptor;
};

yk_status yk_safetensors_open(const char *path, struct yk_safetensors_file **out) YK_MUST_USE;
void yk_safetensors_close(struct yk_safetensors_file *file);

/* Returns the entry of the tensor called `name`, or NULL if the file does not have this tensor. */
const struct yk_tensor_file_entry *
yk_safetensors_find_tensor(const struct yk_safetensors_file *file, const char *name);

/* Reads `bytes` bytes of a tensor, beginning at byte `first_byte` of the tensor. Fails if the
 * tensor has fewer bytes. */
yk_status yk_safetensors_read_tensor_range(const struct yk_safetensors_file *file,
                                           const struct yk_tensor_file_entry *entry,
                                           uint64_t first_byte, uint64_t bytes,
                                           void *to) YK_MUST_USE;

#endif
