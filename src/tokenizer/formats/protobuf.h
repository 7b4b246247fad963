/*
 * Protocol buffers: reads the fields of a message, without a description of the message. The reader
 * does not copy: the bytes of a field point into the message. A reader is a plain struct that one
 * thread at a time may use.
 */
#ifndef YK_TOKENIZER_FORMATS_PROTOBUF_H
#define YK_TOKENIZER_FORMATS_PROTOBUF_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_protobuf_type {
    YK_PROTOBUF_VARINT = 0, /* integers, enumerations, booleans */
    YK_PROTOBUF_FIXED64 = 1,
    YK_PROTOBUF_BYTES = 2, /* strings, bytes, messages */
    YK_PROTOBUF_FIXED32 = 5,
};

struct yk_protobuf_field {
    uint32_t number;
    enum yk_protobuf_type type;
    uint64_t value;    /* of a number: its bits */
    const char *bytes; /* of YK_PROTOBUF_BYTES */
    size_t length;
};

/* A message, initialized with its bytes and its length. */
struct yk_protobuf_reader {
    const char *bytes;
    size_t length;
    size_t at;        /* the byte that is read next */
    yk_status status; /* a failure if the message is truncated or is no protocol buffer */
};

/* Reads the next field. Returns false at the end of the message and after a failure, which is in
 * `reader->status`. */
bool yk_protobuf_next_field(struct yk_protobuf_reader *reader, struct yk_protobuf_field *field);

/* Fails unless the field has this type. `name` is the name of the field, for the message. */
yk_status yk_protobuf_check_type(const struct yk_protobuf_field *field, enum yk_protobuf_type type,
                                 const char *name) YK_MUST_USE;

/* Returns the value of a YK_PROTOBUF_FIXED32 as a float. */
float yk_protobuf_float_value(const struct yk_protobuf_field *field);

#endif
