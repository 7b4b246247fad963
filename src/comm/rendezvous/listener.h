/*
 * Listener: where ranks connect to rank 0 and prove that they are ranks.
 *
 * All connections are served at once and none is waited for: one that sends nothing, half of a
 * record or nonsense costs the ranks no time. It is closed after a few seconds without a proof;
 * when there are too many, the oldest without a proof is closed, once it has had time for one.
 */
#ifndef YK_COMM_RENDEZVOUS_LISTENER_H
#define YK_COMM_RENDEZVOUS_LISTENER_H

#include "base/text.h"
#include "comm/rendezvous/address.h"
#include "comm/rendezvous/connection.h"

enum {
    YK_LISTENER_MAX_PENDING = 64, /* connections without a proof */
};

/* A connection whose other side has not proven yet to be a rank. Nobody waits for it: what has come
 * so far is read, and the rest when it comes. */
struct yk_listener_pending {
    struct yk_connection connection; /* no socket: free */
    double since_s;
    unsigned char received[YK_CONNECTION_RECORD_SIZE];
    size_t received_size;
    bool greeted;
};

enum yk_listener_pending_result {
    YK_LISTENER_PENDING_OPEN,
    YK_LISTENER_PENDING_CLOSED, /* by the other side, or here since it makes no sense */
    YK_LISTENER_PENDING_CLAIMS, /* it says which rank it is, with a proof to be checked */
};

struct yk_listener {
    int32_t size; /* ranks of the world */
    const char *token;
    uint32_t length; /* that every rank must say; another one is another version of yoke */
    int sockets[YK_ADDRESS_MAX];
    int32_t socket_count;
    /* The listener's own. */
    struct yk_listener_pending pending[YK_LISTENER_MAX_PENDING];
    struct yk_connection *clients; /* (size); those without a socket have not come */
    struct pollfd *polls;
    int32_t missing;
    int32_t rejected; /* who did not know the token */
};

/* With size, token and length set. Close it whatever comes of it. */
yk_status yk_listener_open(struct yk_listener *listener) YK_MUST_USE;

/* Until all ranks have come (missing is 0) or it is `end_s` on the clock. Sockets must not
 * block. Ranks that cannot be of this world are a failure, which is sent to all that have come. */
yk_status yk_listener_accept_all(struct yk_listener *listener, double end_s) YK_MUST_USE;

/* Closes the sockets and the connections without a proof. */
void yk_listener_stop(struct yk_listener *listener);

/* Sends the sentence of the last failure to all that have come; it stays this thread's last. */
yk_status yk_listener_refuse(const struct yk_listener *listener, yk_status status) YK_MUST_USE;

/* "rank 3", "ranks 1 and 2", "ranks 1, 2 and 9 more". */
void yk_listener_name_missing(const struct yk_listener *listener, struct yk_text *out);

void yk_listener_close(struct yk_listener *listener);

void yk_listener_pending_begin(struct yk_listener_pending *pending, int fd, const char *token);

/* Reads what has come; `claim` is set with YK_LISTENER_PENDING_CLAIMS. */
yk_status yk_listener_pending_receive(struct yk_listener_pending *pending,
                                      enum yk_listener_pending_result *end,
                                      struct yk_connection_record *claim) YK_MUST_USE;

#endif
