/*
 * Rendezvous: connects ranks without MPI over TCP, and broadcasts bytes of rank 0 to all ranks.
 * Each broadcast is a separate rendezvous.
 *
 * Rank 0 listens on one address and port that all ranks know. The other ranks try to connect until
 * they succeed. Both sides prove that they know the token of the job, without sending the token
 * (they send an HMAC-SHA256 of new nonces of both sides). When all ranks have connected, rank 0
 * stops listening and sends its bytes. Clients that do not know the token are rejected; they cannot
 * block or end the rendezvous. A failure is sent to all connected ranks, so that all ranks report
 * the same message. The bytes are not encrypted. Not thread-safe.
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
    const char *interface; /* network interface where rank 0 listens; NULL means: use `address` */
    const char *nccl_interfaces; /* value of NCCL_SOCKET_IFNAME; used if the host `address` has
                                    several addresses or only loopback addresses; may be NULL */
    double timeout_s;            /* maximum time until all ranks have connected */
};

/* Reads the options from the launcher and the environment: YOKE_TOKEN (with torchrun, the default
 * is the run id of torchrun, unless it is "none"), YOKE_INTERFACE, NCCL_SOCKET_IFNAME, and
 * YOKE_MEET_S (the timeout; default 60). The result points to strings of the launcher and of the
 * environment, which must stay valid and unchanged. */
yk_status yk_rendezvous_options_from_environment(const struct yk_launcher *launcher,
                                                 struct yk_rendezvous_options *out) YK_MUST_USE;

/* Returns a bootstrap for the options of a comm backend. Each call of share() is one rendezvous: it
 * sends at most YK_RENDEZVOUS_MAX_BYTES bytes, and returns when all ranks have received them.
 * `rendezvous` must outlive the result. */
struct yk_comm_bootstrap yk_rendezvous_make_bootstrap(struct yk_rendezvous_options *rendezvous);

enum {
    YK_RENDEZVOUS_MAX_BYTES = 1 << 20,
};

#endif
