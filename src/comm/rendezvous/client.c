#include "comm/rendezvous/client.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const double answer_s = 3; /* for rank 0, once it is there */
static const double shortest_pause_s = 0.01;
static const double longest_pause_s = 0.5;

static double until(const struct yk_client *call, double most_s)
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
    if (!yk_connection_wait(link, true, end_s)) {
        errno = ETIMEDOUT;
        return false;
    }
    (void)getsockopt(link, SOL_SOCKET, SO_ERROR, &problem, &problem_size);
    errno = problem;
    return problem == 0;
}

bool yk_client_receive(const struct yk_connection *talk, struct yk_connection_record *out,
                       double end_s)
{
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    return yk_connection_receive(talk->link, wire, sizeof wire, end_s) &&
           yk_connection_unpack(wire, out);
}

bool yk_client_is_refused(const struct yk_connection *talk,
                          const struct yk_connection_record *refusal, double end_s,
                          yk_status *status)
{
    char sentence[YK_CONNECTION_SENTENCE_SIZE] = "";
    if (refusal->length >= sizeof sentence ||
        !yk_connection_receive(talk->link, sentence, refusal->length, end_s) ||
        !yk_connection_is_proven(talk, refusal, sentence)) {
        return false;
    }
    *status =
        yk_fail(refusal->status == YK_ERROR_LOST ? YK_ERROR_LOST : YK_ERROR_INPUT, "%s", sentence);
    return true;
}

static enum yk_client_result greet(struct yk_client *call, struct yk_connection *talk,
                                   yk_status *status)
{
    struct yk_connection_record heard;
    struct yk_connection_record hello = {.kind = YK_CONNECTION_HELLO};
    const struct yk_connection_record proof = {.kind = YK_CONNECTION_PROOF,
                                               .rank = call->rank,
                                               .size = call->size,
                                               .length = call->length};
    const double end_s = until(call, answer_s);
    call->trouble = "what answers there is not rank 0";
    *status = yk_connection_draw_nonce(hello.nonce);
    if (*status != YK_OK) {
        return YK_CLIENT_FAILED;
    }
    memcpy(talk->guest_nonce, hello.nonce, YK_CONNECTION_NONCE_SIZE);
    if (!yk_connection_send(talk, &hello, NULL, end_s) || !yk_client_receive(talk, &heard, end_s) ||
        heard.kind != YK_CONNECTION_CHALLENGE) {
        return YK_CLIENT_RETRY;
    }
    memcpy(talk->host_nonce, heard.nonce, YK_CONNECTION_NONCE_SIZE);
    if (!yk_connection_send(talk, &proof, NULL, end_s) || !yk_client_receive(talk, &heard, end_s)) {
        return YK_CLIENT_RETRY;
    }
    if (heard.kind == YK_CONNECTION_REFUSED) {
        return yk_client_is_refused(talk, &heard, end_s, status) ? YK_CLIENT_FAILED
                                                                 : YK_CLIENT_WRONG_TOKEN;
    }
    return heard.kind == YK_CONNECTION_WELCOME && yk_connection_is_proven(talk, &heard, NULL)
               ? YK_CLIENT_CONNECTED
               : YK_CLIENT_WRONG_TOKEN;
}

enum yk_client_result yk_client_connect(struct yk_client *call, const struct sockaddr *address,
                                        socklen_t size, struct yk_connection *talk,
                                        yk_status *status)
{
    *talk = (struct yk_connection){.token = call->token};
    talk->link = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (talk->link < 0 || !reach(talk->link, address, size, until(call, answer_s))) {
        call->trouble = strerror(errno);
        yk_connection_close(talk);
        return YK_CLIENT_RETRY;
    }
    yk_connection_set_no_delay(talk->link);
    const enum yk_client_result end = greet(call, talk, status);
    if (end != YK_CLIENT_CONNECTED) {
        yk_connection_close(talk);
    }
    return end;
}

enum yk_client_result yk_client_connect_any(struct yk_client *call,
                                            const struct yk_address_list *place,
                                            struct yk_connection *talk, yk_status *status)
{
    enum yk_client_result end = YK_CLIENT_RETRY;
    for (int32_t i = 0; i < place->count && end == YK_CLIENT_RETRY; i++) {
        end = yk_client_connect(call, (const struct sockaddr *)&place->addresses[i],
                                place->sizes[i], talk, status);
    }
    return end;
}

void yk_client_back_off(double *pause_s)
{
    const double longer_s = 1.5 * *pause_s;
    *pause_s = longer_s < shortest_pause_s  ? shortest_pause_s
               : longer_s > longest_pause_s ? longest_pause_s
                                            : longer_s;
    (void)usleep((useconds_t)(1e6 * *pause_s));
}
