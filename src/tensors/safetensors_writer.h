/*
 * Safetensors writer: writes a file of named tensors sequentially.
 *   1. yk_safetensors_writer_declare_tensor() for every tensor, and
 * yk_safetensors_writer_add_metadata()
 *   2. yk_safetensors_writer_begin() opens the file and writes the header
 *   3. yk_safetensors_writer_add_bytes() with the bytes of the tensors, in the order of declaration
 *   4. yk_safetensors_writer_finish()
 * The data goes to PATH.partial. finish() renames that file once all of it is on the disk. A
 * failure, or destroying an unfinished writer, leaves the old file at PATH unchanged. After a
 * failure, a writer can only be destroyed. One thread at a time may use a writer.
 */
#ifndef YK_TENSORS_SAFETENSORS_WRITER_H
#define YK_TENSORS_SAFETENSORS_WRITER_H

#include "base/status.h"
#include "tensors/safetensors.h"

#include <stddef.h>
#include <stdint.h>

struct yk_safetensors_writer;

/* The size and the hash of a finished file, with which a reader can verify it. */
struct yk_safetensors_file_checksum {
    uint64_t bytes; /* of the whole file */
    uint64_t hash;  /* of the whole file, as yk_hash_digest() returns it */
};

yk_status yk_safetensors_writer_create(const char *path,
                                       struct yk_safetensors_writer **out) YK_MUST_USE;
void yk_safetensors_writer_destroy(struct yk_safetensors_writer *writer);

/* Declares a tensor. `shape` has `rank` dimensions. Copies the name and the shape. */
yk_status yk_safetensors_writer_declare_tensor(struct yk_safetensors_writer *writer,
                                               const char *name, enum yk_tensor_dtype type,
                                               int32_t rank, const int64_t *shape) YK_MUST_USE;
/* Adds an entry to the `__metadata__` of the header. Copies both strings. */
yk_status yk_safetensors_writer_add_metadata(struct yk_safetensors_writer *writer, const char *key,
                                             const char *value) YK_MUST_USE;

/* Opens the file and writes the header. No tensor or metadata can be declared afterwards. */
yk_status yk_safetensors_writer_begin(struct yk_safetensors_writer *writer) YK_MUST_USE;

/* Appends bytes of the tensors. A chunk may end inside a tensor, or span several tensors. */
yk_status yk_safetensors_writer_add_bytes(struct yk_safetensors_writer *writer, const void *bytes,
                                          size_t length) YK_MUST_USE;

/* Fails if bytes of declared tensors are missing. `out` may be NULL. */
yk_status yk_safetensors_writer_finish(struct yk_safetensors_writer *writer,
                                       struct yk_safetensors_file_checksum *out) YK_MUST_USE;

#endif
