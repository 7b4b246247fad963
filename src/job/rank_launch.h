/*
 * Rank launch: starts the ranks of a run on this machine with mpirun and waits until they have
 * ended. It forks, so call it before any other thread has started.
 *
 * The ranks inherit standard output. Their standard error goes to a callback; messages of mpirun
 * itself are condensed into one sentence. SIGTERM, SIGINT and SIGHUP are blocked meanwhile. The
 * first such signal is forwarded as SIGUSR1, the only signal that mpirun passes to its ranks
 * without killing them: the ranks save a checkpoint and stop. A second signal kills them.
 */
#ifndef YK_JOB_RANK_LAUNCH_H
#define YK_JOB_RANK_LAUNCH_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_rank_launch_request {
    int64_t ranks;
    const char *program;
    char *const *arguments;       /* of the program, without argv[0]; ends with NULL */
    const char *const *variables; /* environment variables passed to the ranks; ends with NULL */
    /* Receives the standard error of the ranks as it arrives; may be NULL. */
    void (*errors)(void *user, const char *bytes, size_t length);
    void *user;
};

struct yk_rank_launch_result {
    /* The second signal, which killed the ranks; the caller should end itself with it. 0: none. */
    int signal;
};

/* Runs the ranks. Returns YK_OK if all of them succeeded, else the status that they agreed on, or
 * an error about the rank that failed. The message is empty if a rank has already printed it. */
yk_status yk_rank_launch_run(const struct yk_rank_launch_request *request,
                             struct yk_rank_launch_result *out) YK_MUST_USE;

#endif
