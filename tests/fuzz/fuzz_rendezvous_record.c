/*
 * Fuzz target of what ranks that meet say to each other: the bytes are one record and what follows
 * it, and all that a caller of rank 0 says before it has proven to be a rank. A record is packed in
 * one way only, and only who knows the token proves one.
 */
#include "fuzz/fuzz.h"

#include "comm/rendezvous/rendezvous_listener.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_BYTES = 4096, /* what a connection holds without being read */
};

static void check_record(const uint8_t *data, size_t size)
{
    struct yk_connection_record record;
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    const struct yk_connection connection = {.fd = -1, .token = "token"};
    if (size < YK_CONNECTION_RECORD_SIZE || !yk_connection_parse_record(data, &record)) {
        return;
    }
    fuzz_accept();
    yk_connection_serialize_record(&record, wire);
    fuzz_expect(memcmp(wire, data, sizeof wire) == 0, "a record is packed in one way only");
    fuzz_expect(!yk_connection_verify_proof(&connection, &record, NULL),
                "who has no token proves nothing");
    if (record.length <= size - YK_CONNECTION_RECORD_SIZE) {
        fuzz_expect(
            !yk_connection_verify_proof(&connection, &record, data + YK_CONNECTION_RECORD_SIZE),
            "whatever follows proves nothing");
    }
}

/* Whoever sends the record says so with a proof; the other side believes it, and nothing else. */
static void check_proof(const uint8_t *data, size_t size, const int *ends)
{
    struct yk_connection_record record;
    struct yk_connection_record received;
    unsigned char wire[YK_CONNECTION_RECORD_SIZE];
    unsigned char following[MAX_BYTES];
    const struct yk_connection connection = {.fd = ends[1], .token = "token"};
    if (size < YK_CONNECTION_RECORD_SIZE || !yk_connection_parse_record(data, &record) ||
        record.kind < YK_CONNECTION_PROOF) {
        return;
    }
    record.length = (uint32_t)(size - YK_CONNECTION_RECORD_SIZE);
    fuzz_expect(
        yk_connection_send_record(&connection, &record, data + YK_CONNECTION_RECORD_SIZE, 0) &&
            yk_connection_receive_bytes(ends[0], wire, sizeof wire, 0) &&
            yk_connection_receive_bytes(ends[0], following, record.length, 0),
        "what was said is heard");
    fuzz_expect(yk_connection_parse_record(wire, &received) &&
                    yk_connection_verify_proof(&connection, &received, following),
                "who knows the token is believed");
    received.rank ^= 1;
    fuzz_expect(!yk_connection_verify_proof(&connection, &received, following),
                "a changed record is not");
}

static void check_pending(const uint8_t *data, size_t size, const int *ends)
{
    struct yk_rendezvous_listener_handshake handshake;
    struct yk_connection_record claim;
    bool has_claim = false;
    const int fd = dup(ends[0]); /* a visit that makes no sense closes its own */
    yk_rendezvous_listener_handshake_begin(&handshake, fd, "token");
    fuzz_expect(write(ends[1], data, size) == (ssize_t)size && shutdown(ends[1], SHUT_WR) == 0,
                "there is room");
    while (handshake.connection.fd >= 0) {
        fuzz_expect(yk_rendezvous_listener_handshake_advance(&handshake, &has_claim, &claim) ==
                        YK_OK,
                    "there are random numbers");
        if (has_claim) {
            fuzz_accept();
            fuzz_expect(handshake.greeted && claim.kind == YK_CONNECTION_PROOF,
                        "a claim follows a greeting");
            fuzz_expect(!yk_connection_verify_proof(&handshake.connection, &claim, NULL),
                        "strangers prove nothing");
        }
    }
    fuzz_expect(!has_claim, "a visit that is over makes no claim");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    if (size > MAX_BYTES) {
        return 0;
    }
    fuzz_expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there is a connection");
    check_record(data, size);
    check_proof(data, size, ends);
    check_pending(data, size, ends);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return 0;
}
