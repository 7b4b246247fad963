/*
 * Rendezvous: how ranks that no MPI brings together meet, over TCP, once for each thing to share.
 *
 * Rank 0 listens at the address and port that all know, on the interface that has this address and
 * on no other; the others call it and keep trying until it is there. Each side proves that it knows
 * the job's token without saying it (HMAC-SHA256 of fresh random numbers of both sides), rank
 * numbers are compared, and as soon as all have come nobody listens any more. Then rank 0's bytes
 * go to all. Strangers are turned away and can neither hang nor end it. What goes wrong is told to
 * all that have come, in the same sentence.
 *
 * The bytes are not encrypted. One thread at a time.
 */
#ifndef YK_COMM_RENDEZVOUS_RENDEZVOUS_H
#define YK_COMM_RENDEZVOUS_RENDEZVOUS_H

#include "base/status.h"
#include "cluster/launcher.h"
#include "comm/comm.h"

#include <stdint.h>

/* Where and how to meet. The strings belong to others. */
struct yk_rendezvous {
    int32_t rank;
    int32_t size;
    const char *address; /* of rank 0: a name or number */
    int32_t port;
    const char *token;     /* of the job: who does not know it is turned away */
    const char *interface; /* rank 0 listens there; NULL: where `address` is */
    const char *hint; /* interfaces in NCCL's words, where `address` leaves a choice; may be NULL */
    double limit_s;   /* until all must have come */
};

/* As the launcher and the environment say: YOKE_TOKEN (under torchrun the run's id serves),
 * YOKE_INTERFACE, NCCL_SOCKET_IFNAME, and YOKE_MEET_S, which is 60 unless set. The launcher and the
 * environment must stay. */
yk_status yk_rendezvous_find(const struct yk_launcher *launcher,
                             struct yk_rendezvous *out) YK_MUST_USE;

/* The meeting for a comm's options; `rendezvous` must stay as long as it is used. Every share() of
 * at most YK_RENDEZVOUS_MAX_BYTES bytes meets anew, and returns when all have the bytes. */
struct yk_comm_bootstrap yk_rendezvous_bootstrap(struct yk_rendezvous *rendezvous);

enum {
    YK_RENDEZVOUS_MAX_BYTES = 1 << 20,
};

#endif
