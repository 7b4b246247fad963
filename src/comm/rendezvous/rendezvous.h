/*
 * Rendezvous: how ranks without MPI find each other, over TCP; each broadcast of bytes is a
 * rendezvous of its own.
 *
 * Rank 0 listens at the address and port that all know, on the interface that has this address and
 * on no other; the others try to connect until they succeed. Each side proves that it knows the
 * job's token without sending it (HMAC-SHA256 of fresh nonces of both sides), rank numbers are
 * compared, and rank 0 stops listening as soon as all have connected. Then it sends its bytes to
 * all. Clients that do not know the token are rejected, and can neither block nor end the
 * rendezvous. A failure is sent to all ranks that have connected, in the same sentence. The bytes
 * are not encrypted. One thread at a time.
 */
#ifndef YK_COMM_RENDEZVOUS_RENDEZVOUS_H
#define YK_COMM_RENDEZVOUS_RENDEZVOUS_H

#include "base/status.h"
#include "cluster/launcher.h"
#include "comm/comm.h"

#include <stdint.h>

/* Where and how to meet. The strings are not owned. */
struct yk_rendezvous {
    int32_t rank;
    int32_t size;
    const char *address; /* of rank 0: a name or number */
    int32_t port;
    const char *token;     /* of the job: clients that do not know it are rejected */
    const char *interface; /* rank 0 listens there; NULL: where `address` is */
    const char *hint;      /* NCCL_SOCKET_IFNAME, where `address` leaves a choice; may be NULL */
    double limit_s;        /* all must have connected by then */
};

/* Reads the launcher and the environment: YOKE_TOKEN (under torchrun the run's id is used instead),
 * YOKE_INTERFACE, NCCL_SOCKET_IFNAME, and YOKE_MEET_S, which is 60 unless set. Launcher and
 * environment must outlive the result. */
yk_status yk_rendezvous_find(const struct yk_launcher *launcher,
                             struct yk_rendezvous *out) YK_MUST_USE;

/* The bootstrap for a comm's options; `rendezvous` must outlive it. Every share()
 * of at most YK_RENDEZVOUS_MAX_BYTES bytes is a rendezvous of its own, and returns when all have
 * the bytes. */
struct yk_comm_bootstrap yk_rendezvous_bootstrap(struct yk_rendezvous *rendezvous);

enum {
    YK_RENDEZVOUS_MAX_BYTES = 1 << 20,
};

#endif
