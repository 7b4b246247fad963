#include "comm/rendezvous_call.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const double answer_s = 3; /* for rank 0, once it is there */
static const double shortest_pause_s = 0.01;
static const double longest_pause_s = 0.5;

static double until(const struct yk_call *call, double most_s)
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

bool yk_call_hear(const struct yk_meet_talk *talk, struct yk_meet_record *out, double end_s)
{
    unsigned char wire[YK_MEET_WIRE];
    return yk_meet_hear(talk->link, wire, sizeof wire, end_s) && yk_meet_unpack(wire, out);
}

bool yk_call_is_refused(const struct yk_meet_talk *talk, const struct yk_meet_record *refusal,
                        double end_s, yk_status *status)
{
    char sentence[YK_MEET_SENTENCE] = "";
    if (refusal->length >= sizeof sentence ||
        !yk_meet_hear(talk->link, sentence, refusal->length, end_s) ||
        !yk_meet_is_proven(talk, refusal, sentence)) {
        return false;
    }
    *status =
        yk_fail(refusal->status == YK_ERROR_LOST ? YK_ERROR_LOST : YK_ERROR_INPUT, "%s", sentence);
    return true;
}

static enum yk_call_end greet(struct yk_call *call, struct yk_meet_talk *talk, yk_status *status)
{
    struct yk_meet_record heard;
    struct yk_meet_record hello = {.kind = YK_MEET_HELLO};
    const struct yk_meet_record proof = {
        .kind = YK_MEET_PROOF, .rank = call->rank, .size = call->size, .length = call->length};
    const double end_s = until(call, answer_s);
    call->trouble = "what answers there is not rank 0";
    *status = yk_meet_draw(hello.nonce);
    if (*status != YK_OK) {
        return YK_CALL_FAILED;
    }
    memcpy(talk->guest_nonce, hello.nonce, YK_MEET_NONCE);
    if (!yk_meet_say(talk, &hello, NULL, end_s) || !yk_call_hear(talk, &heard, end_s) ||
        heard.kind != YK_MEET_CHALLENGE) {
        return YK_CALL_AGAIN;
    }
    memcpy(talk->host_nonce, heard.nonce, YK_MEET_NONCE);
    if (!yk_meet_say(talk, &proof, NULL, end_s) || !yk_call_hear(talk, &heard, end_s)) {
        return YK_CALL_AGAIN;
    }
    if (heard.kind == YK_MEET_REFUSED) {
        return yk_call_is_refused(talk, &heard, end_s, status) ? YK_CALL_FAILED : YK_CALL_FALSE;
    }
    return heard.kind == YK_MEET_WELCOME && yk_meet_is_proven(talk, &heard, NULL) ? YK_CALL_WELCOME
                                                                                  : YK_CALL_FALSE;
}

enum yk_call_end yk_call_one(struct yk_call *call, const struct sockaddr *address, socklen_t size,
                             struct yk_meet_talk *talk, yk_status *status)
{
    *talk = (struct yk_meet_talk){.token = call->token};
    talk->link = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (talk->link < 0 || !reach(talk->link, address, size, until(call, answer_s))) {
        call->trouble = strerror(errno);
        yk_meet_hang_up(talk);
        return YK_CALL_AGAIN;
    }
    yk_meet_quicken(talk->link);
    const enum yk_call_end end = greet(call, talk, status);
    if (end != YK_CALL_WELCOME) {
        yk_meet_hang_up(talk);
    }
    return end;
}

enum yk_call_end yk_call_place(struct yk_call *call, const struct yk_meet_place *place,
                               struct yk_meet_talk *talk, yk_status *status)
{
    enum yk_call_end end = YK_CALL_AGAIN;
    for (int32_t i = 0; i < place->count && end == YK_CALL_AGAIN; i++) {
        end = yk_call_one(call, (const struct sockaddr *)&place->addresses[i], place->sizes[i],
                          talk, status);
    }
    return end;
}

void yk_call_pause(double *pause_s)
{
    const double longer_s = 1.5 * *pause_s;
    *pause_s = longer_s < shortest_pause_s  ? shortest_pause_s
               : longer_s > longest_pause_s ? longest_pause_s
                                            : longer_s;
    (void)usleep((useconds_t)(1e6 * *pause_s));
}
