/*
 * Rank: determines the rank of this process and the number of ranks, from options or from the
 * environment variables of a launcher (mpirun, srun, torchrun). Starts ranks with mpirun. Also
 * parses --slow, which makes ranks slower on purpose: a test can then use equal devices as if they
 * were unequal.
 */
#ifndef YK_JOB_RANK_H
#define YK_JOB_RANK_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options --rank, --world and --master. */
struct yk_rank_options {
    int64_t rank;       /* -1 means: not given */
    int64_t world;      /* number of ranks; 0 means: not given */
    const char *master; /* address of rank 0; NULL means: not given */
};

#define YK_RANK_OPTION_HELP                                                                        \
    "By hand: this process is rank R, one of --world, each started on its own; YOKE_TOKEN holds "  \
    "the same secret for all"
#define YK_RANK_WORLD_OPTION_HELP "By hand: how many ranks there are"
#define YK_RANK_MASTER_OPTION_HELP "By hand: where rank 0 is, and a free port there, else 29500"

/* Determines the rank of this process from `place`, or from the environment if no option in `place`
 * is given. */
yk_status yk_rank_detect(const struct yk_rank_options *place, struct yk_launcher *out) YK_MUST_USE;

/* Sets `*out` to true if this process must start the ranks itself. That is the case if `ranks` is
 * greater than 1 and no launcher has started this process. `ranks` is the value of --ranks; 0
 * means: not given. If `ranks` is given, fails if a launcher has started a different number of
 * ranks, or if this process was started by hand with --rank. */
yk_status yk_rank_must_start_ranks(const struct yk_launcher *launcher, int64_t ranks,
                                   bool *out) YK_MUST_USE;

/* Parses `word`, the value of --slow ("1:2.5,3:2"), which may be NULL. Sets `*out` to an array with
 * one factor for each rank. The compute time of a rank is multiplied by its factor; 1 means: not
 * slowed down. */
yk_status yk_rank_parse_slowdowns(const char *word, int32_t ranks, struct yk_arena *arena,
                                  double **out) YK_MUST_USE;

/*
 * ---- rank launch: starts the ranks of a run on this machine ----
 *
 * yk_rank_launch_run() starts the ranks with mpirun and waits until they have ended. It calls
 * fork(), so it must run before this process starts other threads.
 *
 * The ranks inherit standard output. Their standard error is passed to a callback. The messages of
 * mpirun itself are shortened to one sentence. SIGTERM, SIGINT and SIGHUP are blocked while the
 * ranks run. When one of these signals arrives, SIGUSR1 is sent to mpirun, because this is the only
 * signal that mpirun passes to its ranks without killing them. The ranks then save a checkpoint and
 * stop. A second signal kills the ranks.
 */

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
    /* The last signal that arrived, if there were at least two. The ranks were then killed, and the
     * caller should end its own process with this signal. 0 means: there was no second signal. */
    int signal;
};

/* Runs the ranks. Returns YK_OK if all of them succeed. If a rank has exited with a yk_status as
 * its exit code, returns this status; the message is empty if the rank has already printed it.
 * Otherwise the message says which rank was lost, or why mpirun could not start the ranks. */
yk_status yk_rank_launch_run(const struct yk_rank_launch_request *request,
                             struct yk_rank_launch_result *out) YK_MUST_USE;

#endif
