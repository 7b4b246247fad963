#include "tokenizer/formats/protobuf.h"

#include <inttypes.h>
#include <string.h>

enum {
    VARINT_BITS = 7, /* of each byte; the eighth says that another byte follows */
    MAX_VARINT_BYTES = 10,
    TYPE_BITS = 3,
    MAX_FIELD_NUMBER = (1 << 29) - 1
};

static yk_status fail_truncated(const struct yk_protobuf_reader *reader)
{
    return yk_fail(YK_ERROR_INPUT, "the file is truncated: a field at byte %zu is not complete",
                   reader->at);
}

static yk_status read_varint(struct yk_protobuf_reader *reader, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < MAX_VARINT_BYTES; i++) {
        if (reader->at + i >= reader->length) {
            return fail_truncated(reader);
        }
        const uint64_t byte = (unsigned char)reader->bytes[reader->at + i];
        value |= (byte & 0x7f) << (i * VARINT_BITS);
        if (byte < 0x80) {
            /* The tenth byte holds the last of 64 bits. */
            if (i == MAX_VARINT_BYTES - 1 && byte > 1) {
                break;
            }
            reader->at += i + 1;
            *out = value;
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT, "the number at byte %zu has more than 64 bits", reader->at);
}

/* A number of `count` bytes, the lowest first. */
static yk_status read_fixed(struct yk_protobuf_reader *reader, size_t count, uint64_t *out)
{
    if (reader->length - reader->at < count) {
        return fail_truncated(reader);
    }
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        *out |= (uint64_t)(unsigned char)reader->bytes[reader->at + i] << (8 * i);
    }
    reader->at += count;
    return YK_OK;
}

static yk_status read_bytes(struct yk_protobuf_reader *reader, struct yk_protobuf_field *field)
{
    uint64_t length = 0;
    YK_TRY(read_varint(reader, &length));
    if (length > reader->length - reader->at) {
        return yk_fail(YK_ERROR_INPUT,
                       "a field at byte %zu is %" PRIu64
                       " bytes long, more than what follows (%zu)",
                       reader->at, length, reader->length - reader->at);
    }
    field->bytes = reader->bytes + reader->at;
    field->length = (size_t)length;
    reader->at += (size_t)length;
    return YK_OK;
}

static yk_status read_field(struct yk_protobuf_reader *reader, struct yk_protobuf_field *field)
{
    uint64_t key = 0;
    const size_t begin = reader->at;
    YK_TRY(read_varint(reader, &key));
    const uint64_t number = key >> TYPE_BITS;
    const uint64_t type = key & ((1U << TYPE_BITS) - 1);
    if (number == 0 || number > MAX_FIELD_NUMBER) {
        return yk_fail(YK_ERROR_INPUT, "the field at byte %zu has the number %" PRIu64, begin,
                       number);
    }
    *field =
        (struct yk_protobuf_field){.number = (uint32_t)number, .type = (enum yk_protobuf_type)type};
    switch (type) {
    case YK_PROTOBUF_VARINT:
        return read_varint(reader, &field->value);
    case YK_PROTOBUF_FIXED64:
        return read_fixed(reader, sizeof(uint64_t), &field->value);
    case YK_PROTOBUF_FIXED32:
        return read_fixed(reader, sizeof(uint32_t), &field->value);
    case YK_PROTOBUF_BYTES:
        return read_bytes(reader, field);
    default:
        return yk_fail(YK_ERROR_INPUT, "the field at byte %zu has the unknown type %" PRIu64, begin,
                       type);
    }
}

bool yk_protobuf_next_field(struct yk_protobuf_reader *reader, struct yk_protobuf_field *field)
{
    if (reader->status != YK_OK || reader->at >= reader->length) {
        return false;
    }
    reader->status = read_field(reader, field);
    return reader->status == YK_OK;
}

yk_status yk_protobuf_check_type(const struct yk_protobuf_field *field, enum yk_protobuf_type type,
                                 const char *name)
{
    if (field->type != type) {
        return yk_fail(YK_ERROR_INPUT, "%s has the type %d, where %d is expected", name,
                       (int)field->type, (int)type);
    }
    return YK_OK;
}

float yk_protobuf_float_value(const struct yk_protobuf_field *field)
{
    const uint32_t bits = (uint32_t)field->value;
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}
