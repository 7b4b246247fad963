#include "comm/rendezvous/rendezvous_listener.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_NAMED = 8, /* ranks in a sentence */
};

static const double proof_s = 3;     /* in which a connection must have its proof */
static const double crowded_s = 0.1; /* after which it makes room where there is none */
static const double send_s = 2;      /* for a few bytes to go out */
static const double round_s = 0.1;   /* until pending connections are checked again */
static const double full_s = 0.01;   /* the same while there is no room */

/* ---- connections without a proof ---- */

void yk_rendezvous_listener_handshake_begin(struct yk_rendezvous_listener_handshake *handshake,
                                            int fd, const char *token)
{
    yk_connection_set_tcp_nodelay(fd);
    *handshake = (struct yk_rendezvous_listener_handshake){
        .connection = {.fd = fd, .token = token},
        .since_s = yk_clock_now_s(),
    };
}

static yk_status reply_to_hello(struct yk_rendezvous_listener_handshake *handshake,
                                const struct yk_connection_record *hello)
{
    struct yk_connection_record reply = {.kind = YK_CONNECTION_CHALLENGE};
    YK_TRY(yk_connection_generate_nonce(reply.nonce));
    memcpy(handshake->connection.client_nonce, hello->nonce, YK_CONNECTION_NONCE_SIZE);
    memcpy(handshake->connection.server_nonce, reply.nonce, YK_CONNECTION_NONCE_SIZE);
    handshake->greeted = true;
    /* So little goes out at once or not at all. */
    if (!yk_connection_send_record(&handshake->connection, &reply, NULL, 0)) {
        yk_connection_close(&handshake->connection);
    }
    return YK_OK;
}

yk_status
yk_rendezvous_listener_handshake_advance(struct yk_rendezvous_listener_handshake *handshake,
                                         bool *has_claim, struct yk_connection_record *claim)
{
    const ssize_t got =
        recv(handshake->connection.fd, handshake->received + handshake->received_size,
             YK_CONNECTION_RECORD_SIZE - handshake->received_size, MSG_DONTWAIT);
    *has_claim = false;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        yk_connection_close(&handshake->connection);
        return YK_OK;
    }
    handshake->received_size += got > 0 ? (size_t)got : 0;
    if (handshake->received_size < YK_CONNECTION_RECORD_SIZE) {
        return YK_OK;
    }
    struct yk_connection_record received;
    const bool known = yk_connection_parse_record(handshake->received, &received);
    handshake->received_size = 0;
    if (known && !handshake->greeted && received.kind == YK_CONNECTION_HELLO) {
        return reply_to_hello(handshake, &received);
    }
    *has_claim = known && handshake->greeted && received.kind == YK_CONNECTION_PROOF;
    if (*has_claim) {
        *claim = received;
    } else {
        yk_connection_close(&handshake->connection);
    }
    return YK_OK;
}

/* ---- the listener ---- */

yk_status yk_rendezvous_listener_init(struct yk_rendezvous_listener *listener)
{
    const size_t ranks = (size_t)listener->size;
    for (int32_t i = 0; i < YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES; i++) {
        listener->handshake[i].connection.fd = -1;
    }
    listener->missing = listener->size - 1;
    listener->clients = calloc(ranks, sizeof *listener->clients);
    listener->polls =
        calloc(YK_NETWORK_ADDRESS_LIST_MAX + YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES + ranks,
               sizeof *listener->polls);
    for (size_t i = 0; listener->clients && i < ranks; i++) {
        listener->clients[i].fd = -1;
    }
    return listener->clients && listener->polls ? YK_OK : yk_fail_out_of_memory();
}

void yk_rendezvous_listener_stop_listening(struct yk_rendezvous_listener *listener)
{
    for (int32_t i = 0; i < listener->socket_count; i++) {
        (void)close(listener->sockets[i]);
    }
    listener->socket_count = 0;
    for (int32_t i = 0; i < YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES; i++) {
        yk_connection_close(&listener->handshake[i].connection);
    }
}

void yk_rendezvous_listener_close(struct yk_rendezvous_listener *listener)
{
    yk_rendezvous_listener_stop_listening(listener);
    for (int32_t i = 0; listener->clients && i < listener->size; i++) {
        yk_connection_close(&listener->clients[i]);
    }
    free(listener->clients);
    free(listener->polls);
    listener->clients = NULL;
    listener->polls = NULL;
}

