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

/* Runs the ranks. YK_OK when all ended well; else what they agreed on or how one was lost, with an
 * empty sentence where a rank has reported it already. */
yk_status yk_launch_ranks(const struct yk_launch_request *request,
                          struct yk_launch_result *out) YK_MUST_USE;

#endif
