/*
 * Rendezvous listener: rank 0 accepts the connections of the other ranks, and checks that each one
 * knows the token.
 *
 * All handshakes run concurrently and never block, so that a client which sends nothing or invalid
 * data does not delay the ranks. A handshake that takes more than a few seconds is closed. If there
 * are too many handshakes, the oldest one is closed. Not thread-safe.
 */
#ifndef YK_COMM_RENDEZVOUS_LISTENER_H
#define YK_COMM_RENDEZVOUS_LISTENER_H

#include "base/text.h"
#include "comm/rendezvous/connection.h"
#include "comm/rendezvous/network_address.h"

enum {
    YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES = 64, /* limit of concurrent handshakes */
};

/* The handshake with one client that has not yet proven that it knows the token. */
struct yk_rendezvous_listener_handshake {
    struct yk_connection connection; /* fd is -1 if this entry is unused */
    double since_s;                  /* when the handshake began, on the clock */
    unsigned char received[YK_CONNECTION_RECORD_SIZE];
    size_t received_size; /* bytes of an incomplete record */
    bool greeted;         /* HELLO was received and CHALLENGE was sent */
};

struct yk_rendezvous_listener {
    int32_t size; /* number of ranks */
    const char *token;
    uint32_t length; /* number of bytes to be sent; each client must state the same */
    int sockets[YK_NETWORK_ADDRESS_LIST_MAX]; /* nonblocking */
    int32_t socket_count;
    /* The members below are private. */
    struct yk_rendezvous_listener_handshake handshake[YK_RENDEZVOUS_LISTENER_MAX_HANDSHAKES];
    struct yk_connection *clients; /* (size); fd is -1 for a rank that has not connected */
    struct pollfd *polls;
    int32_t missing;  /* number of ranks that have not connected */
    int32_t rejected; /* number of clients with another token */
};

/* The caller sets size, token and length before. It must call yk_rendezvous_listener_close() also
 * if this fails. */
yk_status yk_rendezvous_listener_open(struct yk_rendezvous_listener *listener) YK_MUST_USE;

/* Accepts ranks until all have connected (missing is 0) or until `end_s` on the clock. It fails if
 * a client knows the token but has a wrong rank, number of ranks or length. It sends this failure
 * to all ranks that have connected. */
yk_status yk_rendezvous_listener_accept_all_ranks(struct yk_rendezvous_listener *listener,
                                                  double end_s) YK_MUST_USE;

/* Closes the listening sockets and all unfinished handshakes. */
void yk_rendezvous_listener_stop(struct yk_rendezvous_listener *listener);

/* Sends the last failure of this thread to all ranks that have connected. Returns `status`. */
yk_status
yk_rendezvous_listener_send_failure_to_clients(const struct yk_rendezvous_listener *listener,
                                               yk_status status) YK_MUST_USE;

/* Examples: "rank 3", "ranks 1 and 2", "ranks 1, 2 and 9 more". */
void yk_rendezvous_listener_describe_missing_ranks(const struct yk_rendezvous_listener *listener,
                                                   struct yk_text *out);

void yk_rendezvous_listener_close(struct yk_rendezvous_listener *listener);

void yk_rendezvous_listener_handshake_begin(struct yk_rendezvous_listener_handshake *handshake,
                                            int fd, const char *token);

/* Reads the bytes that have arrived; never waits. `has_claim` says whether a PROOF record is
 * complete, which is `claim` and must be checked. The connection is closed, with an fd of -1, if
 * the client has closed it or has sent invalid data. */
yk_status
yk_rendezvous_listener_handshake_receive(struct yk_rendezvous_listener_handshake *handshake,
                                         bool *has_claim,
                                         struct yk_connection_record *claim) YK_MUST_USE;

#endif
