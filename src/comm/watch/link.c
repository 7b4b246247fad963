#include "comm/watch/link.h"

#include "base/clock.h"
#include "comm/rendezvous/client.h"
#include "comm/rendezvous/listener.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static const double connect_s = 20; /* until all ranks must have called */

/* ---- the meeting ---- */

static yk_status refuse(const char *what)
{
    return yk_fail(YK_ERROR_SYSTEM, "the watch over ranks cannot %s: %s", what, strerror(errno));
}

static bool draw_key(char out[YK_WATCH_KEY_SIZE])
{
    unsigned char bytes[YK_WATCH_KEY_SIZE / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    out[YK_WATCH_KEY_SIZE - 1] = '\0';
    return true;
}

/* At a free port, which becomes part of the address. */
static bool listen_at(const struct yk_address_list *addresses, int32_t i,
                      struct yk_watch_endpoint *endpoint)
{
    struct yk_address_list *found = &endpoint->addresses;
    socklen_t size = sizeof found->addresses[0];
    int fd = -1;
    if (!yk_address_listen(addresses, i, &fd)) {
        return false;
    }
    if (getsockname(fd, (struct sockaddr *)&found->addresses[found->count], &size) != 0) {
        (void)close(fd);
        return false;
    }
    found->sizes[found->count++] = size;
    endpoint->sockets[endpoint->socket_count++] = fd;
    return true;
}

yk_status yk_watch_link_listen(const struct yk_address_list *addresses,
                               struct yk_watch_endpoint *out)
{
    struct yk_watch_endpoint endpoint;
    memset(&endpoint, 0, sizeof endpoint); /* its padding goes to others as well */
    if (!draw_key(endpoint.key)) {
        return refuse("draw a random number");
    }
    bool listens = false;
    for (int32_t i = 0; i < addresses->count; i++) {
        listens = listen_at(addresses, i, &endpoint) || listens;
    }
    if (!listens) {
        return refuse("listen on a port");
    }
    *out = endpoint;
    return YK_OK;
}

void yk_watch_link_stop_listening(struct yk_watch_endpoint *endpoint)
{
    for (int32_t i = 0; i < endpoint->socket_count; i++) {
        (void)close(endpoint->sockets[i]);
    }
    endpoint->socket_count = 0;
}

static int32_t port_of(const struct yk_address_list *addresses)
{
    /* Both kinds of addresses have it there. */
    return ntohs(((const struct sockaddr_in *)(const void *)&addresses->addresses[0])->sin_port);
}

static yk_status fail_unreached(const struct yk_watch_endpoint *endpoint, const char *failure)
{
    struct yk_text text = {0};
    yk_address_describe(&endpoint->addresses, &text);
    const yk_status status =
        yk_fail(YK_ERROR_LOST,
                "the watch over ranks does not reach rank 0 at %s, port %" PRId32
                ", within %.0f s (%s): let machines of the run connect to each other",
                yk_text_chars(&text), port_of(&endpoint->addresses), connect_s, failure);
    yk_text_free(&text);
    return status;
}

/* Another machine may have rank 0's address in this rank's network, or another process its port
 * after it: who does not know the key does not count. */
yk_status yk_watch_link_connect(const struct yk_watch_endpoint *endpoint, int32_t rank,
                                int32_t size, int *out)
{
    struct yk_connection connection = {.fd = -1};
    struct yk_client client = {
        .token = endpoint->key,
        .rank = rank,
        .size = size,
        .length = sizeof(struct yk_watch_record),
        .end_s = yk_clock_now_s() + connect_s,
        .failure = "nobody answers",
    };
    double pause_s = 0;
    do {
        for (int32_t i = 0; i < endpoint->addresses.count; i++) {
            yk_status status = YK_OK;
            switch (yk_client_connect(&client,
                                      (const struct sockaddr *)&endpoint->addresses.addresses[i],
                                      endpoint->addresses.sizes[i], &connection, &status)) {
            case YK_CLIENT_CONNECTED:
                *out = connection.fd;
                return YK_OK;
            case YK_CLIENT_FAILED:
                return status;
            case YK_CLIENT_WRONG_TOKEN:
                client.failure = "what answers there does not know the key of this run";
                break;
            case YK_CLIENT_RETRY:
                break;
            }
        }
        yk_client_back_off(&pause_s);
    } while (yk_clock_now_s() < client.end_s);
    return fail_unreached(endpoint, client.failure);
}

static yk_status fail_missing(const struct yk_listener *listener)
{
    struct yk_text text = {0};
    yk_text_add(&text, "the watch over ranks has not heard from ");
    yk_listener_name_missing(listener, &text);
    yk_text_addf(&text, " within %.0f s", connect_s);
    if (listener->rejected > 0) {
        yk_text_addf(&text, ", but from %" PRId32 " that did not know the key of this run",
                     listener->rejected);
    }
    yk_text_add(&text, ": let machines of the run connect to each other");
    const yk_status status = yk_fail(YK_ERROR_LOST, "%s", yk_text_chars(&text));
    yk_text_free(&text);
    return status;
}

yk_status yk_watch_link_accept_all(struct yk_watch_endpoint *endpoint, int32_t size, int *links)
{
    struct yk_listener listener = {
        .size = size,
        .token = endpoint->key,
        .length = sizeof(struct yk_watch_record),
        .socket_count = endpoint->socket_count,
    };
    memcpy(listener.sockets, endpoint->sockets, sizeof listener.sockets);
    endpoint->socket_count = 0;
    yk_status status = yk_listener_open(&listener);
    YK_THEN(yk_listener_accept_all(&listener, yk_clock_now_s() + connect_s));
    if (status == YK_OK && listener.missing > 0) {
        status = fail_missing(&listener);
    }
    for (int32_t i = 0; i < size; i++) {
        links[i] = -1;
        if (status == YK_OK) {
            links[i] = listener.clients[i].fd;
            listener.clients[i].fd = -1;
        }
    }
    yk_listener_close(&listener);
    return status;
}

/* ---- records ---- */

void yk_watch_link_send(int link, const struct yk_watch_record *record)
{
    const ssize_t sent = send(link, record, sizeof *record, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* Half a record would make nonsense of all that follows. */
    if (sent > 0 && sent < (ssize_t)sizeof *record) {
        (void)shutdown(link, SHUT_RDWR);
    }
}

static bool is_time(double s)
{
    return isfinite(s) && s >= 0;
}

bool yk_watch_link_parse(const void *bytes, size_t length, int32_t ranks,
                         struct yk_watch_record *out)
{
    struct yk_watch_record record;
    if (length != sizeof record) {
        return false;
    }
    memcpy(&record, bytes, sizeof record);
    bool is_sound = record.kind >= YK_WATCH_BEAT && record.kind <= YK_WATCH_GOODBYE &&
                    record.rank >= 0 && record.rank < ranks && record.reason >= 0 &&
                    record.reason <= (int32_t)YK_WATCH_HANGING && record.lane >= -1 &&
                    record.lane < (int32_t)YK_WATCH_LANES && is_time(record.since_s);
    for (int i = 0; i < YK_WATCH_LANES; i++) {
        is_sound = is_sound && record.state.ops[i] >= YK_WATCH_NO_OP &&
                   is_time((double)record.state.op_s[i]);
    }
    if (is_sound) {
        *out = record;
    }
    return is_sound;
}

enum yk_watch_link_result yk_watch_link_receive(int link, struct yk_watch_link_buffer *buffer,
                                                int32_t ranks, struct yk_watch_record *out)
{
    const ssize_t got =
        recv(link, buffer->bytes + buffer->size, sizeof buffer->bytes - buffer->size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        return YK_WATCH_LINK_CLOSED;
    }
    buffer->size += got > 0 ? (size_t)got : 0;
    if (buffer->size < sizeof buffer->bytes) {
        return YK_WATCH_LINK_EMPTY;
    }
    buffer->size = 0;
    return yk_watch_link_parse(buffer->bytes, sizeof buffer->bytes, ranks, out)
               ? YK_WATCH_LINK_RECORD
               : YK_WATCH_LINK_CLOSED;
}
