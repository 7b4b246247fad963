/*
 * Training: everything a run needs, opened in the order of its dependencies: the run's folder,
 * model and data, plan, device, weights. It owns what it points to and does not move. One thread at
 * a time.
 */
#ifndef YK_JOB_TRAINING_TRAINING_H
#define YK_JOB_TRAINING_TRAINING_H

#include "job/training/folder.h"
#include "job/training/plan.h"
#include "job/training/request.h"
#include "job/training/source.h"
#include "job/training/team.h"
#include "measure/counters/recorder.h"
#include "report/run/summary.h"
#include "train/run.h"

struct yk_train_balance;

/* Starts with its request alone. */
struct yk_training {
    struct yk_train_request request; /* with what an adapter's folder says filled in */
    struct yk_arena *arena;
    struct yk_train_team team;
    double slow; /* this rank computes so many times as long */
    const char *folder;
    struct yk_train_folder_lock lock; /* on the folder, by rank 0 */
    const char *config_path;          /* the model, in the folder of plan.json */
    struct yk_checkpoint *checkpoint; /* to go on from; NULL: a new run */
    bool rough;                       /* weights start from numbers that repeat: --weights random */
    struct yk_train_source source;
    struct yk_train_plan plan;              /* that the run begins with */
    const struct yk_train_balance *balance; /* while several ranks train; else NULL */
    int64_t steps;
    struct yk_net *net;
    struct yk_op_times *op_times; /* what ops took, on rank 0; NULL: not known */

    struct yk_engine engine;
    struct yk_parameter_store *store;
    struct yk_text options_json;
    struct yk_run run;
    struct yk_run_rank *ranks;         /* (ranks) what was measured, on rank 0; NULL before */
    struct yk_counter_recorder *gauge; /* with --counters; else NULL */
    struct yk_counter_ranks counters;  /* what it has come to, on rank 0; none before */
};

/* Opens all that can be known without training: up to plan and net. Nothing is written. Where no
 * plan fits, plan.planned->plan is NULL. The ranks of a training open it together, and fail alike.
 */
yk_status yk_training_open(struct yk_training *training,
                           const struct yk_launcher *launcher) YK_MUST_USE;

/* Takes the device's memory, fills the weights, and writes what the folder begins with. */
yk_status yk_training_prepare(struct yk_training *training) YK_MUST_USE;

void yk_training_close(struct yk_training *training);

/* The plan in force: the one that the run began with, or that samples were divided anew by. */
const struct yk_planner_outcome *yk_training_planned(const struct yk_training *training);

/* The most memory of a rank by the plans that the run has gone by: what is measured is the most of
 * the whole run, too. */
double yk_training_planned_bytes(const struct yk_training *training, int32_t rank);

/* The learning rate that is asked for. */
struct yk_lr_schedule yk_training_learning_rate(const struct yk_train_request *request,
                                                int64_t steps);

#endif
