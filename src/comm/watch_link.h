/*
 * Watch link: the connections of the watch, a star around rank 0. Blocking while they are made,
 * never afterwards.
 */
#ifndef YK_COMM_WATCH_LINK_H
#define YK_COMM_WATCH_LINK_H

#include "base/status.h"

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
    YK_WATCH_ADDRESSES = 8,
    YK_WATCH_ADDRESS_SIZE = 46, /* of an IPv6 address in words */
    YK_WATCH_MACHINE_SIZE = 64,
    YK_WATCH_TOKEN_SIZE = 16,
};

/* What a rank tells of itself. */
struct yk_watch_state {
    int64_t round;
    int32_t ops[YK_WATCH_LANES]; /* YK_WATCH_NO_OP: in none */
    float op_s[YK_WATCH_LANES];  /* in it for so long */
};

enum yk_watch_word {
    YK_WATCH_HELLO = 1, /* with the token: the first thing on a connection, and its answer */
    YK_WATCH_BEAT,
    YK_WATCH_VERDICT,
    YK_WATCH_GOODBYE,
};

/* What goes over a connection, all of it in one size. */
struct yk_watch_record {
    uint32_t word;
    int32_t rank; /* the sender; of a verdict: who is lost */
    int32_t reason;
    int32_t lane;
    double since_s;
    unsigned char token[YK_WATCH_TOKEN_SIZE];
    struct yk_watch_state state;
};

/* How to find rank 0. Those without a listener are what rank 0 hands out. */
struct yk_watch_invitation {
    unsigned char token[YK_WATCH_TOKEN_SIZE]; /* of this run: others who call are turned away */
    int32_t port;
    int32_t address_count;
    char addresses[YK_WATCH_ADDRESSES][YK_WATCH_ADDRESS_SIZE];
    int32_t listener; /* -1: not ours */
};

/* Which machine this is, in words that no other has. */
void yk_watch_machine(char out[YK_WATCH_MACHINE_SIZE]);

/* Listens: on this machine alone, or on all its addresses. */
yk_status yk_watch_invite(bool is_local, struct yk_watch_invitation *out) YK_MUST_USE;

/* A connection to rank 0 that has been answered. */
yk_status yk_watch_call(const struct yk_watch_invitation *invitation, int32_t rank,
                        int *out) YK_MUST_USE;

/* The connections of ranks 1 to size − 1; links[0] is -1. On failure all are closed. */
yk_status yk_watch_welcome(const struct yk_watch_invitation *invitation, int32_t size,
                           int *links) YK_MUST_USE;

/* Never waits: what does not fit into the connection is left out. */
void yk_watch_tell(int link, const struct yk_watch_record *record);

/* Bytes of a record that is not whole yet. */
struct yk_watch_ear {
    unsigned char bytes[sizeof(struct yk_watch_record)];
    size_t size;
};

enum yk_watch_heard {
    YK_WATCH_HEARD_NOTHING, /* for now */
    YK_WATCH_HEARD_RECORD,
    YK_WATCH_HEARD_END, /* the connection is closed */
};

enum yk_watch_heard yk_watch_hear(int link, struct yk_watch_ear *ear, struct yk_watch_record *out);

#endif
