/*
 * Launcher: which rank of how many this process is, and where the ranks meet, as the launcher that
 * started it says in the environment: mpirun, srun, torchrun, anybody who sets RANK and WORLD_SIZE,
 * or a person by hand. Without a launcher there is one process.
 */
#ifndef YK_CLUSTER_LAUNCHER_H
#define YK_CLUSTER_LAUNCHER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_LAUNCHER_ADDRESS_SIZE = 256, /* of a host's name or address in words */
    YK_LAUNCHER_PORT = 29500,       /* where none is said: torchrun's */
};

struct yk_launcher {
    const char *name; /* "mpirun", "srun", "torchrun", "env", "hand"; NULL: none */
    int32_t rank;
    int32_t size;
    int32_t local_rank; /* among the ranks of this machine */
    int32_t local_size;
    bool bound; /* to cores of its own */
    bool meets; /* no MPI: the ranks come together by a rendezvous (comm/rendezvous) with rank 0 */
    char address[YK_LAUNCHER_ADDRESS_SIZE]; /* of rank 0, where they meet; else "" */
    int32_t port;
};

/* Reads the environment; any thread, as long as none changes it. */
yk_status yk_launcher_find(struct yk_launcher *out) YK_MUST_USE;

/* Rank `rank` of `size` as a person says; `master` is where rank 0 is: HOST, HOST:PORT or
 * [ADDRESS]:PORT. Which rank of this machine it is, LOCAL_RANK may say. */
yk_status yk_launcher_manual(int64_t rank, int64_t size, const char *master,
                             struct yk_launcher *out) YK_MUST_USE;

#endif
