/*
 * Fuzz target of the watch's records: the bytes are what ranks send, field after field in the order
 * of struct yk_watchdog_message and without what only greets. Records that are accepted index
 * ranks, lanes and ops, and become verdicts. The bytes as they are must be refused unless they have
 * the size of a record.
 */
#include "fuzz/fuzz.h"

#include "comm/watchdog/watchdog.h"

#include <string.h>

enum {
    RANKS = 3
};

struct fields {
    const uint8_t *at;
    size_t left;
};

/* False, and zeros, where there are not so many bytes left. */
static bool read_field(struct fields *fields, void *out, size_t size)
{
    if (fields->left < size) {
        fields->left = 0;
        return false;
    }
    memcpy(out, fields->at, size);
    fields->at += size;
    fields->left -= size;
    return true;
}

static bool read_record(struct fields *fields, struct yk_watchdog_message *out)
{
    memset(out, 0, sizeof *out);
    return read_field(fields, &out->kind, sizeof out->kind) &&
           read_field(fields, &out->rank, sizeof out->rank) &&
           read_field(fields, &out->reason, sizeof out->reason) &&
           read_field(fields, &out->lane, sizeof out->lane) &&
           read_field(fields, &out->since_s, sizeof out->since_s) &&
           read_field(fields, out->state.ops, sizeof out->state.ops) &&
           read_field(fields, out->state.op_s, sizeof out->state.op_s);
}

static void check_verdict(const struct yk_watchdog_failure *failure)
{
    struct yk_text text = {0};
    fuzz_expect(failure->rank >= 0 && failure->rank < RANKS, "a verdict is on a rank");
    fuzz_expect(failure->lane >= -1 && failure->lane < YK_WATCHDOG_LANE_COUNT,
                "and on a lane, or none");
    fuzz_expect(failure->since_s >= 0, "it takes time to be lost");
    yk_watchdog_describe_failure(failure, &text);
    fuzz_expect(strlen(yk_text_chars(&text)) > strlen("rank 0 "), "a verdict has words");
    yk_text_free(&text);
}

/* As rank 0 and the others use it. */
static void use(const struct yk_watchdog_message *message, struct yk_watchdog_current_ops *states,
                bool *left)
{
    struct yk_watchdog_failure failure = {
        .rank = message->rank,
        .reason = (enum yk_watchdog_failure_reason)message->reason,
        .since_s = message->since_s,
        .lane = message->lane,
        .state = message->state,
    };
    check_verdict(&failure);
    states[message->rank] = message->state;
    left[message->rank] = message->kind == YK_WATCHDOG_MESSAGE_GOODBYE;
    if (yk_watchdog_find_hung_rank(states, left, RANKS, 30, &failure)) {
        fuzz_expect(!left[failure.rank], "who has left is not to blame");
        check_verdict(&failure);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_watchdog_current_ops states[RANKS] = {0};
    bool left[RANKS] = {false};
    struct fields fields = {data, size};
    struct yk_watchdog_message message;
    while (read_record(&fields, &message)) {
        struct yk_watchdog_message parsed;
        if (yk_watchdog_channel_parse_message(&message, sizeof message, RANKS, &parsed)) {
            fuzz_accept();
            fuzz_expect(parsed.rank == message.rank && parsed.lane == message.lane,
                        "a record stays as it is");
            use(&parsed, states, left);
        }
    }
    if (yk_watchdog_channel_parse_message(data, size, RANKS, &message)) {
        fuzz_expect(size == sizeof message, "a record is whole");
        use(&message, states, left);
    }
    return 0;
}
