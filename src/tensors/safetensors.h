/*
 * Safetensors: reading files of named tensors in the form Hugging Face keeps weights in.
 *
 * A file is eight bytes with the length of a JSON header (little-endian), the header, and the bytes
 * of the tensors one after the other. Everything the header says is checked when the file is
 * opened; bytes of tensors are read afterwards, on demand, with pread: a file that is cut off while
 * it is used gives an error, where one that is mapped into memory would kill the process.
 *
 * A file owns its entries and their names. Any number of threads may look at and read from one
 * file.
 */
#ifndef YK_TENSORS_SAFETENSORS_H
#define YK_TENSORS_SAFETENSORS_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_TENSOR_MAX_RANK = 8,
    YK_SAFETENSORS_PREFIX_BYTES = 8,            /* before the header: its length */
    YK_SAFETENSORS_MAX_HEADER_BYTES = 100000000 /* of the form itself */
};

/* Names in files are those behind YK_TENSOR_: "F32", "BF16". */
enum yk_tensor_dtype {
    YK_TENSOR_F64,
    YK_TENSOR_F32,
    YK_TENSOR_F16,
    YK_TENSOR_BF16,
    YK_TENSOR_I64,
    YK_TENSOR_I32,
    YK_TENSOR_I16,
    YK_TENSOR_I8,
    YK_TENSOR_U8,
    YK_TENSOR_BOOL,
    YK_TENSOR_U16,
    YK_TENSOR_U32,
    YK_TENSOR_U64,
    YK_TENSOR_F8_E4M3,
    YK_TENSOR_F8_E5M2,
    YK_TENSOR_F8_E8M0,
    YK_TENSOR_C64, /* two F32: real and imaginary part */
    YK_TENSOR_DTYPES,
};

const char *yk_tensor_dtype_name(enum yk_tensor_dtype type);
uint64_t yk_tensor_dtype_bytes(enum yk_tensor_dtype type);
/* False when no type has that name. */
bool yk_tensor_dtype_find(const char *name, enum yk_tensor_dtype *out);

/* The bytes of a tensor of this type and shape; false when dimensions are negative or the product
 * is more than 64 bits hold. Rank 0 is one number. */
bool yk_tensor_bytes(enum yk_tensor_dtype type, int32_t rank, const int64_t *shape, uint64_t *out);

struct yk_tensor_entry {
    const char *name;
    enum yk_tensor_dtype type;
    int32_t rank; /* 0: one number */
    int64_t shape[YK_TENSOR_MAX_RANK];
    uint64_t offset; /* in the file */
    uint64_t bytes;
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

/* The value of a key of `__metadata__`, or NULL. */
const char *yk_safetensors_metadata(const struct yk_safetensors *file, const char *key);
int32_t yk_safetensors_metadata_count(const struct yk_safetensors *file);
const struct yk_safetensors_metadata_entry *
yk_safetensors_metadata_at(const struct yk_safetensors *file, int32_t number);

/* `bytes` bytes of the tensor, from its byte `first_byte` on. */
yk_status yk_safetensors_read(const struct yk_safetensors *file,
                              const struct yk_tensor_entry *entry, uint64_t first_byte,
                              uint64_t bytes, void *to) YK_MUST_USE;

#endif
