/*
 * Rendezvous: ranks without MPI find each other over TCP, and rank 0 broadcasts bytes to them. Each
 * broadcast is a separate rendezvous.
 *
 * Rank 0 listens on one address and port that all ranks know. The other ranks try to connect until
 * they succeed. Each side proves that it knows the token of the job without sending it (HMAC-SHA256
 * of fresh nonces of both sides). When all ranks have connected, rank 0 stops listening and sends
 * its bytes. Clients without the token are rejected; they cannot block or end the rendezvous. A
 * failure is sent to all connected ranks, so that they report the same message. The bytes are not
 * encrypted. Not thread-safe.
 */
#ifndef YK_COMM_RENDEZVOUS_RENDEZVOUS_H
#define YK_COMM_RENDEZVOUS_RENDEZVOUS_H

#include "base/status.h"
#include "cluster/launcher.h"
#include "comm/comm.h"

#include <stdint.h>

/* Options of a rendezvous. The strings belong to the caller. */
struct yk_rendezvous_options {
    int32_t rank;
    int32_t size;
    const char *address; /* host name or numeric address of rank 0 */
    int32_t port;
    const char *token;     /* secret of the job */
    const char *interface; /* network interface on which rank 0 listens; NULL: that of `address` */
    const char
        *nccl_interfaces; /* NCCL_SOCKET_IFNAME, used if `address` has several addresses, or NULL */
    double timeout_s;     /* timeout in seconds until all ranks have connected */
};

/* Reads the options from the launcher and the environment: YOKE_TOKEN (under torchrun, its run id
 * is the default), YOKE_INTERFACE, NCCL_SOCKET_IFNAME, and YOKE_MEET_S (default 60). Launcher and
 * environment must outlive the result. */
yk_status yk_rendezvous_read_environment(const struct yk_launcher *launcher,
                                         struct yk_rendezvous_options *out) YK_MUST_USE;

/* Returns a bootstrap for the options of a comm backend. Each share() is one rendezvous of at most
 * YK_RENDEZVOUS_MAX_BYTES bytes; it returns when all ranks have the bytes. `rendezvous` must
 * outlive the result. */
struct yk_comm_bootstrap yk_rendezvous_make_bootstrap(struct yk_rendezvous_options *rendezvous);

enum {
    YK_RENDEZVOUS_MAX_BYTES = 1 << 20,
};

#endif
