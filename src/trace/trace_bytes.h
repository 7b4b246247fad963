/*
 * Trace bytes: a trace as bytes, for one rank to send to another, and back.
 *
 *   "yktrace1"  8 bytes
 *   hash        8 bytes, XXH3 of all that follows
 *   counts      of ranks, events and flows, 4 bytes each
 *   ranks       a name each
 *   events      rank 4 bytes, lane 4, start, end and bytes moved 8 each, a name
 *   flows       4 bytes for each of their two events
 *
 * Numbers are little-endian, times and bytes moved are IEEE doubles; a name is its length in 4
 * bytes and its characters. Nothing is lost: times come back to the last bit.
 */
#ifndef YK_TRACE_TRACE_BYTES_H
#define YK_TRACE_TRACE_BYTES_H

#include "base/status.h"
#include "base/text.h"
#include "trace/trace.h"

#include <stddef.h>

/* Adds to `out`. */
yk_status yk_trace_bytes_pack(const struct yk_trace *trace, struct yk_text *out) YK_MUST_USE;

/* Bytes that were cut or changed on the way are refused; `source`, whose they are, begins the
 * message. The caller destroys the trace. */
yk_status yk_trace_bytes_unpack(const void *bytes, size_t length, const char *source,
                                struct yk_trace **out) YK_MUST_USE;

#endif
