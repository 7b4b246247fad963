/*
 * Watchdog channel: the TCP connections of the watchdog, one between rank 0 and each other rank.
 *
 * Rank 0 generates a random key and broadcasts it, with its addresses, by the communicator, which
 * is trusted. The other ranks connect, and both sides prove that they know the key without sending
 * it (comm/rendezvous/connection.h). Connecting waits, with a timeout; sending and receiving never
 * wait. Messages are not encrypted.
 */
#ifndef YK_COMM_WATCH_LINK_H
#define YK_COMM_WATCH_LINK_H

#include "base/status.h"
#include "comm/rendezvous/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_watch_lane {
    YK_WATCH_COMPUTE,
    YK_WATCH_COMM,
    YK_WATCH_COPY,
    YK_WATCH_LANES,
};

enum {
    YK_WATCH_KEY_SIZE = 65, /* 32 random bytes as hexadecimal digits, and a zero byte */
    YK_WATCH_NO_OP = -1,    /* the lane runs no op */
};

enum yk_watch_reason {
    YK_WATCH_GONE,    /* its connection closed, so the process has exited */
    YK_WATCH_SILENT,  /* no message for too long: the process is stopped, or the network is down */
    YK_WATCH_HANGING, /* it sends messages, but has been in one op for too long */
};

/* What each lane of a rank does at the moment. */
struct yk_watch_state {
    int32_t ops[YK_WATCH_LANES]; /* number of the op, or YK_WATCH_NO_OP */
    float op_s[YK_WATCH_LANES];  /* seconds since this op began */
};

enum yk_watch_record_kind {
    YK_WATCH_BEAT = 1,
    YK_WATCH_VERDICT,
    YK_WATCH_GOODBYE,
};

/* A message over a channel. All messages have this size. */
struct yk_watch_record {
    uint32_t kind; /* enum yk_watch_record_kind */
    int32_t rank;  /* the sender; in a failure report: the failed rank */
    /* The next three members are set in failure reports (struct yk_watch_verdict). */
    int32_t reason;
    int32_t lane;
    double since_s;
    struct yk_watch_state state;
};

/* The address of rank 0's listener. */
struct yk_watch_endpoint {
    char key[YK_WATCH_KEY_SIZE]; /* random for each run; clients without it are rejected */
    struct yk_address_list addresses;
    int32_t socket_count; /* listening sockets; 0 on ranks other than 0 */
    int sockets[YK_ADDRESS_MAX];
};

/* Listens on these addresses, each on a free port. */
yk_status yk_watch_link_listen(const struct yk_address_list *addresses,
                               struct yk_watch_endpoint *out) YK_MUST_USE;

void yk_watch_link_stop_listening(struct yk_watch_endpoint *endpoint);

/* Connects to rank 0; `rank` is this rank and `out` a socket. */
yk_status yk_watch_link_connect(const struct yk_watch_endpoint *endpoint, int32_t rank,
                                int32_t size, int *out) YK_MUST_USE;

/* Rank 0 accepts all other ranks, and then stops listening. links (size) receives the socket of
 * each rank; links[0] is -1. On failure all sockets are closed. */
yk_status yk_watch_link_accept_all(struct yk_watch_endpoint *endpoint, int32_t size,
                                   int *links) YK_MUST_USE;

/* Parses a message. Returns false if it is invalid. `ranks` is the number of ranks. */
bool yk_watch_link_parse(const void *bytes, size_t length, int32_t ranks,
                         struct yk_watch_record *out);

/* Never waits. The message is dropped if the send buffer of the connection is full. */
void yk_watch_link_send(int link, const struct yk_watch_record *record);

/* The bytes of a message that has arrived only in part. */
struct yk_watch_link_buffer {
    unsigned char bytes[sizeof(struct yk_watch_record)];
    size_t size;
};

enum yk_watch_link_result {
    YK_WATCH_LINK_EMPTY,  /* no complete message yet */
    YK_WATCH_LINK_RECORD, /* `out` is set */
    YK_WATCH_LINK_CLOSED, /* the connection is closed, or has sent invalid data */
};

/* Receives the next message. Never waits. */
enum yk_watch_link_result yk_watch_link_receive(int link, struct yk_watch_link_buffer *buffer,
                                                int32_t ranks, struct yk_watch_record *out);

#endif
