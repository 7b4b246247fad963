/*
 * Rendezvous client: connects a rank to rank 0. During the handshake each side proves to the other
 * that it knows the token. A client is used by one thread at a time.
 */
#ifndef YK_COMM_RENDEZVOUS_CLIENT_H
#define YK_COMM_RENDEZVOUS_CLIENT_H

#include "comm/rendezvous/connection.h"
#include "comm/rendezvous/network_address.h"

struct yk_rendezvous_client {
    const char *token;
    int32_t rank;
    int32_t size;        /* number of ranks */
    uint32_t length;     /* number of bytes that will be sent; equal on both sides */
    double end_s;        /* deadline of an attempt, on the clock of base/clock.h */
    const char *failure; /* why the last attempt failed */
};

enum yk_rendezvous_client_result {
    YK_RENDEZVOUS_CLIENT_CONNECTED,
    YK_RENDEZVOUS_CLIENT_RETRY,       /* no server yet, or another program; `failure` says which */
    YK_RENDEZVOUS_CLIENT_WRONG_TOKEN, /* the server is yoke, but has another token */
    YK_RENDEZVOUS_CLIENT_FAILED,      /* `status` is the failure; rank 0 may have sent it */
};

/* Makes one attempt, at address `i` of the list. */
enum yk_rendezvous_client_result
yk_rendezvous_client_connect(struct yk_rendezvous_client *client,
                             const struct yk_network_address_list *addresses, int32_t i,
                             struct yk_connection *connection, yk_status *status);

/* Sleeps between two attempts, with exponential backoff. `*pause_s` starts as 0. */
void yk_rendezvous_client_sleep_backoff(double *pause_s);

/* Receives one record. Returns false if none arrives before `end_s`. */
bool yk_rendezvous_client_receive_record(const struct yk_connection *connection,
                                         struct yk_connection_record *out, double end_s);

/* Receives the rest of a refusal, and sets `status` to the failure it carries. Returns false if it
 * is not a valid message of rank 0. */
bool yk_rendezvous_client_receive_refusal(const struct yk_connection *connection,
                                          const struct yk_connection_record *refusal, double end_s,
                                          yk_status *status);

#endif
