#include "comm/watchdog/watchdog_channel.h"

#include "base/clock.h"
#include "comm/rendezvous/rendezvous_client.h"
#include "comm/rendezvous/rendezvous_listener.h"

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

static bool draw_key(char out[YK_WATCHDOG_KEY_SIZE])
{
    unsigned char bytes[YK_WATCHDOG_KEY_SIZE / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    out[YK_WATCHDOG_KEY_SIZE - 1] = '\0';
    return true;
}

/* At a free port, which becomes part of the address. */
static bool listen_at(const struct yk_network_address_list *addresses, int32_t i,
                      struct yk_watchdog_endpoint *endpoint)
{
    struct yk_network_address_list *found = &endpoint->addresses;
    socklen_t size = sizeof found->addresses[0];
    int fd = -1;
    if (!yk_network_address_listen(addresses, i, &fd)) {
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

yk_status yk_watchdog_channel_listen(const struct yk_network_address_list *addresses,
                                     struct yk_watchdog_endpoint *out)
{
    struct yk_watchdog_endpoint endpoint;
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

void yk_watchdog_channel_stop_listening(struct yk_watchdog_endpoint *endpoint)
{
    for (int32_t i = 0; i < endpoint->socket_count; i++) {
        (void)close(endpoint->sockets[i]);
    }
    endpoint->socket_count = 0;
}

static int32_t port_of(const struct yk_network_address_list *addresses)
{
    /* Both kinds of addresses have it there. */
    return ntohs(((const struct sockaddr_in *)(const void *)&addresses->addresses[0])->sin_port);
}

static yk_status fail_unreached(const struct yk_watchdog_endpoint *endpoint, const char *failure)
{
    struct yk_text text = {0};
    yk_network_address_list_describe(&endpoint->addresses, &text);
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
yk_status yk_watchdog_channel_connect_to_rank0(const struct yk_watchdog_endpoint *endpoint,
                                               int32_t rank, int32_t size, int *out)
{
    struct yk_connection connection = {.fd = -1};
    struct yk_rendezvous_client client = {
        .token = endpoint->key,
        .rank = rank,
        .size = size,
        .length = sizeof(struct yk_watchdog_message),
        .end_s = yk_clock_now_s() + connect_s,
        .failure = "nobody answers",
    };
    double pause_s = 0;
    do {
        for (int32_t i = 0; i < endpoint->addresses.count; i++) {
            yk_status status = YK_OK;
            switch (yk_rendezvous_client_try_connect(&client, &endpoint->addresses, i, &connection,
                                                     &status)) {
            case YK_RENDEZVOUS_CLIENT_CONNECTED:
                *out = connection.fd;
                return YK_OK;
            case YK_RENDEZVOUS_CLIENT_FAILED:
                return status;
            case YK_RENDEZVOUS_CLIENT_WRONG_TOKEN:
                client.failure = "what answers there does not know the key of this run";
                break;
            case YK_RENDEZVOUS_CLIENT_RETRY:
                break;
            }
        }
        yk_rendezvous_client_sleep_backoff(&pause_s);
    } while (yk_clock_now_s() < client.end_s);
    return fail_unreached(endpoint, client.failure);
}

static yk_status fail_missing(const struct yk_rendezvous_listener *listener)
{
    struct yk_text text = {0};
    yk_text_add(&text, "the watch over ranks has not heard from ");
    yk_rendezvous_listener_describe_missing_ranks(listener, &text);
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

yk_status yk_watchdog_channel_accept_all_ranks(struct yk_watchdog_endpoint *endpoint, int32_t size,
                                               int *links)
{
    struct yk_rendezvous_listener listener = {
        .size = size,
        .token = endpoint->key,
        .length = sizeof(struct yk_watchdog_message),
        .socket_count = endpoint->socket_count,
    };
    memcpy(listener.sockets, endpoint->sockets, sizeof listener.sockets);
    endpoint->socket_count = 0;
    yk_status status = yk_rendezvous_listener_init(&listener);
    YK_IF_OK(yk_rendezvous_listener_accept_all_ranks(&listener, yk_clock_now_s() + connect_s));
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
    yk_rendezvous_listener_close(&listener);
    return status;
}

/* ---- records ---- */

void yk_watchdog_channel_send_message(int link, const struct yk_watchdog_message *message)
{
    const ssize_t sent = send(link, message, sizeof *message, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* Half a record would make nonsense of all that follows. */
    if (sent > 0 && sent < (ssize_t)sizeof *message) {
        (void)shutdown(link, SHUT_RDWR);
    }
}

static bool is_time(double s)
{
    return isfinite(s) && s >= 0;
}

bool yk_watchdog_channel_parse_message(const void *bytes, size_t length, int32_t ranks,
                                       struct yk_watchdog_message *out)
{
    struct yk_watchdog_message message;
    if (length != sizeof message) {
        return false;
    }
    memcpy(&message, bytes, sizeof message);
    bool is_sound = message.kind >= YK_WATCHDOG_MESSAGE_HEARTBEAT &&
                    message.kind <= YK_WATCHDOG_MESSAGE_GOODBYE && message.rank >= 0 &&
                    message.rank < ranks && message.reason >= 0 &&
                    message.reason <= (int32_t)YK_WATCHDOG_RANK_HUNG && message.lane >= -1 &&
                    message.lane < (int32_t)YK_WATCHDOG_LANE_COUNT && is_time(message.since_s);
    for (int i = 0; i < YK_WATCHDOG_LANE_COUNT; i++) {
        is_sound = is_sound && message.state.ops[i] >= YK_WATCHDOG_NO_OP &&
                   is_time((double)message.state.op_s[i]);
    }
    if (is_sound) {
        *out = message;
    }
    return is_sound;
}

enum yk_watchdog_channel_receive_result
yk_watchdog_channel_receive_message(int link, struct yk_watchdog_channel_receive_buffer *buffer,
                                    int32_t ranks, struct yk_watchdog_message *out)
{
    const ssize_t got =
        recv(link, buffer->bytes + buffer->size, sizeof buffer->bytes - buffer->size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        return YK_WATCHDOG_CHANNEL_CLOSED;
    }
    buffer->size += got > 0 ? (size_t)got : 0;
    if (buffer->size < sizeof buffer->bytes) {
        return YK_WATCHDOG_CHANNEL_EMPTY;
    }
    buffer->size = 0;
    return yk_watchdog_channel_parse_message(buffer->bytes, sizeof buffer->bytes, ranks, out)
               ? YK_WATCHDOG_CHANNEL_MESSAGE
               : YK_WATCHDOG_CHANNEL_CLOSED;
}
