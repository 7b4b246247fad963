/*
 * Watchdog channel: the TCP connections of the watchdog, one between rank 0 and each other rank.
 *
 * Rank 0 generates a random key. It broadcasts the key and its addresses over the communicator,
 * which is trusted. The other ranks connect to rank 0. Both sides prove that they know the key,
 * without sending it (comm/rendezvous/connection.h). Connecting blocks, with a timeout. Sending and
 * receiving never block. Messages are not encrypted.
 */
#ifndef YK_COMM_WATCHDOG_WATCHDOG_CHANNEL_H
#define YK_COMM_WATCHDOG_WATCHDOG_CHANNEL_H

#include "base/status.h"
#include "comm/rendezvous/network_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_watchdog_lane {
    YK_WATCHDOG_LANE_COMPUTE,
    YK_WATCHDOG_LANE_COMM,
    YK_WATCHDOG_LANE_COPY,
    YK_WATCHDOG_LANE_COUNT,
};

enum {
    YK_WATCHDOG_KEY_SIZE = 65, /* 32 random bytes as hexadecimal digits, and a zero byte */
    YK_WATCHDOG_NO_OP = -1,    /* the lane runs no op */
};

enum yk_watchdog_failure_reason {
    YK_WATCHDOG_RANK_EXITED, /* the connection was closed, so the process of the rank has exited */
    YK_WATCHDOG_RANK_UNRESPONSIVE, /* no message has arrived for too long: the process is stopped,
                                      or the network is down */
    YK_WATCHDOG_RANK_HUNG, /* the rank sends messages, but has been in one op, or in no op, for too
                              long */
};

/* The op that each lane of a rank is running. */
struct yk_watchdog_current_ops {
    int32_t ops[YK_WATCHDOG_LANE_COUNT]; /* number of the current op, or YK_WATCHDOG_NO_OP */
    float op_s[YK_WATCHDOG_LANE_COUNT];  /* seconds since the current op began or, if there is
                                            no current op, since the previous op ended */
};

enum yk_watchdog_message_kind {
    YK_WATCHDOG_MESSAGE_HEARTBEAT = 1,
    YK_WATCHDOG_MESSAGE_FAILURE,
    YK_WATCHDOG_MESSAGE_GOODBYE,
};

/* A message of the watchdog. All messages have the same size. */
struct yk_watchdog_message {
    uint32_t kind; /* enum yk_watchdog_message_kind */
    int32_t rank;  /* rank of the sender; in a failure message: the failed rank */
    /* `reason`, `lane` and `since_s` are set only in a failure message. They are the same as in
     * struct yk_watchdog_failure. */
    int32_t reason;
    int32_t lane;
    double since_s;
    struct yk_watchdog_current_ops state; /* state of `rank`; not set in a goodbye message */
};

/* The sockets on which rank 0 listens, and what the other ranks need in order to connect to them.
 */
struct yk_watchdog_endpoint {
    char key[YK_WATCHDOG_KEY_SIZE]; /* new random key in each run; clients that do not know it
                                       are rejected */
    struct yk_network_address_list addresses;
    int32_t socket_count; /* number of listening sockets; 0 on ranks other than 0 */
    int sockets[YK_NETWORK_ADDRESS_LIST_MAX];
};

/* Generates the key, and listens on a free port of each address. */
yk_status yk_watchdog_channel_listen(const struct yk_network_address_list *addresses,
                                     struct yk_watchdog_endpoint *out) YK_MUST_USE;

void yk_watchdog_channel_stop_listening(struct yk_watchdog_endpoint *endpoint);

/* Connects to rank 0. `rank` is this rank. `*out` is the socket of the connection. */
yk_status yk_watchdog_channel_connect_to_rank0(const struct yk_watchdog_endpoint *endpoint,
                                               int32_t rank, int32_t size, int *out) YK_MUST_USE;

/* Accepts the connections of all other ranks, then stops listening. Only rank 0 calls this
 * function. Sets links[i] to the socket of rank i, for i from 1 to `size` - 1, and links[0] to -1.
 * If the function fails, it closes all sockets. */
yk_status yk_watchdog_channel_accept_all_ranks(struct yk_watchdog_endpoint *endpoint, int32_t size,
                                               int *links) YK_MUST_USE;

/* Parses a message. Returns false if the message is invalid. `ranks` is the number of ranks. */
bool yk_watchdog_channel_parse_message(const void *bytes, size_t length, int32_t ranks,
                                       struct yk_watchdog_message *out);

/* Sends a message without blocking. The message is dropped if the send buffer of the socket is
 * full. If only a part of the message fits into the buffer, the connection is shut down. */
void yk_watchdog_channel_send_message(int link, const struct yk_watchdog_message *message);

/* The first bytes of a message whose other bytes have not arrived yet. */
struct yk_watchdog_channel_receive_buffer {
    unsigned char bytes[sizeof(struct yk_watchdog_message)];
    size_t size;
};

enum yk_watchdog_channel_receive_result {
    YK_WATCHDOG_CHANNEL_EMPTY,   /* no complete message yet */
    YK_WATCHDOG_CHANNEL_MESSAGE, /* `out` is set */
    YK_WATCHDOG_CHANNEL_CLOSED,  /* the connection is closed, or invalid data has arrived */
};

/* Receives the next message without blocking. `ranks` is the number of ranks. */
enum yk_watchdog_channel_receive_result
yk_watchdog_channel_receive_message(int link, struct yk_watchdog_channel_receive_buffer *buffer,
                                    int32_t ranks, struct yk_watchdog_message *out);

#endif
