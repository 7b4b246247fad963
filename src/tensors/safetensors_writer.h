/*
 * Safetensors writer: a file of named tensors, written from front to back. First all tensors are
 * declared, then yk_safetensors_writer_begin() writes the header, then come their bytes in the
 * order of declaration, in chunks of any size. The file grows as PATH.partial and is renamed by
 * yk_safetensors_writer_finish() once all of it is on the disk: a failure, or destroying an
 * unfinished writer, leaves what was at the path before. One thread at a time. After a failure a
 * writer can only be destroyed.
 */
#ifndef YK_TENSORS_SAFETENSORS_WRITER_H
#define YK_TENSORS_SAFETENSORS_WRITER_H

#include "base/status.h"
#include "tensors/safetensors.h"

#include <stddef.h>
#include <stdint.h>

struct yk_safetensors_writer;

/* What was written, to be noted elsewhere and compared before the file is trusted. */
struct yk_safetensors_written {
    uint64_t bytes; /* of the file */
    uint64_t hash;  /* base/hash.h, of the whole file */
};

yk_status yk_safetensors_writer_create(const char *path,
                                       struct yk_safetensors_writer **out) YK_MUST_USE;
void yk_safetensors_writer_destroy(struct yk_safetensors_writer *writer);

/* `shape` has `rank` dimensions; it is copied, as is the name. */
yk_status yk_safetensors_writer_declare(struct yk_safetensors_writer *writer, const char *name,
                                        enum yk_tensor_dtype type, int32_t rank,
                                        const int64_t *shape) YK_MUST_USE;
yk_status yk_safetensors_writer_metadata(struct yk_safetensors_writer *writer, const char *key,
                                         const char *value) YK_MUST_USE;

/* Opens the file and writes the header; nothing can be declared afterwards. */
yk_status yk_safetensors_writer_begin(struct yk_safetensors_writer *writer) YK_MUST_USE;

/* The next bytes; a chunk may end in the middle of a tensor or reach into the next. */
yk_status yk_safetensors_writer_add(struct yk_safetensors_writer *writer, const void *bytes,
                                    size_t length) YK_MUST_USE;

/* Fails when bytes of declared tensors are missing. `out` may be NULL. */
yk_status yk_safetensors_writer_finish(struct yk_safetensors_writer *writer,
                                       struct yk_safetensors_written *out) YK_MUST_USE;

#endif