/* ---- those who have come ---- */

/* Whether a client that has come has left again: nobody sends before all have come. */
static bool has_left(int fd)
{
    char byte;
    const ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static void drop_closed(struct yk_rendezvous_listener *listener, int32_t rank)
{
    if (listener->clients[rank].fd >= 0 && has_left(listener->clients[rank].fd)) {
        yk_connection_close(&listener->clients[rank]);
        listener->missing++;
    }
}

yk_status
yk_rendezvous_listener_send_failure_to_clients(const struct yk_rendezvous_listener *listener,
                                               yk_status status)
{
    const double end_s = yk_clock_now_s() + send_s;
    for (int32_t i = 1; i < listener->size; i++) {
        if (listener->clients[i].fd >= 0) {
            yk_connection_send_refusal(&listener->clients[i], status, yk_status_message(), end_s);
        }
    }
    return status;
}

void yk_rendezvous_listener_describe_missing_ranks(const struct yk_rendezvous_listener *listener,
                                                   struct yk_text *out)
{
    int32_t named = 0;
    const int32_t max_named = listener->missing < MAX_NAMED ? listener->missing : MAX_NAMED;
    yk_text_add(out, listener->missing > 1 ? "ranks " : "rank ");
    for (int32_t i = 1; i < listener->size && named < max_named; i++) {
        if (listener->clients[i].fd < 0) {
            const bool last = named + 1 == listener->missing;
            yk_text_addf(out, "%s%" PRId32, named == 0 ? "" : last ? " and " : ", ", i);
            named++;
        }
    }
    if (named < listener->missing) {
        yk_text_addf(out, " and %" PRId32 " more", listener->missing - named);
    }
}

/* ---- those who call ---- */

static yk_status check_claim(struct yk_rendezvous_listener *listener,
                             const struct yk_connection_record *claim)
{
    const int32_t size = listener->size;
    if (claim->size != size) {
        return yk_fail(YK_ERROR_INPUT,
                       "rank %" PRId32 " says that there are %" PRId32
                       " ranks and rank 0 that there are %" PRId32 "; tell all ranks the same",
                       claim->rank, claim->size, size);
    }
    if (claim->rank < 1 || claim->rank >= size) {
        return yk_fail(YK_ERROR_INPUT,
                       "a second process says that it is rank %" PRId32 "; the others of %" PRId32
                       " are ranks 1 to %" PRId32,
                       claim->rank, size, size - 1);
    }
    if (claim->length != listener->length) {
        return yk_fail(YK_ERROR_INPUT,
                       "rank %" PRId32 " is another version of yoke than rank 0; install the same "
                       "on all machines",
                       claim->rank);
    }
    drop_closed(listener, claim->rank);
    if (listener->clients[claim->rank].fd >= 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "two processes say that they are rank %" PRId32 " of %" PRId32
                       "; give each a number of its own",
                       claim->rank, size);
    }
    return YK_OK;
}

/* Who knows the token is a rank; where it cannot be one of these, nothing will come of it. */
static yk_status check_and_accept(struct yk_rendezvous_listener *listener,
                                  struct yk_rendezvous_listener_handshake *handshake,
                                  const struct yk_connection_record *claim)
{
    const double end_s = yk_clock_now_s() + send_s;
    const struct yk_connection_record welcome = {.kind = YK_CONNECTION_WELCOME,
                                                 .size = listener->size};
    if (!yk_connection_verify_proof(&handshake->connection, claim, NULL)) {
        /* At once or not at all. */
        yk_connection_send_refusal(&handshake->connection, YK_ERROR_INPUT, "", 0);
        yk_connection_close(&handshake->connection);
        listener->rejected++;
        return YK_OK;
    }
    const yk_status status = check_claim(listener, claim);
    if (status != YK_OK) {
        yk_connection_send_refusal(&handshake->connection, status, yk_status_message(), end_s);
        return yk_rendezvous_listener_send_failure_to_clients(listener, status);
    }
    if (!yk_connection_send_record(&handshake->connection, &welcome, NULL, end_s)) {
        yk_connection_close(&handshake->connection);
        return YK_OK;
    }
    listener->clients[claim->rank] = handshake->connection;
    handshake->connection.fd = -1;
    listener->missing--;
    return YK_OK;
}

