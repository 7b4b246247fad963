#include "comm/rendezvous_guest.h"

#include "base/clock.h"
#include "comm/rendezvous_place.h"
#include "comm/rendezvous_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const double answer_s = 3; /* for rank 0, once it is there */
static const double grace_s = 10; /* in which rank 0 tells what it waited for in vain */
static const double shortest_pause_s = 0.01;
static const double longest_pause_s = 0.5;

enum outcome {
    WELCOME,
    AGAIN, /* nobody is there yet, or something else is */
    FAILED,
};

/* What came of the last call, for the sentence when the time is over. */
struct call {
    const struct yk_rendezvous *meeting;
    size_t bytes;
    double end_s;
    const char *trouble;
    bool nameless; /* nobody knows rank 0's machine yet; the sentence is there */
};

static double until(const struct call *call, double most_s)
{
    const double end_s = yk_clock_now_s() + most_s;
    return end_s < call->end_s ? end_s : call->end_s;
}

static bool reach(int link, const struct sockaddr *address, socklen_t size, double end_s)
{
    int problem = 0;
    socklen_t problem_size = sizeof problem;
    const int yes = 1;
    /* On rank 0's machine the system may choose its port for the call, which must not keep rank 0
     * from listening there. */
    (void)setsockopt(link, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (connect(link, address, size) == 0) {
        return true;
    }
    if (errno != EINPROGRESS) {
        return false;
    }
    if (!yk_meet_wait(link, true, end_s)) {
        errno = ETIMEDOUT;
        return false;
    }
    (void)getsockopt(link, SOL_SOCKET, SO_ERROR, &problem, &problem_size);
    errno = problem;
    return problem == 0;
}

static bool hear_record(const struct yk_meet_talk *talk, struct yk_meet_record *out, double end_s)
{
    unsigned char wire[YK_MEET_WIRE];
    return yk_meet_hear(talk->link, wire, sizeof wire, end_s) && yk_meet_unpack(wire, out);
}

static yk_status fail_token(const struct yk_rendezvous *meeting)
{
    return yk_fail(YK_ERROR_INPUT,
                   "rank 0 at %s, port %" PRId32 ", has another token than rank %" PRId32
                   ": it is another job's, or YOKE_TOKEN is not the same for all",
                   meeting->address, meeting->port, meeting->rank);
}

/* Rank 0's sentence becomes ours. */
static yk_status fail_refused(const struct yk_rendezvous *meeting, const struct yk_meet_talk *talk,
                              const struct yk_meet_record *refusal, double end_s)
{
    char sentence[YK_MEET_SENTENCE] = "";
    if (refusal->length >= sizeof sentence ||
        !yk_meet_hear(talk->link, sentence, refusal->length, end_s) ||
        !yk_meet_is_proven(talk, refusal, sentence)) {
        return fail_token(meeting);
    }
    return yk_fail(refusal->status == YK_ERROR_LOST ? YK_ERROR_LOST : YK_ERROR_INPUT, "%s",
                   sentence);
}

static enum outcome greet(struct call *call, struct yk_meet_talk *talk, yk_status *status)
{
    const struct yk_rendezvous *meeting = call->meeting;
    struct yk_meet_record heard;
    struct yk_meet_record hello = {.kind = YK_MEET_HELLO};
    const struct yk_meet_record proof = {.kind = YK_MEET_PROOF,
                                         .rank = meeting->rank,
                                         .size = meeting->size,
                                         .length = (uint32_t)call->bytes};
    const double end_s = until(call, answer_s);
    call->trouble = "what answers there is not rank 0";
    *status = yk_meet_draw(hello.nonce);
    if (*status != YK_OK) {
        return FAILED;
    }
    memcpy(talk->guest_nonce, hello.nonce, YK_MEET_NONCE);
    if (!yk_meet_say(talk, &hello, NULL, end_s) || !hear_record(talk, &heard, end_s) ||
        heard.kind != YK_MEET_CHALLENGE) {
        return AGAIN;
    }
    memcpy(talk->host_nonce, heard.nonce, YK_MEET_NONCE);
    if (!yk_meet_say(talk, &proof, NULL, end_s) || !hear_record(talk, &heard, end_s)) {
        return AGAIN;
    }
    if (heard.kind == YK_MEET_REFUSED) {
        *status = fail_refused(meeting, talk, &heard, end_s);
        return FAILED;
    }
    if (heard.kind != YK_MEET_WELCOME || !yk_meet_is_proven(talk, &heard, NULL)) {
        *status = fail_token(meeting);
        return FAILED;
    }
    return WELCOME;
}

static enum outcome call_one(struct call *call, const struct sockaddr *address, socklen_t size,
                             struct yk_meet_talk *talk, yk_status *status)
{
    talk->link = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (talk->link < 0 || !reach(talk->link, address, size, until(call, answer_s))) {
        call->trouble = strerror(errno);
        yk_meet_hang_up(talk);
        return AGAIN;
    }
    yk_meet_quicken(talk->link);
    const enum outcome outcome = greet(call, talk, status);
    if (outcome != WELCOME) {
        yk_meet_hang_up(talk);
    }
    return outcome;
}

static enum outcome call_all(struct call *call, struct yk_meet_talk *talk, yk_status *status)
{
    struct yk_place place;
    enum outcome outcome = AGAIN;
    *status = yk_place_resolve(call->meeting->address, call->meeting->port, &place);
    call->nameless = *status == YK_ERROR_LOST;
    if (*status != YK_OK) {
        /* A machine that starts late may get its name late. */
        return call->nameless ? AGAIN : FAILED;
    }
    for (int32_t i = 0; i < place.count && outcome == AGAIN; i++) {
        outcome = call_one(call, (const struct sockaddr *)&place.addresses[i], place.sizes[i], talk,
                           status);
    }
    return outcome;
}

static yk_status call_until_welcome(struct call *call, struct yk_meet_talk *talk)
{
    const struct yk_rendezvous *meeting = call->meeting;
    double pause_s = shortest_pause_s;
    do {
        yk_status status = YK_OK;
        const enum outcome outcome = call_all(call, talk, &status);
        if (outcome != AGAIN) {
            return status;
        }
        (void)usleep((useconds_t)(1e6 * pause_s));
        pause_s = 1.5 * pause_s < longest_pause_s ? 1.5 * pause_s : longest_pause_s;
    } while (yk_clock_now_s() < call->end_s);
    if (call->nameless) {
        return YK_ERROR_LOST;
    }
    return yk_fail(YK_ERROR_LOST,
                   "rank %" PRId32 " did not find rank 0 at %s, port %" PRId32
                   ", within %.3g s (%s); start rank 0 there, or name its machine in MASTER_ADDR "
                   "or --master",
                   meeting->rank, meeting->address, meeting->port, meeting->limit_s, call->trouble);
}

/* The record of this kind; a refusal is a failure. */
static yk_status await(const struct yk_rendezvous *meeting, const struct yk_meet_talk *talk,
                       uint32_t kind, struct yk_meet_record *out, double end_s)
{
    if (!hear_record(talk, out, end_s)) {
        return yk_fail(YK_ERROR_LOST,
                       "rank 0 at %s, port %" PRId32 ", was lost while the ranks met",
                       meeting->address, meeting->port);
    }
    if (out->kind == YK_MEET_REFUSED) {
        return fail_refused(meeting, talk, out, end_s);
    }
    return out->kind == kind ? YK_OK : fail_token(meeting);
}

static yk_status take_bytes(const struct call *call, const struct yk_meet_talk *talk, void *bytes)
{
    const struct yk_rendezvous *meeting = call->meeting;
    const struct yk_meet_record have = {.kind = YK_MEET_HAVE};
    /* Rank 0 ends the waiting, and says for whom. */
    const double end_s = yk_clock_now_s() + meeting->limit_s + grace_s;
    struct yk_meet_record heard;
    YK_TRY(await(meeting, talk, YK_MEET_BYTES, &heard, end_s));
    if (heard.length != call->bytes || !yk_meet_hear(talk->link, bytes, call->bytes, end_s) ||
        !yk_meet_is_proven(talk, &heard, bytes)) {
        return yk_fail(YK_ERROR_LOST, "what rank 0 at %s, port %" PRId32 ", shares came damaged",
                       meeting->address, meeting->port);
    }
    (void)yk_meet_say(talk, &have, NULL, end_s);
    YK_TRY(await(meeting, talk, YK_MEET_DONE, &heard, end_s));
    return yk_meet_is_proven(talk, &heard, NULL) ? YK_OK : fail_token(meeting);
}

yk_status yk_rendezvous_guest(const struct yk_rendezvous *rendezvous, void *bytes, size_t size)
{
    struct yk_meet_talk talk = {.link = -1, .token = rendezvous->token};
    struct call call = {
        .meeting = rendezvous,
        .bytes = size,
        .end_s = yk_clock_now_s() + rendezvous->limit_s,
        .trouble = "nobody answers",
    };
    void *taken = malloc(size > 0 ? size : 1);
    if (!taken) {
        return yk_fail_out_of_memory();
    }
    yk_status status = call_until_welcome(&call, &talk);
    if (status == YK_OK) {
        status = take_bytes(&call, &talk, taken);
    }
    if (status == YK_OK) {
        memcpy(bytes, taken, size);
    }
    yk_meet_hang_up(&talk);
    free(taken);
    return status;
}
