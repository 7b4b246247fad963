/*
 * Train team: all ranks of a training run. Every rank has its own struct yk_train_team. It contains
 * the number of this rank, its connections to the other ranks, its cores, and its watchdog, a
 * thread that detects failed ranks. If there is only one rank, no function communicates.
 */
#ifndef YK_JOB_TRAINING_TEAM_H
#define YK_JOB_TRAINING_TEAM_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cores.h"
#include "cluster/launcher.h"
#include "comm/communicator.h"
#include "comm/watchdog/watchdog.h"
#include "job/device.h"
#include "job/job.h"
#include "job/training/transport.h"
#include "program/program.h"
#include "train/executor/executor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts as {0}. */
struct yk_train_team {
    const struct yk_job_callbacks *job; /* receives failures; may be NULL */
    struct yk_launcher launcher;
    struct yk_cores_assignment cores;
    struct yk_backend_device *device; /* device of `lane` */
    struct yk_backend_lane *lane;     /* comm lane for communication with MPI */
    struct yk_communicator ranks; /* communicator for host memory; size 0 means: only one rank */
    /* Contains the communicator for GPU memory; its size is 0 on CPUs. Without MPI, `ranks` is a
     * copy of this communicator. */
    struct yk_train_transport gpu_transport;
    struct yk_watchdog *watchdog;
    const struct yk_program *program; /* contains the ops that the watchdog names in messages */
    atomic_bool failure_detected;     /* the watchdog has detected a failed rank */
    yk_status exit_status;            /* status with which this process is about to end */
    pthread_mutex_t lock;             /* protects `executor` and `positions` */
    const struct yk_executor *executor;
    struct yk_lane_progress positions[YK_LANE_COUNT]; /* positions at the watchdog's last poll */
};

struct yk_train_team_request {
    int64_t threads;    /* compute threads of each rank on a CPU; 0 means: one per core */
    const char *device; /* value of --device; NULL means: "auto" */
    const struct yk_job_callbacks *job; /* must outlive the team; may be NULL */
};

/* Connects this rank to the other ranks, if a launcher has started several ranks. */
yk_status yk_train_team_open(const struct yk_launcher *launcher,
                             const struct yk_train_team_request *request, struct yk_arena *arena,
                             struct yk_train_team *out) YK_MUST_USE;
void yk_train_team_close(struct yk_train_team *team);

static inline bool yk_train_team_is_single_rank(const struct yk_train_team *team)
{
    return team->ranks.size <= 1;
}

static inline int32_t yk_train_team_rank(const struct yk_train_team *team)
{
    return yk_train_team_is_single_rank(team) ? 0 : team->ranks.rank;
}

/* Returns the options for the device of this rank: its cores, and the number of multiprocessors
 * that communication occupies. `wire` is the value of --wire; with "mpi", communication occupies no
 * multiprocessors. */
struct yk_backend_device_options yk_train_team_backend_options(const struct yk_train_team *team,
                                                               const char *wire);

/* Chooses the device of this rank. `word` is the value of --device. "cuda" gives the GPUs of a
 * machine to its ranks in turn, GPU 0 to the first rank on the machine. "auto" selects GPUs only if
 * every rank gets a GPU of its own. Called by all ranks; either all of them use GPUs or none. */
yk_status yk_train_team_choose_device(const struct yk_train_team *team, const char *word,
                                      struct yk_device_choice *out) YK_MUST_USE;

/* Connects the GPUs of the ranks. `word` is the value of --wire. Connects nothing on CPUs, or if
 * there is only one rank. Called by all ranks; if the call fails, all ranks return the same
 * failure, which has already been reported. */
yk_status yk_train_team_connect_gpus(struct yk_train_team *team,
                                     const struct yk_device_choice *choice,
                                     const char *word) YK_MUST_USE;

/* Returns the communicator for the memory in which the ranks compute: GPU memory or host memory. */
static inline const struct yk_communicator *
yk_train_team_device_communicator(const struct yk_train_team *team)
{
    return team->gpu_transport.ranks.size > 0 ? &team->gpu_transport.ranks : &team->ranks;
}

/* Combines the statuses of all ranks; `mine` is the status of this rank. If at least one rank has
 * failed, all ranks return the same failure. If there are several ranks, the failure has already
 * been reported as in yk_train_team_report_failure(). */
yk_status yk_train_team_combine_status(const struct yk_train_team *team,
                                       yk_status mine) YK_MUST_USE;

/* Copies the `count` numbers of rank 0 to `numbers` of all ranks. */
yk_status yk_train_team_broadcast_numbers(const struct yk_train_team *team, double *numbers,
                                          int64_t count) YK_MUST_USE;

/* Lets rank 0 report the failure `agreed`, which must be the same on all ranks, and makes the
 * message empty. Reports nothing if there is only one rank, or if the failure is YK_ERROR_STOPPED.
 * Returns `agreed`. */
yk_status yk_train_team_report_failure(const struct yk_train_team *team,
                                       yk_status agreed) YK_MUST_USE;

/* Describes the devices of all ranks, grouped by machine, in the syntax of --cluster. All ranks get
 * the same text. */
yk_status yk_train_team_describe_as_cluster_option(const struct yk_train_team *team,
                                                   const struct yk_device_choice *choice,
                                                   int64_t threads, struct yk_arena *arena,
                                                   const char **out) YK_MUST_USE;

/* Lets rank 0 report the cores of each rank, or the transport between GPUs, as status lines. */
yk_status yk_train_team_report_cores_or_transport(const struct yk_train_team *team,
                                                  struct yk_arena *arena) YK_MUST_USE;

/* Starts the watchdog. If the process of a rank ends or is suspended, or hangs for more than `op_s`
 * seconds in an op of the program, all ranks end, and the message names this rank (`lost` and
 * `exit_process` in job/job.h). The environment variable YOKE_HANG_S replaces `op_s`. */
yk_status yk_train_team_watchdog_start(struct yk_train_team *team, const struct yk_program *program,
                                       double op_s) YK_MUST_USE;

/* Two callbacks for the executor; `user` is the team. The first callback records that an op of this
 * rank begins or, with op −1, that the op has ended. The second callback sets the executor whose
 * lane positions the watchdog polls. */
void yk_train_team_watchdog_record_op(void *user, enum yk_lane lane, int32_t op);
void yk_train_team_watchdog_set_executor(void *user, const struct yk_executor *executor);

/* Ends all ranks, including this one. Called when this rank has failed and the other ranks do not
 * know it. Does nothing if there is only one rank. If there are several, may return only if the job
 * has no callback `exit_process`. */
void yk_train_team_watchdog_abort_all_ranks(struct yk_train_team *team, yk_status status);

#endif
