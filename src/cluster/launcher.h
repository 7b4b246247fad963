/*
 * Launcher: finds the rank of this process, the number of ranks, and the address of rank 0. They
 * come from the environment variables of mpirun, srun or torchrun, from RANK and WORLD_SIZE (which
 * any other launcher can set), or from the command line. Without a launcher there is one rank.
 */
#ifndef YK_CLUSTER_LAUNCHER_H
#define YK_CLUSTER_LAUNCHER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_LAUNCHER_ADDRESS_SIZE = 256,   /* including the terminating zero */
    YK_LAUNCHER_DEFAULT_PORT = 29500, /* the same default as in torchrun */
};

struct yk_launcher {
    /* "mpirun", "srun" or "torchrun"; "env" means: RANK and WORLD_SIZE; "hand" means: the command
     * line; NULL means: no launcher */
    const char *name;
    int32_t rank;
    int32_t size;           /* number of ranks */
    int32_t local_rank;     /* index of this rank among the ranks of this machine */
    int32_t local_size;     /* number of ranks on this machine; if unknown: local_rank + 1 */
    bool is_bound_to_cores; /* the launcher has bound this process to cores */
    bool uses_rendezvous; /* the ranks connect with a rendezvous (comm/rendezvous), not with MPI */
    char address[YK_LAUNCHER_ADDRESS_SIZE]; /* address of rank 0 for a rendezvous, or "" */
    int32_t port;
};

/* Reads the environment. Thread-safe as long as no thread changes the environment. */
yk_status yk_launcher_detect(struct yk_launcher *out) YK_MUST_USE;

/* Uses a rank and a number of ranks from the command line. `master` is the address of rank 0: HOST,
 * HOST:PORT or [ADDRESS]:PORT. The local rank and the local size come from LOCAL_RANK and
 * LOCAL_WORLD_SIZE if these are set; otherwise the local rank is 0. */
yk_status yk_launcher_from_options(int64_t rank, int64_t size, const char *master,
                                   struct yk_launcher *out) YK_MUST_USE;

#endif
