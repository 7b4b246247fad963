/*
 * Connection: the protocol between rank 0 (the server) and another rank (a client). Each message is
 * a record of fixed size. Some records are followed by a payload.
 *
 *   client  HELLO      nonce of the client
 *   server  CHALLENGE  nonce of the server
 *   client  PROOF      rank, number of ranks, number of bytes that the client expects
 *   server  WELCOME    the proof is valid
 *   server  BYTES      when all ranks have connected; the payload is the bytes
 *   client  RECEIVED
 *   server  DONE       when all ranks have received the bytes
 *
 * Instead of WELCOME, BYTES or DONE, the server may send REFUSED. Its payload is an error message.
 *
 * All records after CHALLENGE contain a proof: the HMAC-SHA256, with the token as key, of the
 * record, both nonces and the payload. Because of the nonces, a proof is valid only in its own
 * connection. Not thread-safe.
 */
#ifndef YK_COMM_RENDEZVOUS_CONNECTION_H
#define YK_COMM_RENDEZVOUS_CONNECTION_H

#include "base/sha256.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_CONNECTION_NONCE_SIZE = 32,
    YK_CONNECTION_RECORD_SIZE = 92,   /* number of bytes of a record on the network */
    YK_CONNECTION_MESSAGE_SIZE = 512, /* maximum size of an error message, with its zero byte */
};

enum yk_connection_record_kind {
    YK_CONNECTION_HELLO = 1,
    YK_CONNECTION_CHALLENGE,
    YK_CONNECTION_PROOF,
    YK_CONNECTION_WELCOME,
    YK_CONNECTION_REFUSED,
    YK_CONNECTION_BYTES,
    YK_CONNECTION_RECEIVED,
    YK_CONNECTION_DONE,
};

struct yk_connection_record {
    uint32_t kind;
    int32_t rank;    /* in PROOF: the client's rank */
    int32_t size;    /* number of ranks */
    uint32_t status; /* in REFUSED: a yk_status */
    uint32_t length; /* size of the payload; in PROOF: size of the payload of BYTES */
    unsigned char nonce[YK_CONNECTION_NONCE_SIZE];
    unsigned char proof[YK_SHA256_DIGEST_BYTES];
};

struct yk_connection {
    int fd; /* socket; -1 means: not connected */
    const char *token;
    unsigned char client_nonce[YK_CONNECTION_NONCE_SIZE];
    unsigned char server_nonce[YK_CONNECTION_NONCE_SIZE];
};

/* Makes the socket send small messages at once. */
void yk_connection_set_tcp_nodelay(int fd);

void yk_connection_close(struct yk_connection *connection);

yk_status yk_connection_generate_nonce(unsigned char nonce[YK_CONNECTION_NONCE_SIZE]) YK_MUST_USE;

void yk_connection_serialize_record(const struct yk_connection_record *record,
                                    unsigned char out[YK_CONNECTION_RECORD_SIZE]);
/* Returns false if the bytes are not a valid record. */
bool yk_connection_parse_record(const unsigned char bytes[YK_CONNECTION_RECORD_SIZE],
                                struct yk_connection_record *out);

/* Returns whether the proof in `record` is valid. `following` is the payload; NULL means: no
 * payload. */
bool yk_connection_verify_proof(const struct yk_connection *connection,
                                const struct yk_connection_record *record, const void *following);

/* Sends the record and the payload `following`, which has record->length bytes; NULL means: no
 * payload. Adds the proof to all records but HELLO and CHALLENGE. Returns false if sending fails or
 * does not end before `end_s` on the clock of base/clock.h. */
bool yk_connection_send_record(const struct yk_connection *connection,
                               const struct yk_connection_record *record, const void *following,
                               double end_s);

/* Sends REFUSED with this status and error message. */
void yk_connection_send_refusal(const struct yk_connection *connection, yk_status status,
                                const char *sentence, double end_s);

/* Receives exactly `size` bytes. Returns false if the connection closes, or `end_s` is reached,
 * before all bytes have arrived. */
bool yk_connection_receive_bytes(int fd, void *bytes, size_t size, double end_s);

/* Waits until `fd` is readable or, if `for_writing` is true, writable. Returns false if this does
 * not happen before `end_s`. */
bool yk_connection_wait_until_ready(int fd, bool for_writing, double end_s);

#endif
