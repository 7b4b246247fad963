/*
 * Rendezvous visit: somebody who has called rank 0 and has not proven yet to be a rank. Nobody is
 * waited for: what has been said so far is heard, and the rest when it comes.
 */
#ifndef YK_COMM_RENDEZVOUS_PENDING_H
#define YK_COMM_RENDEZVOUS_PENDING_H

#include "comm/rendezvous/connection.h"

struct yk_visit {
    struct yk_connection talk; /* without a link there is no visit */
    double since_s;
    unsigned char heard[YK_CONNECTION_RECORD_SIZE];
    size_t heard_size;
    bool greeted;
};

enum yk_listener_pending_result {
    YK_LISTENER_PENDING_OPEN,
    YK_LISTENER_PENDING_CLOSED, /* it has left, or makes no sense, and was hung up on */
    YK_LISTENER_PENDING_CLAIMS, /* it says which rank it is, with a proof to be looked at */
};

void yk_listener_pending_begin(struct yk_visit *visit, int link, const char *token);

/* What there is to hear; where it claims, `claim` is what. */
yk_status yk_listener_pending_receive(struct yk_visit *visit, enum yk_listener_pending_result *end,
                                      struct yk_connection_record *claim) YK_MUST_USE;

#endif
