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
#include "comm/rendezvous/address.h"
#include "comm/rendezvous/connection.h"

enum {
    YK_LISTENER_MAX_PENDING = 64, /* limit of concurrent handshakes */
};

/* The handshake with one client that has not yet proven that it knows the token. */
struct yk_listener_pending {
    struct yk_connection connection; /* fd is -1 if this entry is unused */
    double since_s;                  /* when the handshake began, on the clock */
    unsigned char received[YK_CONNECTION_RECORD_SIZE];
    size_t received_size; /* bytes of an incomplete record */
    bool greeted;         /* HELLO was received and CHALLENGE was sent */
};

enum yk_listener_pending_result {
    YK_LISTENER_PENDING_OPEN,
    YK_LISTENER_PENDING_CLOSED, /* by the client, or by the listener after invalid data */
    YK_LISTENER_PENDING_CLAIMS, /* a PROOF record has arrived and must be checked */
};

struct yk_listener {
    int32_t size; /* number of ranks */
    const char *token;
    uint32_t length;             /* number of bytes to be sent; each client must state the same */
    int sockets[YK_ADDRESS_MAX]; /* nonblocking */
    int32_t socket_count;
    /* The members below are private. */
    struct yk_listener_pending pending[YK_LISTENER_MAX_PENDING];
    struct yk_connection *clients; /* (size); fd is -1 for a rank that has not connected */
    struct pollfd *polls;
    int32_t missing;  /* number of ranks that have not connected */
    int32_t rejected; /* number of clients with another token */
};

/* The caller sets size, token and length before. It must call yk_listener_close() also if this
 * fails. */
yk_status yk_listener_open(struct yk_listener *listener) YK_MUST_USE;

/* Accepts ranks until all have connected (missing is 0) or until `end_s` on the clock. It fails if
 * a client knows the token but has a wrong rank, number of ranks or length. It sends this failure
 * to all ranks that have connected. */
yk_status yk_listener_accept_all(struct yk_listener *listener, double end_s) YK_MUST_USE;

/* Closes the listening sockets and all unfinished handshakes. */
void yk_listener_stop(struct yk_listener *listener);

/* Sends the last failure of this thread to all ranks that have connected. Returns `status`. */
yk_status yk_listener_refuse(const struct yk_listener *listener, yk_status status) YK_MUST_USE;

/* Examples: "rank 3", "ranks 1 and 2", "ranks 1, 2 and 9 more". */
void yk_listener_name_missing(const struct yk_listener *listener, struct yk_text *out);

void yk_listener_close(struct yk_listener *listener);

void yk_listener_pending_begin(struct yk_listener_pending *pending, int fd, const char *token);

/* Reads the bytes that have arrived; never waits. Sets `claim` if the result is
 * YK_LISTENER_PENDING_CLAIMS. */
yk_status yk_listener_pending_receive(struct yk_listener_pending *pending,
                                      enum yk_listener_pending_result *end,
                                      struct yk_connection_record *claim) YK_MUST_USE;

#endif
