/*
 * Connection: what two ranks that meet send each other, records of one size and what follows some
 * of them, and how they prove that they know the token.
 *
 *   client  HELLO      its nonce
 *   server  CHALLENGE  its nonce
 *   client  PROOF      rank, size of the world and of the bytes, proof
 *   server  WELCOME    proof; or REFUSED, followed by a sentence
 *   server  BYTES      proof, followed by them, once all have come; or REFUSED
 *   client  RECEIVED   proof
 *   server  DONE       proof, once all have them; or REFUSED
 *
 * A proof is the HMAC, by the token, of the record, both nonces and what follows: none can be used
 * twice or elsewhere. One thread at a time.
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
    YK_CONNECTION_RECORD_SIZE = 92,    /* on the wire */
    YK_CONNECTION_SENTENCE_SIZE = 512, /* at most, with its end */
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
    int32_t rank;    /* of a proof: the client's */
    int32_t size;    /* ranks of the world */
    uint32_t status; /* of a refusal */
    uint32_t length; /* of the bytes; of what follows */
    unsigned char nonce[YK_CONNECTION_NONCE_SIZE];
    unsigned char proof[YK_SHA256_SIZE];
};

struct yk_connection {
    int fd; /* -1: none */
    const char *token;
    unsigned char client_nonce[YK_CONNECTION_NONCE_SIZE];
    unsigned char server_nonce[YK_CONNECTION_NONCE_SIZE];
};

/* Small records go out at once: TCP_NODELAY. */
void yk_connection_set_no_delay(int fd);

void yk_connection_close(struct yk_connection *connection);

yk_status yk_connection_draw_nonce(unsigned char nonce[YK_CONNECTION_NONCE_SIZE]) YK_MUST_USE;

void yk_connection_pack(const struct yk_connection_record *record,
                        unsigned char out[YK_CONNECTION_RECORD_SIZE]);
/* False: that is no record. */
bool yk_connection_unpack(const unsigned char bytes[YK_CONNECTION_RECORD_SIZE],
                          struct yk_connection_record *out);

/* Whether the proof of `record` and what follows it (NULL: nothing) is one. */
bool yk_connection_is_proven(const struct yk_connection *connection,
                             const struct yk_connection_record *record, const void *following);

/* Sends it and record.length bytes of what follows, if that is not NULL, until `end_s` on the
 * clock. All but HELLO and CHALLENGE are proven on the way. */
bool yk_connection_send(const struct yk_connection *connection,
                        const struct yk_connection_record *record, const void *following,
                        double end_s);

/* Refuses with the sentence of the last failure. */
void yk_connection_refuse(const struct yk_connection *connection, yk_status status,
                          const char *sentence, double end_s);

/* Exactly so many bytes by `end_s`; false: the connection ended, or the time. */
bool yk_connection_receive(int fd, void *bytes, size_t size, double end_s);

/* Waits until it can be read (or written) or it is `end_s`. */
bool yk_connection_wait(int fd, bool for_writing, double end_s);

#endif
