/*
 * The bytes of a trace:
 *
 *   "yktrace1"  8 bytes
 *   hash        8 bytes, XXH3 of all that follows
 *   counts      of ranks, events and flows, 4 bytes each
 *   ranks       a name each
 *   events      rank 4 bytes, lane 4, start, end and bytes moved 8 each, a name
 *   flows       4 bytes for each of their two events
 *
 * Numbers are little-endian, times and bytes moved are IEEE doubles; a name is its length in 4
 * bytes and its characters.
 */
#include "trace/trace.h"

#include "base/arena.h"
#include "base/hash.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    SIGN_SIZE = 8,
    HEAD_SIZE = SIGN_SIZE + 8,
};

static const char SIGN[] = "yktrace1";

/* ---- there ---- */

static void add_whole(struct yk_text *out, uint64_t number, int size)
{
    char bytes[8];
    for (int i = 0; i < size; i++) {
        bytes[i] = (char)(unsigned char)(number >> (8 * i) & 0xff);
    }
    yk_text_add_bytes(out, bytes, (size_t)size);
}

static void add_real(struct yk_text *out, double number)
{
    uint64_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    add_whole(out, bits, 8);
}

static void add_name(struct yk_text *out, const char *name)
{
    const size_t length = strlen(name);
    add_whole(out, length, 4);
    yk_text_add_bytes(out, name, length);
}

static void add_body(const struct yk_trace *trace, struct yk_text *out)
{
    add_whole(out, (uint32_t)yk_trace_rank_count(trace), 4);
    add_whole(out, (uint32_t)yk_trace_event_count(trace), 4);
    add_whole(out, (uint32_t)yk_trace_flow_count(trace), 4);
    for (int32_t rank = 0; rank < yk_trace_rank_count(trace); rank++) {
        add_name(out, yk_trace_rank_device_name(trace, rank));
    }
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        add_whole(out, (uint32_t)event->rank, 4);
        add_whole(out, (uint32_t)event->lane, 4);
        add_real(out, event->start_s);
        add_real(out, event->end_s);
        add_real(out, event->bytes);
        add_name(out, event->op);
    }
    for (int32_t i = 0; i < yk_trace_flow_count(trace); i++) {
        const struct yk_trace_flow flow = yk_trace_flow_at(trace, i);
        add_whole(out, (uint32_t)flow.from_event, 4);
        add_whole(out, (uint32_t)flow.to_event, 4);
    }
}

yk_status yk_trace_bytes_pack(const struct yk_trace *trace, struct yk_text *out)
{
    struct yk_text body = {0};
    add_body(trace, &body);
    yk_status status = yk_text_status(&body);
    if (status == YK_OK) {
        yk_text_add_bytes(out, SIGN, SIGN_SIZE);
        add_whole(out, yk_hash_bytes(body.bytes, body.length), 8);
        yk_text_add_bytes(out, body.bytes, body.length);
        status = yk_text_status(out);
    }
    yk_text_free(&body);
    return status;
}

/* ---- and back ---- */

/* What is left to read. */
struct reader {
    const unsigned char *bytes;
    size_t length;
    struct yk_arena *arena;
};

static yk_status fail_short(void)
{
    return yk_fail(YK_ERROR_INPUT, "the bytes of this trace end too soon; send them again");
}

static yk_status read_bytes(struct reader *reader, size_t size, const unsigned char **out)
{
    if (reader->length < size) {
        return fail_short();
    }
    *out = reader->bytes;
    reader->bytes += size;
    reader->length -= size;
    return YK_OK;
}

static yk_status read_whole(struct reader *reader, int size, uint64_t *out)
{
    const unsigned char *bytes = NULL;
    YK_TRY(read_bytes(reader, (size_t)size, &bytes));
    *out = 0;
    for (int i = 0; i < size; i++) {
        *out |= (uint64_t)bytes[i] << (8 * i);
    }
    return YK_OK;
}

/* A number that a trace counts by. */
static yk_status read_count(struct reader *reader, int32_t *out)
{
    uint64_t number = 0;
    YK_TRY(read_whole(reader, 4, &number));
    if (number > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "this trace counts to %llu, more than there can be",
                       (unsigned long long)number);
    }
    *out = (int32_t)number;
    return YK_OK;
}

