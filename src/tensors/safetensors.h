/*
 * Safetensors: reads files of named tensors in Hugging Face's form: eight bytes with the length of
 * a JSON header (little-endian), the header, and the bytes of the tensors one after the other. The
 * header is checked when the file is opened; tensors are read on demand with pread: a file that is
 * truncated while it is used gives an error, where a mapped one would kill the process. A file owns
 * its entries and their names. Any number of threads may read from one.
 */
#ifndef YK_TENSORS_SAFETENSORS_H
#define YK_TENSORS_SAFETENSORS_H

#include "base/arena.h"
#include "base/status.h"
#include "tensors/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_SAFETENSORS_PREFIX_BYTES = 8,            /* before the header: its length */
    YK_SAFETENSORS_MAX_HEADER_BYTES = 100000000 /* of the form itself */
};

/* What a file says about itself: `__metadata__`. */
struct yk_safetensors_metadata_entry {
    const char *key;
    const char *value;
};

struct yk_safetensors_header {
    const struct yk_tensor_entry *entries; /* by where their bytes begin */
    int32_t count;
    const struct yk_safetensors_metadata_entry *notes; /* as in the file */
    int32_t note_count;
};

/* The length of the header, from the first bytes of a file: fewer than 8 are refused. */
yk_status yk_safetensors_header_length(const unsigned char *bytes, size_t length,
                                       uint64_t file_size, const char *source,
                                       uint64_t *out) YK_MUST_USE;

/*
 * The header, `length` bytes of JSON, of a file of `file_size` bytes in all. `source` is what
 * messages call the file. What is returned lives in the arena.
 */
yk_status yk_safetensors_header_parse(const char *bytes, size_t length, uint64_t file_size,
                                      const char *source, struct yk_arena *arena,
                                      const struct yk_safetensors_header **out) YK_MUST_USE;

struct yk_safetensors;

yk_status yk_safetensors_open(const char *path, struct yk_safetensors **out) YK_MUST_USE;
void yk_safetensors_close(struct yk_safetensors *file);

const char *yk_safetensors_path(const struct yk_safetensors *file);
uint64_t yk_safetensors_size(const struct yk_safetensors *file);

/* Tensors by where their bytes begin. */
int32_t yk_safetensors_count(const struct yk_safetensors *file);
const struct yk_tensor_entry *yk_safetensors_at(const struct yk_safetensors *file, int32_t number);
/* NULL when the file has no such tensor. */
const struct yk_tensor_entry *yk_safetensors_find(const struct yk_safetensors *file,
                                                  const char *name);

int32_t yk_safetensors_metadata_count(const struct yk_safetensors *file);
const struct yk_safetensors_metadata_entry *
yk_safetensors_metadata_at(const struct yk_safetensors *file, int32_t number);

/* `bytes` bytes of the tensor, from its byte `first_byte` on. */
yk_status yk_safetensors_read(const struct yk_safetensors *file,
                              const struct yk_tensor_entry *entry, uint64_t first_byte,
                              uint64_t bytes, void *to) YK_MUST_USE;

#endif
