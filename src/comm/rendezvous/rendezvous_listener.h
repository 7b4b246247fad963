/*
 * Rendezvous listener: accepts the connections of the other ranks on rank 0, and checks that each
 * rank knows the token.
 *
 * All handshakes run concurrently and never block, so a client that sends nothing or invalid data
 * does not delay the ranks. A connection is closed if its handshake takes more than three seconds.
 * If there are too many handshakes, the oldest one is closed. Not thread-safe.
 */
#ifndef YK_COMM_RENDEZVOUS_RENDEZVOUS_LISTENER_H
#define YK_COMM_RENDEZVOUS_RENDEZVOUS_LISTENER_H

#include "base/text.h"
#include "comm/rendezvous/connection.h"
#include "comm/rendezvous/network_address.h"

enum {
    YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES = 64, /* maximum number of concurrent handshakes */
};

/* The handshake with one client that has not yet proven that it knows the token. */
struct yk_rendezvous_listener_handshake {
    struct yk_connection connection; /* fd is -1 if this array element is unused */
    double since_s; /* time when the handshake began, on the clock of base/clock.h */
    unsigned char received[YK_CONNECTION_RECORD_SIZE];
    size_t received_size; /* number of bytes of the incomplete record in `received` */
    bool greeted;         /* HELLO was received and CHALLENGE was sent */
};

struct yk_rendezvous_listener {
    int32_t size; /* number of ranks */
    const char *token;
    uint32_t length; /* number of bytes that rank 0 will send; equal on all ranks */
    int sockets[YK_NETWORK_ADDRESS_LIST_MAX]; /* nonblocking listening sockets */
    int32_t socket_count;
    /* The functions of this header set the members below. */
    struct yk_rendezvous_listener_handshake handshake[YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES];
    struct yk_connection *clients; /* (size) by rank; fd is -1 if the rank has not connected */
    struct pollfd *polls;
    int32_t missing;  /* number of ranks that have not connected */
    int32_t rejected; /* number of clients with a wrong token */
};

/* Prepares the listener. The caller sets size, token and length before the call, and sockets and
 * socket_count before yk_rendezvous_listener_accept_all_ranks(). The caller must call
 * yk_rendezvous_listener_close() even if this function fails. */
yk_status yk_rendezvous_listener_init(struct yk_rendezvous_listener *listener) YK_MUST_USE;

/* Accepts ranks until all of them have connected, or until `end_s` on the clock of base/clock.h.
 * Afterwards `missing` is the number of ranks that have not connected. Fails if a client knows the
 * token but has a wrong rank, number of ranks or length. This failure is also sent to this client
 * and to all ranks that have connected. */
yk_status yk_rendezvous_listener_accept_all_ranks(struct yk_rendezvous_listener *listener,
                                                  double end_s) YK_MUST_USE;

/* Closes the listening sockets and all unfinished handshakes. */
void yk_rendezvous_listener_stop_listening(struct yk_rendezvous_listener *listener);

/* Sends `status` and its message, the yk_status_message() of this thread, to all ranks that have
 * connected. Returns `status`. */
yk_status
yk_rendezvous_listener_send_failure_to_clients(const struct yk_rendezvous_listener *listener,
                                               yk_status status) YK_MUST_USE;

/* Appends the ranks that have not connected. Examples: "rank 3", "ranks 1 and 2". If more than
 * 8 ranks are missing, names 8 of them and adds the number of the others: "and 5 more". */
void yk_rendezvous_listener_describe_missing_ranks(const struct yk_rendezvous_listener *listener,
                                                   struct yk_text *out);

void yk_rendezvous_listener_close(struct yk_rendezvous_listener *listener);

void yk_rendezvous_listener_handshake_begin(struct yk_rendezvous_listener_handshake *handshake,
                                            int fd, const char *token);

/* Receives the bytes that have arrived, without blocking. Replies to HELLO with CHALLENGE. If a
 * complete PROOF record has arrived, sets `*has_claim` to true and stores the record in `*claim`;
 * the caller must verify it. If the client has closed the connection or has sent invalid data, the
 * connection is closed and its fd becomes -1. */
yk_status
yk_rendezvous_listener_handshake_advance(struct yk_rendezvous_listener_handshake *handshake,
                                         bool *has_claim,
                                         struct yk_connection_record *claim) YK_MUST_USE;

#endif
