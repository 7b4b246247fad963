#include "comm/rendezvous/rendezvous_client.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const double reply_s = 3; /* for rank 0, once it is there */
static const double shortest_pause_s = 0.01;
static const double longest_pause_s = 0.5;

static double until(const struct yk_rendezvous_client *client, double most_s)
{
    const double end_s = yk_clock_now_s() + most_s;
    return end_s < client->end_s ? end_s : client->end_s;
}

static bool connect_within(int fd, const struct sockaddr *address, socklen_t size, double end_s)
{
    int problem = 0;
    socklen_t problem_size = sizeof problem;
    const int yes = 1;
    /* On rank 0's machine the system may choose its port for this socket, which must not keep rank
     * 0 from listening there. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (connect(fd, address, size) == 0) {
        return true;
    }
    if (errno != EINPROGRESS) {
        return false;
    }
    if (!yk_connection_wait_until_ready(fd, true, end_s)) {
        errno = ETIMEDOUT;
        return false;
    }
    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &problem_size);
    errno = problem;
    return problem == 0;
}

bool yk_rendezvous_client_receive_record(const struct yk_connection *connection,
                                         struct yk_connection_record *out, double end_s)
{
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    return yk_connection_receive_bytes(connection->fd, wire, sizeof wire, end_s) &&
           yk_connection_parse_record(wire, out);
}

bool yk_rendezvous_client_receive_refusal_message(const struct yk_connection *connection,
                                                  const struct yk_connection_record *refusal,
                                                  double end_s, yk_status *status)
{
    char sentence[YK_CONNECTION_MESSAGE_SIZE] = "";
    if (refusal->length >= sizeof sentence ||
        !yk_connection_receive_bytes(connection->fd, sentence, refusal->length, end_s) ||
        !yk_connection_verify_proof(connection, refusal, sentence)) {
        return false;
    }
    *status =
        yk_fail(refusal->status == YK_ERROR_LOST ? YK_ERROR_LOST : YK_ERROR_INPUT, "%s", sentence);
    return true;
}

static enum yk_rendezvous_client_connect_result authenticate(struct yk_rendezvous_client *client,
                                                             struct yk_connection *connection,
                                                             yk_status *status)
{
    struct yk_connection_record received;
    struct yk_connection_record hello = {.kind = YK_CONNECTION_HELLO};
    const struct yk_connection_record proof = {.kind = YK_CONNECTION_PROOF,
                                               .rank = client->rank,
                                               .size = client->size,
                                               .length = client->length};
    const double end_s = until(client, reply_s);
    client->failure = "what answers there is not rank 0";
    *status = yk_connection_generate_nonce(hello.nonce);
    if (*status != YK_OK) {
        return YK_RENDEZVOUS_CLIENT_FAILED;
    }
    memcpy(connection->client_nonce, hello.nonce, YK_CONNECTION_NONCE_SIZE);
    if (!yk_connection_send_record(connection, &hello, NULL, end_s) ||
        !yk_rendezvous_client_receive_record(connection, &received, end_s) ||
        received.kind != YK_CONNECTION_CHALLENGE) {
        return YK_RENDEZVOUS_CLIENT_RETRY;
    }
    memcpy(connection->server_nonce, received.nonce, YK_CONNECTION_NONCE_SIZE);
    if (!yk_connection_send_record(connection, &proof, NULL, end_s) ||
        !yk_rendezvous_client_receive_record(connection, &received, end_s)) {
        return YK_RENDEZVOUS_CLIENT_RETRY;
    }
    if (received.kind == YK_CONNECTION_REFUSED) {
        return yk_rendezvous_client_receive_refusal_message(connection, &received, end_s, status)
                   ? YK_RENDEZVOUS_CLIENT_FAILED
                   : YK_RENDEZVOUS_CLIENT_WRONG_TOKEN;
    }
    return received.kind == YK_CONNECTION_WELCOME &&
                   yk_connection_verify_proof(connection, &received, NULL)
               ? YK_RENDEZVOUS_CLIENT_CONNECTED
               : YK_RENDEZVOUS_CLIENT_WRONG_TOKEN;
}

enum yk_rendezvous_client_connect_result
yk_rendezvous_client_try_connect(struct yk_rendezvous_client *client,
                                 const struct yk_network_address_list *addresses, int32_t i,
                                 struct yk_connection *connection, yk_status *status)
{
    const struct sockaddr *address = (const struct sockaddr *)&addresses->addresses[i];
    *connection = (struct yk_connection){.token = client->token};
    connection->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection->fd < 0 ||
        !connect_within(connection->fd, address, addresses->sizes[i], until(client, reply_s))) {
        client->failure = strerror(errno);
        yk_connection_close(connection);
        return YK_RENDEZVOUS_CLIENT_RETRY;
    }
    yk_connection_set_tcp_nodelay(connection->fd);
    const enum yk_rendezvous_client_connect_result end = authenticate(client, connection, status);
    if (end != YK_RENDEZVOUS_CLIENT_CONNECTED) {
        yk_connection_close(connection);
    }
    return end;
}

void yk_rendezvous_client_sleep_backoff(double *pause_s)
{
    const double longer_s = 1.5 * *pause_s;
    *pause_s = longer_s < shortest_pause_s  ? shortest_pause_s
               : longer_s > longest_pause_s ? longest_pause_s
                                            : longer_s;
    (void)usleep((useconds_t)(1e6 * *pause_s));
}
