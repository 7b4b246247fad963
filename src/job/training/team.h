/*
 * Train team: the ranks of a training run, seen from one of them: its rank, the connections to the
 * others, its cores, and the watch that detects failed ranks. In a team of a single rank, no
 * function communicates.
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
    struct yk_backend_lane *lane;     /* comm lane of MPI */
    struct yk_communicator ranks;     /* communicator of host memory; size 0: a single rank */
    /* Communicator of GPU memory; size 0 on CPUs. Without MPI, `ranks` is a copy of it. */
    struct yk_train_transport gpu_transport;
    struct yk_watchdog *watchdog;
    const struct yk_program *program; /* program whose ops the watch names */
    atomic_bool failure_detected;     /* the watch has detected a failed rank */
    yk_status exit_status;            /* exit status of this process, once it is about to end */
    pthread_mutex_t lock;             /* guards the two members below */
    const struct yk_executor *executor;
    struct yk_lane_position positions[YK_LANE_COUNT]; /* at the last poll */
};

struct yk_train_team_request {
    int64_t threads;                    /* compute threads of each rank on a CPU; 0: one per core */
    const char *device;                 /* value of --device; NULL: auto */
    const struct yk_job_callbacks *job; /* must outlive the team; may be NULL */
};

/* Connects this rank to the others, if a launcher has started several. */
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

/* Options for the device of this rank: its cores, and the multiprocessors that communication
 * occupies. `wire` is the value of --wire; "mpi" occupies none. */
struct yk_backend_options yk_train_team_device_options(const struct yk_train_team *team,
                                                       const char *wire);

/* Chooses the device of this rank. `word` is the value of --device. "cuda" selects the GPU with the
 * number of the rank's local rank; "auto" selects GPUs only if every rank gets its own. Called by
 * all ranks; either all of them use GPUs or none. */
yk_status yk_train_team_choose_device(const struct yk_train_team *team, const char *word,
                                      struct yk_device_choice *out) YK_MUST_USE;

/* Connects the GPUs of the ranks. `word` is the value of --wire. Does nothing on CPUs and for a
 * single rank. Called by all ranks; a failure is the same on all of them and already reported. */
yk_status yk_train_team_connect_gpus(struct yk_train_team *team,
                                     const struct yk_device_choice *choice,
                                     const char *word) YK_MUST_USE;

/* The communicator of the memory that the ranks compute in. */
static inline const struct yk_communicator *
yk_train_team_device_communicator(const struct yk_train_team *team)
{
    return team->gpu_transport.ranks.size > 0 ? &team->gpu_transport.ranks : &team->ranks;
}

/* Combines the statuses of all ranks: the first failure of any rank becomes the result of all. With
 * several ranks, the failure has already been reported on return, and the message is empty. */
yk_status yk_train_team_combine_status(const struct yk_train_team *team,
                                       yk_status mine) YK_MUST_USE;

/* Sets numbers (count) to those of rank 0. */
yk_status yk_train_team_broadcast_numbers(const struct yk_train_team *team, double *numbers,
                                          int64_t count) YK_MUST_USE;

/* Reports a failure that all ranks agree on, through rank 0, and leaves an empty message. Returns
 * `agreed`. Does nothing for a single rank. */
yk_status yk_train_team_report_failure(const struct yk_train_team *team,
                                       yk_status agreed) YK_MUST_USE;

/* Describes the devices of all ranks in the syntax of --cluster, grouped by machine. The result is
 * the same on all ranks. */
yk_status yk_train_team_describe_devices(const struct yk_train_team *team,
                                         const struct yk_device_choice *choice, int64_t threads,
                                         struct yk_arena *arena, const char **out) YK_MUST_USE;

/* Reports the cores of each rank, or the transport between GPUs, as status lines of rank 0. */
yk_status yk_train_team_report_connections(const struct yk_train_team *team,
                                           struct yk_arena *arena) YK_MUST_USE;

/* Starts the watch. If a rank fails, is stopped, or hangs for more than `op_s` seconds in an op of
 * the program, all ranks end and the message names that rank: see `lost` and `leave` in job/job.h.
 */
yk_status yk_train_team_watch_start(struct yk_train_team *team, const struct yk_program *program,
                                    double op_s) YK_MUST_USE;

/* Callbacks for the executor; `user` is the team. The first one records that an op of this rank
 * begins. The second one sets the executor that the watch polls for the positions of its lanes. */
void yk_train_team_watch_record_op(void *user, enum yk_lane lane, int32_t op);
void yk_train_team_watch_set_executor(void *user, const struct yk_executor *executor);

/* Ends all ranks because this one has failed and the others do not know it. Returns only if the job
 * has no `leave` callback. */
void yk_train_team_watch_abort_all(struct yk_train_team *team, yk_status status);

#endif
