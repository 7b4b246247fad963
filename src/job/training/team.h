/*
 * Train team: the ranks of a training as this process sees them: which one it is, how it reaches
 * the others, which cores it uses, and what becomes of all when one is lost. Alone, everything here
 * is done at once.
 */
#ifndef YK_JOB_TRAINING_TEAM_H
#define YK_JOB_TRAINING_TEAM_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cores.h"
#include "cluster/launcher.h"
#include "comm/ranks.h"
#include "comm/watch/watch.h"
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
    const struct yk_job *job; /* whom failures are reported to; may be NULL */
    struct yk_launcher launcher;
    struct yk_cores cores;
    struct yk_backend_device *device; /* of the comm lane */
    struct yk_backend_lane *lane;
    struct yk_ranks ranks;          /* of size 0 when alone */
    struct yk_train_transport wire; /* of ranks on GPUs; without MPI `ranks` are the same ones */
    struct yk_watch *watch;
    const struct yk_program *program; /* whose ops are reported to the watch */
    atomic_bool judged;               /* the watch has found a rank lost */
    yk_status leaving;                /* what this process is about to end with */
    pthread_mutex_t lock;             /* for the two below */
    const struct yk_executor *executor;
    struct yk_executor_position positions[YK_LANE_COUNT]; /* when it was last asked */
};

struct yk_train_team_request {
    int64_t threads;          /* of each rank on a CPU; 0: as many as it has cores */
    const char *device;       /* as --device says; NULL: auto */
    const struct yk_job *job; /* outlives the team; may be NULL */
};

/* Joins the others, where a launcher has started several. */
yk_status yk_train_team_open(const struct yk_launcher *launcher,
                             const struct yk_train_team_request *request, struct yk_arena *arena,
                             struct yk_train_team *out) YK_MUST_USE;
void yk_train_team_close(struct yk_train_team *team);

static inline bool yk_train_team_is_alone(const struct yk_train_team *team)
{
    return team->ranks.size <= 1;
}

static inline int32_t yk_train_team_rank(const struct yk_train_team *team)
{
    return yk_train_team_is_alone(team) ? 0 : team->ranks.rank;
}

/* Processors of a rank's device that its messages hold, going by `wire`, what --wire says. */
int32_t yk_train_team_comm_processors(const struct yk_train_team *team, const char *wire);

/* Where this rank computes. A rank's GPU is that of its place among the ranks of its machine;
 * `auto` takes GPUs where every rank can have one of its own. All ranks call it, and compute alike.
 */
yk_status yk_train_team_choose_device(const struct yk_train_team *team, const char *word,
                                      struct yk_device_choice *out) YK_MUST_USE;

/* From now on GPUs exchange what is in their memory: by --wire's `word`. Nothing on CPUs or alone.
 * All ranks call it, and fail alike: then it has been reported. */
yk_status yk_train_team_connect(struct yk_train_team *team, const struct yk_device_choice *choice,
                                const char *word) YK_MUST_USE;

/* The ranks whose comm lane is one of the device that computes. */
static inline const struct yk_ranks *yk_train_team_device_ranks(const struct yk_train_team *team)
{
    return team->wire.ranks.size > 0 ? &team->wire.ranks : &team->ranks;
}

/* What all come to when each has come to `mine`: the first failure of any is that of all. With
 * several ranks it has been reported when this returns, and the sentence left is empty. */
yk_status yk_train_team_agree(const struct yk_train_team *team, yk_status mine) YK_MUST_USE;

/* numbers (count) become those of rank 0. */
yk_status yk_train_team_broadcast(const struct yk_train_team *team, double *numbers,
                                  int64_t count) YK_MUST_USE;

/* A failure that all ranks have come to: rank 0 reports it, and the sentence left is empty. Alone
 * nothing changes. */
yk_status yk_train_team_report(const struct yk_train_team *team, yk_status agreed) YK_MUST_USE;

/* The ranks' processors as a line that a plan's file can keep: those of one machine side by side.
 * The same on all ranks. */
yk_status yk_train_team_describe(const struct yk_train_team *team,
                                 const struct yk_device_choice *choice, int64_t threads,
                                 struct yk_arena *arena, const char **out) YK_MUST_USE;

/* Reports which cores each rank uses, or how GPUs exchange numbers, in lines of rank 0's job. */
yk_status yk_train_team_announce(const struct yk_train_team *team,
                                 struct yk_arena *arena) YK_MUST_USE;

/* From now on a rank that is lost, stopped, or hangs longer than `op_s` in an op of the program,
 * ends all of them, and is named: see `lost` and `leave` of job/job.h. */
yk_status yk_train_team_watch_start(struct yk_train_team *team, const struct yk_program *program,
                                    double op_s) YK_MUST_USE;

/* For the executor: an op of this rank begins, and whom to ask where its lanes are. `user` is the
 * team. */
void yk_train_team_watch_op(void *user, enum yk_lane lane, int32_t op);
void yk_train_team_watch_executor(void *user, const struct yk_executor *executor);

/* This rank cannot go on, and the others do not know it: they end as well. It returns only where
 * the job has no `leave`. */
void yk_train_team_watch_abort(struct yk_train_team *team, yk_status status);

#endif
