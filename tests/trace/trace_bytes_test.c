#include "trace/trace.h"

#include "base/hash.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 16, /* sign and hash */
};

static struct yk_trace *make(void)
{
    static const struct yk_trace_event events[] = {
        {0, YK_LANE_COMPUTE, "forward block 0", 0.1, 1.0 / 3, 0},
        {1, YK_LANE_COMM, "gather \"x\" \xc3\xbc", -0.25, 1e-9, 4096},
        {1, YK_LANE_COPY, "", 5, 5, 1e15},
    };
    struct yk_trace *trace = NULL;
    assert_ok(yk_trace_create(&trace));
    assert_ok(yk_trace_add_rank(trace, "GPU 0"));
    assert_ok(yk_trace_add_rank(trace, ""));
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        assert_ok(yk_trace_add_event(trace, &events[i], NULL));
    }
    assert_ok(yk_trace_add_flow(trace, (struct yk_trace_flow){1, 0}));
    return trace;
}

static struct yk_text pack(void)
{
    struct yk_trace *trace = make();
    struct yk_text packed = {0};
    assert_ok(yk_trace_bytes_pack(trace, &packed));
    yk_trace_destroy(trace);
    return packed;
}

/* With the hash that belongs to the body as it is now. */
static void sign_again(struct yk_text *packed)
{
    const uint64_t hash = yk_hash_bytes(packed->bytes + HEAD, packed->length - HEAD);
    for (int i = 0; i < 8; i++) {
        packed->bytes[8 + i] = (char)(unsigned char)(hash >> (8 * i) & 0xff);
    }
}

static void nothing_is_lost_on_the_way(void **state)
{
    (void)state;
    struct yk_trace *trace = make();
    struct yk_text packed = pack();
    struct yk_trace *back = NULL;
    assert_memory_equal(packed.bytes, "yktrace1", 8);
    assert_ok(yk_trace_bytes_unpack(packed.bytes, packed.length, "rank 1", &back));
    assert_int_equal(yk_trace_rank_count(back), 2);
    assert_string_equal(yk_trace_rank_device_name(back, 0), "GPU 0");
    assert_string_equal(yk_trace_rank_device_name(back, 1), "");
    assert_int_equal(yk_trace_event_count(back), 3);
    for (int32_t i = 0; i < 3; i++) {
        const struct yk_trace_event *before = yk_trace_event_at(trace, i);
        const struct yk_trace_event *after = yk_trace_event_at(back, i);
        assert_int_equal(after->rank, before->rank);
        assert_int_equal(after->lane, before->lane);
        assert_string_equal(after->op, before->op);
        assert_true(after->start_s == before->start_s && after->end_s == before->end_s);
        assert_true(after->bytes == before->bytes);
    }
    assert_int_equal(yk_trace_flow_count(back), 1);
    assert_int_equal(yk_trace_flow_at(back, 0).from_event, 1);
    assert_int_equal(yk_trace_flow_at(back, 0).to_event, 0);
    yk_trace_destroy(back);
    yk_trace_destroy(trace);
    yk_text_free(&packed);
}

/* Cut anywhere, with the hash of the whole and with that of the piece. */
static void bytes_that_were_cut_are_refused(void **state)
{
    (void)state;
    struct yk_text packed = pack();
    struct yk_trace *trace = NULL;
    for (size_t length = 0; length < packed.length; length++) {
        struct yk_text chunk = {0};
        yk_text_add_bytes(&chunk, packed.bytes, length);
        assert_int_equal(yk_trace_bytes_unpack(yk_text_chars(&chunk), length, "rank 1", &trace),
                         YK_ERROR_INPUT);
        if (length >= HEAD) {
            sign_again(&chunk);
            assert_fails(yk_trace_bytes_unpack(chunk.bytes, length, "rank 1", &trace),
                         YK_ERROR_INPUT,
                         "rank 1: the bytes of this trace end too soon; send them again");
        }
        yk_text_free(&chunk);
    }
    assert_null(trace);
    yk_text_free(&packed);
}

static void any_bit_that_changed_is_found(void **state)
{
    (void)state;
    struct yk_text packed = pack();
    struct yk_trace *trace = NULL;
    for (size_t bit = 0; bit < 8 * packed.length; bit++) {
        packed.bytes[bit / 8] = (char)(packed.bytes[bit / 8] ^ (1 << bit % 8));
        assert_int_equal(yk_trace_bytes_unpack(packed.bytes, packed.length, "rank 1", &trace),
                         YK_ERROR_INPUT);
        packed.bytes[bit / 8] = (char)(packed.bytes[bit / 8] ^ (1 << bit % 8));
    }
    assert_null(trace);
    assert_ok(yk_trace_bytes_unpack(packed.bytes, packed.length, "rank 1", &trace));
    yk_trace_destroy(trace);
    yk_text_free(&packed);
}

/* Bytes with a good hash that say what cannot be: at `place`, counted from the body's start. */
static void expect_refused(size_t place, const char *bytes, size_t count, yk_status status,
                           const char *message)
{
    struct yk_text packed = pack();
    struct yk_trace *trace = NULL;
    memcpy(packed.bytes + HEAD + place, bytes, count);
    sign_again(&packed);
    assert_fails(yk_trace_bytes_unpack(packed.bytes, packed.length, "rank 1", &trace), status,
                 message);
    assert_null(trace);
    yk_text_free(&packed);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const size_t event = 3 * 4 + 4 + 5 + 4; /* counts and the names of two ranks */
    expect_refused(0, "\xff\xff\xff\xff", 4, YK_ERROR_INPUT,
                   "rank 1: this trace counts to 4294967295, more than there can be");
    expect_refused(4, "\xff\xff\xff\x7f", 4, YK_ERROR_INPUT,
                   "rank 1: the bytes of this trace end too soon; send them again");
    expect_refused(8, "\0", 1, YK_ERROR_INPUT, "rank 1: 8 bytes follow the end of this trace");
    expect_refused(3 * 4 + 4, "\0", 1, YK_ERROR_INPUT,
                   "rank 1: a name in this trace has a zero in it");
    expect_refused(event, "\2", 1, YK_ERROR_INPUT,
                   "rank 1: event \"forward block 0\" of a trace: there is no rank 2");
    expect_refused(event + 4, "\3", 1, YK_ERROR_INPUT,
                   "rank 1: event \"forward block 0\" of this trace is on lane 3 of 3");
    expect_refused(event + 8, "\0\0\0\0\0\0\xf0\x7f", 8, YK_ERROR_NUMBERS,
                   "rank 1: event \"forward block 0\" of a trace lasts from inf s to 0.333333 s");
    expect_refused(event + 24, "\0\0\0\0\0\0\xf0\xbf", 8, YK_ERROR_INPUT,
                   "rank 1: event \"forward block 0\" of this trace moves -1 bytes");
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
    struct yk_trace *trace = NULL;
    assert_fails(yk_trace_bytes_unpack("{\"traceEvents\": []}", 19, "rank 1", &trace),
                 YK_ERROR_INPUT,
                 "rank 1: these bytes are no trace: they do not begin with \"yktrace1\"");
    assert_null(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_on_the_way),
        cmocka_unit_test(bytes_that_were_cut_are_refused),
        cmocka_unit_test(any_bit_that_changed_is_found),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(what_is_no_trace_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
