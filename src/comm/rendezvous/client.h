/*
 * Client: one attempt of a rank to connect to rank 0, in which both prove to each other that they
 * know the token. Any thread, one for each client.
 */
#ifndef YK_COMM_RENDEZVOUS_CLIENT_H
#define YK_COMM_RENDEZVOUS_CLIENT_H

#include "comm/rendezvous/address.h"
#include "comm/rendezvous/connection.h"

/* What the rank says of itself, and what came of its last attempt. */
struct yk_client {
    const char *token;
    int32_t rank;
    int32_t size;    /* ranks of the world */
    uint32_t length; /* as for the listener */
    double end_s;    /* on the clock: no attempt lasts longer */
    const char *failure;
};

enum yk_client_result {
    YK_CLIENT_CONNECTED, /* the connection is open */
    YK_CLIENT_RETRY, /* nobody is there yet, or what is there is not rank 0; `failure` says which */
    YK_CLIENT_WRONG_TOKEN, /* it answers as rank 0 does and does not know the token */
    YK_CLIENT_FAILED,      /* the status and its sentence say why; they may be rank 0's */
};

enum yk_client_result yk_client_connect(struct yk_client *client, const struct sockaddr *address,
                                        socklen_t size, struct yk_connection *connection,
                                        yk_status *status);

/* The addresses one after the other, until one is not YK_CLIENT_RETRY. */
enum yk_client_result yk_client_connect_any(struct yk_client *client,
                                            const struct yk_address_list *addresses,
                                            struct yk_connection *connection, yk_status *status);

/* Sleeps between two attempts: a little longer every time; `*pause_s` starts as 0. */
void yk_client_back_off(double *pause_s);

/* The next record; false: none came. */
bool yk_client_receive(const struct yk_connection *connection, struct yk_connection_record *out,
                       double end_s);

/* Rank 0's refusal becomes a failure here; false where rank 0 has not said it. */
bool yk_client_is_refused(const struct yk_connection *connection,
                          const struct yk_connection_record *refusal, double end_s,
                          yk_status *status);

#endif
