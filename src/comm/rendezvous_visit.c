#include "comm/rendezvous_visit.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

void yk_visit_begin(struct yk_visit *visit, int link, const char *token)
{
    yk_meet_quicken(link);
    *visit = (struct yk_visit){
        .talk = {.link = link, .token = token},
        .since_s = yk_clock_now_s(),
    };
}

static enum yk_visit_end hang_up(struct yk_visit *visit)
{
    yk_meet_hang_up(&visit->talk);
    return YK_VISIT_OVER;
}

static yk_status answer_hello(struct yk_visit *visit, const struct yk_meet_record *hello,
                              enum yk_visit_end *end)
{
    struct yk_meet_record answer = {.kind = YK_MEET_CHALLENGE};
    YK_TRY(yk_meet_draw(answer.nonce));
    memcpy(visit->talk.guest_nonce, hello->nonce, YK_MEET_NONCE);
    memcpy(visit->talk.host_nonce, answer.nonce, YK_MEET_NONCE);
    visit->greeted = true;
    /* So little goes out at once or not at all. */
    if (!yk_meet_say(&visit->talk, &answer, NULL, 0)) {
        *end = hang_up(visit);
    }
    return YK_OK;
}

static yk_status hear_record(struct yk_visit *visit, enum yk_visit_end *end,
                             struct yk_meet_record *claim)
{
    struct yk_meet_record heard;
    const bool known = yk_meet_unpack(visit->heard, &heard);
    visit->heard_size = 0;
    if (known && visit->greeted && heard.kind == YK_MEET_PROOF) {
        *claim = heard;
        *end = YK_VISIT_CLAIMS;
        return YK_OK;
    }
    if (known && !visit->greeted && heard.kind == YK_MEET_HELLO) {
        return answer_hello(visit, &heard, end);
    }
    *end = hang_up(visit);
    return YK_OK;
}

yk_status yk_visit_hear(struct yk_visit *visit, enum yk_visit_end *end,
                        struct yk_meet_record *claim)
{
    const ssize_t got = recv(visit->talk.link, visit->heard + visit->heard_size,
                             YK_MEET_WIRE - visit->heard_size, MSG_DONTWAIT);
    *end = YK_VISIT_GOES_ON;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        *end = hang_up(visit);
        return YK_OK;
    }
    visit->heard_size += got > 0 ? (size_t)got : 0;
    return visit->heard_size == YK_MEET_WIRE ? hear_record(visit, end, claim) : YK_OK;
}
