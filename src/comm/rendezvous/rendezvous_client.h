/*
 * Rendezvous client: connects a rank to rank 0. During the handshake, both sides prove that they
 * know the token. Only one thread at a time may use a client.
 */
#ifndef YK_COMM_RENDEZVOUS_RENDEZVOUS_CLIENT_H
#define YK_COMM_RENDEZVOUS_RENDEZVOUS_CLIENT_H

#include "comm/rendezvous/connection.h"
#include "comm/rendezvous/network_address.h"

struct yk_rendezvous_client {
    const char *token;
    int32_t rank;
    int32_t size;        /* number of ranks */
    uint32_t length;     /* number of bytes that rank 0 will send; equal on all ranks */
    double end_s;        /* deadline of all attempts, on the clock of base/clock.h */
    const char *failure; /* why the most recent attempt failed */
};

enum yk_rendezvous_client_connect_result {
    YK_RENDEZVOUS_CLIENT_CONNECTED,
    YK_RENDEZVOUS_CLIENT_RETRY,       /* no server listens yet, or the server is not yoke */
    YK_RENDEZVOUS_CLIENT_WRONG_TOKEN, /* the server is yoke, but has another token */
    YK_RENDEZVOUS_CLIENT_FAILED,      /* `*status` is the failure of this rank or of rank 0 */
};

/* Makes one attempt, of a few seconds, to connect to address `i` of the list. After RETRY,
 * client->failure says why. */
enum yk_rendezvous_client_connect_result
yk_rendezvous_client_try_connect(struct yk_rendezvous_client *client,
                                 const struct yk_network_address_list *addresses, int32_t i,
                                 struct yk_connection *connection, yk_status *status);

/* Sleeps between two attempts to connect. Each call sleeps longer than the call before, up to half
 * a second. `*pause_s` is the duration; set it to 0 before the first call. */
void yk_rendezvous_client_sleep_backoff(double *pause_s);

/* Receives one record. Returns false if no valid record arrives before `end_s`. */
bool yk_rendezvous_client_receive_record(const struct yk_connection *connection,
                                         struct yk_connection_record *out, double end_s);

/* Receives the error message that follows the record `refusal`, and sets `*status` to this failure.
 * Returns false if the message does not arrive or its proof is not valid. */
bool yk_rendezvous_client_receive_refusal_message(const struct yk_connection *connection,
                                                  const struct yk_connection_record *refusal,
                                                  double end_s, yk_status *status);

#endif
