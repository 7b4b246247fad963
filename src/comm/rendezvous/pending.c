#include "comm/rendezvous/pending.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

void yk_listener_pending_begin(struct yk_visit *visit, int link, const char *token)
{
    yk_connection_set_no_delay(link);
    *visit = (struct yk_visit){
        .talk = {.link = link, .token = token},
        .since_s = yk_clock_now_s(),
    };
}

static enum yk_listener_pending_result hang_up(struct yk_visit *visit)
{
    yk_connection_close(&visit->talk);
    return YK_LISTENER_PENDING_CLOSED;
}

static yk_status answer_hello(struct yk_visit *visit, const struct yk_connection_record *hello,
                              enum yk_listener_pending_result *end)
{
    struct yk_connection_record answer = {.kind = YK_CONNECTION_CHALLENGE};
    YK_TRY(yk_connection_draw_nonce(answer.nonce));
    memcpy(visit->talk.guest_nonce, hello->nonce, YK_CONNECTION_NONCE_SIZE);
    memcpy(visit->talk.host_nonce, answer.nonce, YK_CONNECTION_NONCE_SIZE);
    visit->greeted = true;
    /* So little goes out at once or not at all. */
    if (!yk_connection_send(&visit->talk, &answer, NULL, 0)) {
        *end = hang_up(visit);
    }
    return YK_OK;
}

static yk_status hear_record(struct yk_visit *visit, enum yk_listener_pending_result *end,
                             struct yk_connection_record *claim)
{
    struct yk_connection_record heard;
    const bool known = yk_connection_unpack(visit->heard, &heard);
    visit->heard_size = 0;
    if (known && visit->greeted && heard.kind == YK_CONNECTION_PROOF) {
        *claim = heard;
        *end = YK_LISTENER_PENDING_CLAIMS;
        return YK_OK;
    }
    if (known && !visit->greeted && heard.kind == YK_CONNECTION_HELLO) {
        return answer_hello(visit, &heard, end);
    }
    *end = hang_up(visit);
    return YK_OK;
}

yk_status yk_listener_pending_receive(struct yk_visit *visit, enum yk_listener_pending_result *end,
                                      struct yk_connection_record *claim)
{
    const ssize_t got = recv(visit->talk.link, visit->heard + visit->heard_size,
                             YK_CONNECTION_RECORD_SIZE - visit->heard_size, MSG_DONTWAIT);
    *end = YK_LISTENER_PENDING_OPEN;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        *end = hang_up(visit);
        return YK_OK;
    }
    visit->heard_size += got > 0 ? (size_t)got : 0;
    return visit->heard_size == YK_CONNECTION_RECORD_SIZE ? hear_record(visit, end, claim) : YK_OK;
}
