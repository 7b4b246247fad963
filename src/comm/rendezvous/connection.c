#include "comm/rendezvous/connection.h"

#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static const char magic[8] = {'y', 'o', 'k', 'e', 'm', 'e', 't', '1'};

void yk_connection_close(struct yk_connection *connection)
{
    if (connection->fd >= 0) {
        (void)close(connection->fd);
    }
    connection->fd = -1;
}

yk_status yk_connection_generate_nonce(unsigned char nonce[YK_CONNECTION_NONCE_SIZE])
{
    return getrandom(nonce, YK_CONNECTION_NONCE_SIZE, 0) == YK_CONNECTION_NONCE_SIZE
               ? YK_OK
               : yk_fail(YK_ERROR_SYSTEM, "ranks that meet cannot draw a random number: %s",
                         strerror(errno));
}

void yk_connection_set_tcp_nodelay(int fd)
{
    const int yes = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static unsigned char *write_number(unsigned char *at, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(number >> (24 - 8 * i));
    }
    return at + 4;
}

static uint32_t read_number(const unsigned char **at)
{
    const unsigned char *b = *at;
    *at += 4;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

void yk_connection_serialize_record(const struct yk_connection_record *record,
                                    unsigned char out[YK_CONNECTION_RECORD_SIZE])
{
    unsigned char *at = out;
    memcpy(at, magic, sizeof magic);
    at = write_number(at + sizeof magic, record->kind);
    at = write_number(at, (uint32_t)record->rank);
    at = write_number(at, (uint32_t)record->size);
    at = write_number(at, record->status);
    at = write_number(at, record->length);
    memcpy(at, record->nonce, YK_CONNECTION_NONCE_SIZE);
    memcpy(at + YK_CONNECTION_NONCE_SIZE, record->proof, YK_SHA256_DIGEST_BYTES);
}

bool yk_connection_parse_record(const unsigned char bytes[YK_CONNECTION_RECORD_SIZE],
                                struct yk_connection_record *out)
{
    const unsigned char *at = bytes + sizeof magic;
    if (memcmp(bytes, magic, sizeof magic) != 0) {
        return false;
    }
    out->kind = read_number(&at);
    out->rank = (int32_t)read_number(&at);
    out->size = (int32_t)read_number(&at);
    out->status = read_number(&at);
    out->length = read_number(&at);
    memcpy(out->nonce, at, YK_CONNECTION_NONCE_SIZE);
    memcpy(out->proof, at + YK_CONNECTION_NONCE_SIZE, YK_SHA256_DIGEST_BYTES);
    return true;
}

static void prove(const struct yk_connection *connection, const struct yk_connection_record *record,
                  const void *following, unsigned char out[YK_SHA256_DIGEST_BYTES])
{
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    struct yk_sha256_hmac hmac;
    yk_connection_serialize_record(record, wire);
    yk_sha256_hmac_begin(&hmac, connection->token, strlen(connection->token));
    yk_sha256_hmac_update(&hmac, wire, YK_CONNECTION_RECORD_SIZE - YK_SHA256_DIGEST_BYTES);
    yk_sha256_hmac_update(&hmac, connection->client_nonce, sizeof connection->client_nonce);
    yk_sha256_hmac_update(&hmac, connection->server_nonce, sizeof connection->server_nonce);
    if (following) {
        yk_sha256_hmac_update(&hmac, following, record->length);
    }
    yk_sha256_hmac_end(&hmac, out);
}

bool yk_connection_verify_proof(const struct yk_connection *connection,
                                const struct yk_connection_record *record, const void *following)
{
    unsigned char proof[YK_SHA256_DIGEST_BYTES];
    prove(connection, record, following, proof);
    return yk_sha256_equals_constant_time(proof, record->proof);
}

bool yk_connection_wait_until_ready(int fd, bool for_writing, double end_s)
{
    for (;;) {
        const double left_s = end_s - yk_clock_now_s();
        struct pollfd poller = {.fd = fd, .events = for_writing ? POLLOUT : POLLIN};
        if (left_s <= 0) {
            return false;
        }
        const int ready = poll(&poller, 1, left_s < 1e3 ? (int)(left_s * 1e3) + 1 : 1000000);
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return ready > 0;
        }
    }
}

static bool may_go_on(ssize_t got)
{
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static bool send_all(int fd, const void *bytes, size_t size, double end_s)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t sent = send(fd, at, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
        } else if (!may_go_on(sent) || !yk_connection_wait_until_ready(fd, true, end_s)) {
            return false;
        }
    }
    return true;
}

bool yk_connection_receive_bytes(int fd, void *bytes, size_t size, double end_s)
{
    char *at = bytes;
    while (size > 0) {
        const ssize_t got = recv(fd, at, size, MSG_DONTWAIT);
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        } else if (!may_go_on(got) || !yk_connection_wait_until_ready(fd, false, end_s)) {
            return false;
        }
    }
    return true;
}

bool yk_connection_send_record(const struct yk_connection *connection,
                               const struct yk_connection_record *record, const void *following,
                               double end_s)
{
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    struct yk_connection_record proven = *record;
    if (record->kind != YK_CONNECTION_HELLO && record->kind != YK_CONNECTION_CHALLENGE) {
        prove(connection, record, following, proven.proof);
    }
    yk_connection_serialize_record(&proven, wire);
    return send_all(connection->fd, wire, sizeof wire, end_s) &&
           (!following || send_all(connection->fd, following, record->length, end_s));
}

void yk_connection_send_refusal(const struct yk_connection *connection, yk_status status,
                                const char *sentence, double end_s)
{
    const size_t length = strlen(sentence);
    const struct yk_connection_record record = {
        .kind = YK_CONNECTION_REFUSED,
        .status = (uint32_t)status,
        .length = (uint32_t)(length < YK_CONNECTION_MESSAGE_SIZE ? length
                                                                 : YK_CONNECTION_MESSAGE_SIZE - 1),
    };
    (void)yk_connection_send_record(connection, &record, sentence, end_s);
}
