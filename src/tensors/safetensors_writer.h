/*
 * Safetensors writer: writes a file of named tensors sequentially. Call these functions in order:
 *   1. yk_safetensors_writer_declare_tensor() for every tensor,
 *      and yk_safetensors_writer_add_metadata() for every entry of the metadata
 *   2. yk_safetensors_writer_write_header(), which opens the file and writes the header
 *   3. yk_safetensors_writer_append_bytes() with the bytes of all tensors,
 *      in the order in which the tensors were declared
 *   4. yk_safetensors_writer_finish()
 *
 * The data is written to PATH.partial. yk_safetensors_writer_finish() renames this file to PATH
 * after all data is on the disk. If a function fails before the rename, or if an unfinished
 * writer is destroyed, an old file at PATH stays unchanged. After a failure, a writer can only be
 * destroyed. Only one thread at a time may use a writer.
 */
#ifndef YK_TENSORS_SAFETENSORS_WRITER_H
#define YK_TENSORS_SAFETENSORS_WRITER_H

#include "base/status.h"
#include "tensors/safetensors.h"

#include <stddef.h>
#include <stdint.h>

struct yk_safetensors_writer;

/* The size and the hash of a finished file, to verify it later. */
struct yk_safetensors_size_and_hash {
    uint64_t bytes; /* size of the whole file */
    uint64_t hash;  /* result of yk_hash_digest() for the whole file */
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

/* Opens the file and writes the header. Afterwards, no tensor can be declared and no metadata can
 * be added. */
yk_status yk_safetensors_writer_write_header(struct yk_safetensors_writer *writer) YK_MUST_USE;

/* Appends bytes of the tensors. One call may end inside a tensor or contain several tensors. */
yk_status yk_safetensors_writer_append_bytes(struct yk_safetensors_writer *writer,
                                             const void *bytes, size_t length) YK_MUST_USE;

/* Completes the file and renames it to its final path. Fails if bytes of declared tensors are
 * missing. `out` may be NULL. */
yk_status yk_safetensors_writer_finish(struct yk_safetensors_writer *writer,
                                       struct yk_safetensors_size_and_hash *out) YK_MUST_USE;

#endif
