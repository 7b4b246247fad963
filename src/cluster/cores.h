/*
 * Cores: which of this machine's cores the threads of a rank use, so that ranks on one machine do
 * not compete. A core here is what the system schedules a thread on. Where the launcher has bound a
 * rank, the cores it may use are its own; else those of the machine are divided among its ranks.
 */
#ifndef YK_CLUSTER_CORES_H
#define YK_CLUSTER_CORES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/launcher.h"

#include <stdbool.h>
#include <stdint.h>

/* One that a process may use. */
struct yk_core {
    int32_t number;  /* the system's */
    int32_t sibling; /* how many before it are of the same physical core */
};

/* Those that a process may use, near ones side by side. */
struct yk_cores_allowed {
    struct yk_core *cores;
    int32_t count;
    int32_t machine_count; /* that any process here may use */
};

struct yk_cores_request {
    struct yk_launcher launcher;
    /* The threads each rank of this machine computes with, or NULL: as many as it has cores. Of a
     * rank that the launcher has bound only its own counts. */
    const int32_t *threads; /* (local_size) */
};

struct yk_cores {
    int32_t *compute; /* thread i computes on compute[i mod compute_count] */
    int32_t compute_count;
    int32_t message; /* where messages are sent and received */
    bool spare;      /* nothing is computed there */
    bool shared;     /* with other ranks, by the launcher's will: threads are not to be pinned */
};

/* Asks the system; before this process has pinned itself. */
yk_status yk_cores_find(struct yk_arena *arena, struct yk_cores_allowed *out) YK_MUST_USE;

/* The rank's own of them. Messages get a core of their own where there are more than threads. */
yk_status yk_cores_choose(const struct yk_cores_request *request,
                          const struct yk_cores_allowed *allowed, struct yk_arena *arena,
                          struct yk_cores *out) YK_MUST_USE;

/* "rank 1: compute on cores 2-3, messages on core 3"; or that cores are shared. */
void yk_cores_describe(const struct yk_cores *cores, int32_t rank, struct yk_text *out);

#endif
