/*
 * Training: the state of one training run. Its parts are opened in the order of their dependencies:
 * run folder, model and data, plan, device, weights. It owns what it points to. Do not copy or move
 * it. Not thread-safe.
 */
#ifndef YK_JOB_TRAINING_TRAINING_H
#define YK_JOB_TRAINING_TRAINING_H

#include "base/status.h"
#include "job/training/folder.h"
#include "job/training/inputs.h"
#include "job/training/plan.h"
#include "job/training/request.h"
#include "job/training/team.h"
#include "measure/counters/recorder.h"
#include "report/run/summary.h"
#include "train/training_run.h"

struct yk_train_rebalancer;

/* The caller sets `request`; the other members start as 0. */
struct yk_training {
    struct yk_train_request request; /* completed from the checkpoint and the adapter's folder */
    struct yk_arena *arena;
    struct yk_train_team team;
    double slow;                      /* --slow factor of this rank; 1: not slowed down */
    const char *folder;               /* run folder */
    struct yk_train_folder_lock lock; /* held by rank 0 */
    const char *config_path;          /* config.json of the model in the run folder */
    struct yk_checkpoint *checkpoint; /* to resume from; NULL: a new run */
    bool random_weights;              /* --weights random: fill weights with repeating numbers */
    struct yk_train_inputs inputs;
    struct yk_train_plan plan;                    /* initial plan */
    const struct yk_train_rebalancer *rebalancer; /* set while several ranks train; else NULL */
    int64_t steps;
    struct yk_net *net;
    struct yk_op_times *op_times; /* op times on rank 0; NULL: not measured */

    struct yk_device_context context;
    struct yk_parameter_store *store;
    struct yk_text options_json;
    struct yk_training_run run;
    struct yk_run_rank *ranks; /* (ranks) measurements on rank 0, after the last step */
    struct yk_counter_recorder *counter_recorder; /* NULL: no --counters */
    struct yk_counter_run_data counters; /* counters of all ranks on rank 0, after the last step */
};

/* Opens everything up to plan and net, and writes nothing. If no plan fits, plan.planned->plan is
 * NULL. Called by all ranks; a failure is the same on all of them. */
yk_status yk_training_open(struct yk_training *training,
                           const struct yk_launcher *launcher) YK_MUST_USE;

/* Allocates device memory, initializes the weights, and writes the first files of the run folder.
 */
yk_status yk_training_prepare(struct yk_training *training) YK_MUST_USE;

void yk_training_close(struct yk_training *training);

/* The current plan: the initial one, or the newest one of --rebalance. */
const struct yk_planner_outcome *yk_training_current_plan(const struct yk_training *training);

/* Planned peak memory of a rank: the maximum over all plans that the run has used. It is compared
 * with the measured peak of the whole run. */
double yk_training_planned_peak_bytes(const struct yk_training *training, int32_t rank);

/* The learning rate schedule of the request. */
struct yk_lr_schedule yk_training_lr_schedule(const struct yk_train_request *request,
                                              int64_t steps);

/*
 * ---- Initial weights: from the checkpoint, from --weights and --adapter, or random ----
 * Every rank calls these functions in the order given here.
 */

/* Resolves request.weights to a path. A run folder becomes its newest checkpoint. */
yk_status yk_train_weights_resolve_path(struct yk_training *training) YK_MUST_USE;

/* Sets rank and alpha of LoRA adapters in the request. An existing adapter determines its own. */
yk_status yk_train_weights_read_adapter_config(struct yk_training *training) YK_MUST_USE;

/* Writes the initial weights into the store. */
yk_status yk_train_weights_initialize(struct yk_training *training) YK_MUST_USE;

/* Path of the frozen base weights, which is saved with the adapters; NULL: no adapters. It does not
 * change when a run is resumed. */
yk_status yk_train_weights_base_path(struct yk_training *training, const char **out) YK_MUST_USE;

#endif