static yk_status read_real(struct reader *reader, double *out)
{
    uint64_t bits = 0;
    YK_TRY(read_whole(reader, 8, &bits));
    memcpy(out, &bits, sizeof bits);
    return YK_OK;
}

static yk_status read_name(struct reader *reader, const char **out)
{
    const unsigned char *bytes = NULL;
    int32_t length = 0;
    YK_TRY(read_count(reader, &length));
    YK_TRY(read_bytes(reader, (size_t)length, &bytes));
    *out = yk_arena_copy_text(reader->arena, (const char *)bytes, (size_t)length);
    if (!*out) {
        return yk_fail_out_of_memory();
    }
    return strlen(*out) == (size_t)length
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "a name in this trace has a zero in it");
}

static yk_status read_event(struct reader *reader, struct yk_trace *trace)
{
    struct yk_trace_event event = {0};
    int32_t lane = 0;
    YK_TRY(read_count(reader, &event.rank));
    YK_TRY(read_count(reader, &lane));
    YK_TRY(read_real(reader, &event.start_s));
    YK_TRY(read_real(reader, &event.end_s));
    YK_TRY(read_real(reader, &event.bytes));
    YK_TRY(read_name(reader, &event.op));
    if (lane >= YK_LANE_COUNT) {
        return yk_fail(YK_ERROR_INPUT, "event \"%s\" of this trace is on lane %d of %d", event.op,
                       (int)lane, YK_LANE_COUNT);
    }
    if (!isfinite(event.bytes) || event.bytes < 0) {
        return yk_fail(YK_ERROR_INPUT, "event \"%s\" of this trace moves %g bytes", event.op,
                       event.bytes);
    }
    event.lane = (enum yk_lane)lane;
    return yk_trace_add_event(trace, &event, NULL);
}

static yk_status read_body(struct reader *reader, struct yk_trace *trace)
{
    int32_t rank_count = 0;
    int32_t event_count = 0;
    int32_t flow_count = 0;
    YK_TRY(read_count(reader, &rank_count));
    YK_TRY(read_count(reader, &event_count));
    YK_TRY(read_count(reader, &flow_count));
    for (int32_t i = 0; i < rank_count; i++) {
        const char *name = NULL;
        YK_TRY(read_name(reader, &name));
        YK_TRY(yk_trace_add_rank(trace, name));
    }
    for (int32_t i = 0; i < event_count; i++) {
        YK_TRY(read_event(reader, trace));
    }
    for (int32_t i = 0; i < flow_count; i++) {
        struct yk_trace_flow flow = {0};
        YK_TRY(read_count(reader, &flow.from_event));
        YK_TRY(read_count(reader, &flow.to_event));
        YK_TRY(yk_trace_add_flow(trace, flow));
    }
    return reader->length == 0
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "%zu bytes follow the end of this trace", reader->length);
}

static yk_status check_head(struct reader *reader)
{
    const unsigned char *sign = NULL;
    uint64_t hash = 0;
    if (reader->length < HEAD_SIZE) {
        return fail_short();
    }
    YK_TRY(read_bytes(reader, SIGN_SIZE, &sign));
    YK_TRY(read_whole(reader, 8, &hash));
    if (memcmp(sign, SIGN, SIGN_SIZE) != 0) {
        return yk_fail(YK_ERROR_INPUT, "these bytes are no trace: they do not begin with \"%s\"",
                       SIGN);
    }
    if (yk_hash_bytes(reader->bytes, reader->length) != hash) {
        return yk_fail(YK_ERROR_INPUT, "the bytes of this trace are not what was sent (their hash "
                                       "is another); send them again");
    }
    return YK_OK;
}

yk_status yk_trace_bytes_unpack(const void *bytes, size_t length, const char *source,
                                struct yk_trace **out)
{
    struct reader reader = {.bytes = bytes, .length = length};
    struct yk_trace *trace = NULL;
    yk_status status = check_head(&reader);
    YK_IF_OK(yk_arena_create(&reader.arena));
    YK_IF_OK(yk_trace_create(&trace));
    YK_IF_OK(read_body(&reader, trace));
    yk_arena_destroy(reader.arena);
    if (status != YK_OK) {
        yk_trace_destroy(trace);
        return yk_status_prefix_message(status, source);
    }
    *out = trace;
    return YK_OK;
}
