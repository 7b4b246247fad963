/*
 * Input stream: the bytes of an open file, decompressed if they are gzip data (RFC 1952). Gzip data
 * is recognized by its first bytes, not by the name of the file, and may have several members. At
 * most a few hundred kilobytes are in memory at a time; how much is read in all is the caller's
 * decision, as little gzip data can become much text. Only one thread at a time may use a stream.
 */
#ifndef YK_BASE_INPUT_STREAM_H
#define YK_BASE_INPUT_STREAM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_input_stream;

/* Reads from `descriptor`, which the caller closes after it has closed the stream. `source` is the
 * name of the input in error messages. It must outlive the stream. */
yk_status yk_input_stream_open(int descriptor, const char *source,
                               struct yk_input_stream **out) YK_MUST_USE;
void yk_input_stream_close(struct yk_input_stream *stream);

/* Reads up to `capacity` bytes, which is greater than 0. Sets `*length` to the number of bytes; 0
 * means: the input has ended. Fails if gzip data is broken or incomplete. */
yk_status yk_input_stream_read(struct yk_input_stream *stream, char *to, size_t capacity,
                               size_t *length) YK_MUST_USE;

/* Returns whether the next read may return bytes without reading from the descriptor. */
bool yk_input_stream_has_buffered_bytes(const struct yk_input_stream *stream);

#endif