static yk_status receive(struct yk_rendezvous_listener *listener,
                         struct yk_rendezvous_listener_handshake *handshake)
{
    struct yk_connection_record claim = {0};
    bool has_claim = false;
    YK_TRY(yk_rendezvous_listener_handshake_advance(handshake, &has_claim, &claim));
    return has_claim ? check_and_accept(listener, handshake, &claim) : YK_OK;
}

/* A free place, if need be that of who has been there longest and could have been done. */
static struct yk_rendezvous_listener_handshake *find_room(struct yk_rendezvous_listener *listener)
{
    const double now_s = yk_clock_now_s();
    struct yk_rendezvous_listener_handshake *oldest = &listener->handshake[0];
    for (int32_t i = 0; i < YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES; i++) {
        struct yk_rendezvous_listener_handshake *handshake = &listener->handshake[i];
        if (handshake->connection.fd < 0) {
            return handshake;
        }
        oldest = handshake->since_s < oldest->since_s ? handshake : oldest;
    }
    return now_s - oldest->since_s > crowded_s ? oldest : NULL;
}

/* All that call there, as far as there is room; the others stay in the system's queue. */
static void accept_new(struct yk_rendezvous_listener *listener, int socket)
{
    for (struct yk_rendezvous_listener_handshake *handshake = find_room(listener); handshake;
         handshake = find_room(listener)) {
        const int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            yk_connection_close(&handshake->connection);
            yk_rendezvous_listener_handshake_begin(handshake, fd, listener->token);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* poll() would return at once, again and again: let callers without a proof go. */
            yk_connection_close(&handshake->connection);
            (void)usleep((useconds_t)(1e6 * full_s));
        }
        return;
    }
}

static void drop_slow(struct yk_rendezvous_listener *listener)
{
    const double now_s = yk_clock_now_s();
    for (int32_t i = 0; i < YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES; i++) {
        if (listener->handshake[i].connection.fd >= 0 &&
            now_s - listener->handshake[i].since_s > proof_s) {
            yk_connection_close(&listener->handshake[i].connection);
        }
    }
}

/* poll() skips those without a socket, -1; while there is no room nobody is accepted. */
static int wait_for_any(struct yk_rendezvous_listener *listener, struct pollfd *pending,
                        struct pollfd *clients, double end_s)
{
    const bool has_room = find_room(listener) != NULL;
    const double most_s = has_room ? round_s : full_s;
    const double left_s = end_s - yk_clock_now_s();
    const nfds_t count = (nfds_t)listener->socket_count + YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES +
                         (nfds_t)listener->size;
    for (int32_t i = 0; i < listener->socket_count; i++) {
        listener->polls[i] =
            (struct pollfd){.fd = has_room ? listener->sockets[i] : -1, .events = POLLIN};
    }
    for (int32_t i = 0; i < YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES; i++) {
        pending[i] = (struct pollfd){.fd = listener->handshake[i].connection.fd, .events = POLLIN};
    }
    for (int32_t i = 0; i < listener->size; i++) {
        clients[i] = (struct pollfd){.fd = listener->clients[i].fd, .events = POLLIN};
    }
    /* Less than nothing would be for ever. */
    return poll(listener->polls, count,
                left_s > 0 ? (int)(1e3 * (left_s < most_s ? left_s : most_s)) + 1 : 0);
}

/* One look at all connections. */
static yk_status poll_once(struct yk_rendezvous_listener *listener, double end_s)
{
    struct pollfd *pending = listener->polls + listener->socket_count;
    struct pollfd *clients = pending + YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES;
    if (wait_for_any(listener, pending, clients, end_s) <= 0) {
        return YK_OK;
    }
    for (int32_t i = 0; i < listener->size; i++) {
        if (clients[i].revents) {
            drop_closed(listener, i);
        }
    }
    for (int32_t i = 0; i < YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES; i++) {
        if (pending[i].revents && listener->handshake[i].connection.fd >= 0) {
            YK_TRY(receive(listener, &listener->handshake[i]));
        }
    }
    for (int32_t i = 0; i < listener->socket_count; i++) {
        if (listener->polls[i].revents) {
            accept_new(listener, listener->sockets[i]);
        }
    }
    return YK_OK;
}

yk_status yk_rendezvous_listener_accept_all_ranks(struct yk_rendezvous_listener *listener,
                                                  double end_s)
{
    while (listener->missing > 0 && yk_clock_now_s() < end_s) {
        YK_TRY(poll_once(listener, end_s));
        drop_slow(listener);
    }
    return YK_OK;
}
