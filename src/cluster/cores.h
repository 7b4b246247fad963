/*
 * Cores: assigns CPU cores to the threads of each rank, so that ranks on one machine do not
 * compete. A core here is a logical CPU of the operating system. If the launcher has bound a rank
 * to cores, the rank uses these cores. Otherwise the cores of the machine are divided among its
 * ranks.
 */
#ifndef YK_CLUSTER_CORES_H
#define YK_CLUSTER_CORES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/launcher.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_cpu_core {
    int32_t number;  /* logical CPU number of the operating system */
    int32_t sibling; /* index among the logical CPUs (hardware threads) of the same physical core */
};

/* The cores that this process may use, sorted so that cores with shared caches are adjacent. */
struct yk_allowed_cores {
    struct yk_cpu_core *cores;
    int32_t count;
    int32_t machine_count; /* number of cores of the machine */
};

struct yk_cores_request {
    struct yk_launcher launcher;
    /* (launcher.local_size) number of compute threads of each rank on this machine; NULL means: as
     * many as the rank has cores. If the launcher has bound the ranks to cores, only the element of
     * this rank is used. */
    const int32_t *threads;
};

/* The cores assigned to one rank. */
struct yk_cores_assignment {
    int32_t *compute; /* (compute_count) cores; thread i uses compute[i mod compute_count] */
    int32_t compute_count;
    int32_t comm_core;           /* core of the thread that runs the comm lane; -1 if `shared` */
    bool is_comm_core_exclusive; /* no compute thread uses comm_core */
    bool shared; /* the launcher has bound several ranks to these cores: threads are not pinned */
};

/* Finds the cores in the affinity mask of this process. Must be called before threads are pinned.
 */
yk_status yk_cores_find_allowed(struct yk_arena *arena, struct yk_allowed_cores *out) YK_MUST_USE;

/* Assigns cores to this rank. The thread of the comm lane gets its own core if there are more cores
 * than compute threads. */
yk_status yk_cores_assign(const struct yk_cores_request *request,
                          const struct yk_allowed_cores *allowed, struct yk_arena *arena,
                          struct yk_cores_assignment *out) YK_MUST_USE;

/* Appends a description. Example: "rank 1: compute on cores 2-3, messages on core 3". */
void yk_cores_describe(const struct yk_cores_assignment *cores, int32_t rank, struct yk_text *out);

#endif
