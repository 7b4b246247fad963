/*
 * Rendezvous call: one call of a rank to rank 0, with which both prove to each other that they know
 * the token.
 */
#ifndef YK_COMM_RENDEZVOUS_CALL_H
#define YK_COMM_RENDEZVOUS_CALL_H

#include "comm/rendezvous_place.h"
#include "comm/rendezvous_record.h"

/* What the rank says of itself, and what came of its last call. */
struct yk_call {
    const char *token;
    int32_t rank;
    int32_t size;    /* ranks of the world */
    uint32_t length; /* as for the door */
    double end_s;    /* on the clock: no call lasts longer */
    const char *trouble;
};

enum yk_call_end {
    YK_CALL_WELCOME, /* the connection is open */
    YK_CALL_AGAIN,   /* nobody is there yet, or what is there is not rank 0; `trouble` says which */
    YK_CALL_FALSE,   /* it answers as rank 0 does and does not know the token */
    YK_CALL_FAILED,  /* the status and its sentence say why; they may be rank 0's */
};

/* Calls one address. */
enum yk_call_end yk_call_one(struct yk_call *call, const struct sockaddr *address, socklen_t size,
                             struct yk_meet_talk *talk, yk_status *status);

/* The addresses one after the other, until one is not YK_CALL_AGAIN. */
enum yk_call_end yk_call_place(struct yk_call *call, const struct yk_meet_place *place,
                               struct yk_meet_talk *talk, yk_status *status);

/* Between two calls: a little longer every time; `*pause_s` starts as 0. */
void yk_call_pause(double *pause_s);

/* The next record; false: none came. */
bool yk_call_hear(const struct yk_meet_talk *talk, struct yk_meet_record *out, double end_s);

/* Rank 0's refusal becomes a failure here; false where rank 0 has not said it. */
bool yk_call_is_refused(const struct yk_meet_talk *talk, const struct yk_meet_record *refusal,
                        double end_s, yk_status *status);

#endif
