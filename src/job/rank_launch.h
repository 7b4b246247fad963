/*
 * Rank launch: starts the ranks of a run on this machine with mpirun and waits until they have
 * ended. It calls fork(), so it must run before this process starts other threads.
 *
 * The ranks inherit standard output. Their standard error is passed to a callback. The messages of
 * mpirun itself are shortened to one sentence. SIGTERM, SIGINT and SIGHUP are blocked while the
 * ranks run. The first of these signals is sent to mpirun as SIGUSR1, because mpirun passes only
 * this signal to its ranks without killing them. The ranks then save a checkpoint and stop. A
 * second signal kills the ranks.
 */
#ifndef YK_JOB_RANK_LAUNCH_H
#define YK_JOB_RANK_LAUNCH_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_rank_launch_request {
    int64_t ranks;
    const char *program;
    char *const *arguments; /* arguments of the program without argv[0]; the last element is NULL */
    /* Environment variables that the ranks get; the last element is NULL. */
    const char *const *variables;
    /* Receives the standard error of the ranks as it arrives; may be NULL. */
    void (*errors)(void *user, const char *bytes, size_t length);
    void *user;
};

struct yk_rank_launch_result {
    /* The second signal, which killed the ranks. The caller should end its own process with the
     * same signal. 0 means: there was no second signal. */
    int signal;
};

/* Runs the ranks. Returns YK_OK if all of them succeed. Otherwise returns the failure that all
 * ranks have in common, or an error about the rank that failed. The message is empty if a rank has
 * already printed it. */
yk_status yk_rank_launch_run(const struct yk_rank_launch_request *request,
                             struct yk_rank_launch_result *out) YK_MUST_USE;

#endif
