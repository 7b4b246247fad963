/*
 * Rendezvous: how ranks without MPI come together, over TCP, once for everything to be shared.
 *
 * Rank 0 listens at the address and port that all know, on the interface that has this address and
 * on no other; the others try to connect until it is there. Each side proves that it knows the
 * job's token without sending it (HMAC-SHA256 of fresh nonces of both sides), rank numbers are
 * compared, and as soon as all have come nobody listens any more. Then rank 0's bytes go to all.
 * Others are turned away and can neither hang nor end it. A failure is sent to all that have come,
 * in the same sentence. The bytes are not encrypted. One thread at a time.
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
    const char *hint;      /* NCCL_SOCKET_IFNAME, where `address` leaves a choice; may be NULL */
    double limit_s;        /* until all must have come */
};

/* As the launcher and the environment say: YOKE_TOKEN (under torchrun the run's id serves),
 * YOKE_INTERFACE, NCCL_SOCKET_IFNAME, and YOKE_MEET_S, which is 60 unless set. The launcher and the
 * environment must stay. */
yk_status yk_rendezvous_find(const struct yk_launcher *launcher,
                             struct yk_rendezvous *out) YK_MUST_USE;

/* The bootstrap for a comm's options; `rendezvous` must stay as long as it is used. Every share()
 * of at most YK_RENDEZVOUS_MAX_BYTES bytes is a rendezvous of its own, and returns when all have
 * the bytes. */
struct yk_comm_bootstrap yk_rendezvous_bootstrap(struct yk_rendezvous *rendezvous);

enum {
    YK_RENDEZVOUS_MAX_BYTES = 1 << 20,
};

#endif
