/*
 * Link: the connections of the watch, a star around rank 0.
 *
 * Rank 0 draws a key and hands it out with its addresses over what already joins the ranks (MPI or
 * NCCL), which is trusted. The others connect, and both sides prove that they know the key without
 * sending it (comm/rendezvous/connection.h). Making connections waits for the other side, until a
 * limit; using them never does. What they carry is not encrypted.
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
    YK_WATCH_KEY_SIZE = 65, /* 32 random bytes in hexadecimal digits */
};

enum {
    YK_WATCH_NO_OP = -1,
};

enum yk_watch_reason {
    YK_WATCH_GONE,    /* its connection closed: the process has ended */
    YK_WATCH_SILENT,  /* nothing received from it: stopped, or cut off */
    YK_WATCH_HANGING, /* it is there, but in one op for too long */
};

/* What a rank reports of itself. */
struct yk_watch_state {
    int32_t ops[YK_WATCH_LANES]; /* YK_WATCH_NO_OP: in none */
    float op_s[YK_WATCH_LANES];  /* in it for so long */
};

enum yk_watch_record_kind {
    YK_WATCH_BEAT = 1,
    YK_WATCH_VERDICT,
    YK_WATCH_GOODBYE,
};

/* What goes over a connection, all of it in one size. */
struct yk_watch_record {
    uint32_t kind; /* enum yk_watch_record_kind */
    int32_t rank;  /* the sender; of a verdict: who is lost */
    int32_t reason;
    int32_t lane;
    double since_s;
    struct yk_watch_state state;
};

/* How to find rank 0. */
struct yk_watch_endpoint {
    char key[YK_WATCH_KEY_SIZE]; /* of this run: who does not know it is turned away */
    struct yk_address_list addresses;
    int32_t socket_count; /* 0: this process is not rank 0 */
    int sockets[YK_ADDRESS_MAX];
};

/* Listens at these addresses, at ports that are free. */
yk_status yk_watch_link_listen(const struct yk_address_list *addresses,
                               struct yk_watch_endpoint *out) YK_MUST_USE;

/* Stops listening. */
void yk_watch_link_stop_listening(struct yk_watch_endpoint *endpoint);

/* Rank `rank`'s connection to rank 0. */
yk_status yk_watch_link_connect(const struct yk_watch_endpoint *endpoint, int32_t rank,
                                int32_t size, int *out) YK_MUST_USE;

/* Rank 0's: links[i] for the ranks from 1 to size − 1; links[0] is -1. On failure all are closed.
 * Stops listening. */
yk_status yk_watch_link_accept_all(struct yk_watch_endpoint *endpoint, int32_t size,
                                   int *links) YK_MUST_USE;

/* A record from its bytes; false: `length` bytes are none, or none that a rank of `ranks` sends. */
bool yk_watch_link_parse(const void *bytes, size_t length, int32_t ranks,
                         struct yk_watch_record *out);

/* Never waits: what does not fit into the connection is left out. */
void yk_watch_link_send(int link, const struct yk_watch_record *record);

/* Bytes of a record that is not whole yet. */
struct yk_watch_link_buffer {
    unsigned char bytes[sizeof(struct yk_watch_record)];
    size_t size;
};

enum yk_watch_link_result {
    YK_WATCH_LINK_EMPTY, /* for now */
    YK_WATCH_LINK_RECORD,
    YK_WATCH_LINK_CLOSED, /* the connection is closed, or carries no records */
};

enum yk_watch_link_result yk_watch_link_receive(int link, struct yk_watch_link_buffer *buffer,
                                                int32_t ranks, struct yk_watch_record *out);

#endif
