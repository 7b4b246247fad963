/*
 * Launch: starts the ranks of a run on this machine with mpirun, when several are asked for, and
 * waits until they have ended. This forks: call it before any other thread has started.
 *
 * The ranks' standard output is that of this process, their standard error goes to a callback; what
 * mpirun itself writes there becomes one sentence. Meanwhile this process holds the signals TERM,
 * INT and HUP back, and passes the first on as USR1, the one signal that mpirun hands to its ranks
 * and does not end them for: they save and stop. A second one ends them.
 */
#ifndef YK_JOB_LAUNCH_H
#define YK_JOB_LAUNCH_H

#include "base/status.h"
#include "cluster/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_launch_request {
    int64_t ranks;
    const char *program;
    char *const *arguments;       /* of the program, without its name; ended by NULL */
    const char *const *variables; /* of the environment that ranks get, too; ended by NULL */
    /* What the ranks write to standard error, as it comes; may be NULL. */
    void (*errors)(void *user, const char *bytes, size_t length);
    void *user;
};

struct yk_launch_result {
    int signal; /* a second one, which ended the ranks: the caller should end by it; 0: none */
};

/* Which rank of how many a process is, where a person says so. */
struct yk_launch_place {
    int64_t rank;       /* -1: not given */
    int64_t world;      /* 0: not given */
    const char *master; /* NULL: not given */
};

#define YK_LAUNCH_RANK_HELP                                                                        \
    "By hand: this process is rank R, one of --world, each started on its own; YOKE_TOKEN holds "  \
    "the same secret for all"
#define YK_LAUNCH_WORLD_HELP "By hand: how many ranks there are"
#define YK_LAUNCH_MASTER_HELP "By hand: where rank 0 is, and a free port there, else 29500"

/* Who this process is: as `place` says, else the environment. */
yk_status yk_launch_find(const struct yk_launch_place *place, struct yk_launcher *out) YK_MUST_USE;

/* Whether this process is to start `ranks` ranks: it was asked for several and no launcher started
 * it. One that did must have started as many as are asked for; 0 leaves it open. */
yk_status yk_launch_decide(const struct yk_launcher *launcher, int64_t ranks,
                           bool *out) YK_MUST_USE;

/* Runs the ranks. YK_OK when all ended well; else what they agreed on or how one was lost, with an
 * empty sentence where a rank has reported it already. */
yk_status yk_launch_ranks(const struct yk_launch_request *request,
                          struct yk_launch_result *out) YK_MUST_USE;

#endif
