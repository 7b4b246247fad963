/*
 * Launcher: which rank of how many this process is, as the launcher that started it says in the
 * environment: mpirun, or srun with PMIx. Without a launcher a process is alone.
 */
#ifndef YK_CLUSTER_LAUNCHER_H
#define YK_CLUSTER_LAUNCHER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_launcher {
    const char *name; /* "mpirun", "srun"; NULL: none */
    int32_t rank;
    int32_t size;
    int32_t local_rank; /* among the ranks of this machine */
    int32_t local_size;
    bool bound; /* to cores of its own */
};

/* Reads the environment; any thread, as long as none changes it. */
yk_status yk_launcher_find(struct yk_launcher *out) YK_MUST_USE;

#endif
