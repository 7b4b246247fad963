/*
 * Training: the state of one training run. Its parts depend on each other and are opened in this
 * order: run folder, model and data, plan, device, weights. The struct owns what it points to. Do
 * not copy or move the struct. Not thread-safe.
 */
#ifndef YK_JOB_TRAINING_TRAINING_H
#define YK_JOB_TRAINING_TRAINING_H

#include "base/status.h"
#include "job/output_files.h"
#include "job/training/folder.h"
#include "job/training/inputs.h"
#include "job/training/plan.h"
#include "job/training/request.h"
#include "job/training/result.h"
#include "job/training/team.h"
#include "measure/counters/counter_recorder.h"
#include "report/run/summary.h"
#include "train/training_run.h"

struct yk_train_rebalancer;

/* The caller sets `request`; the other members start as 0. */
struct yk_training {
    /* Options that were not given are set from the checkpoint and the adapter. */
    struct yk_train_request request;
    struct yk_arena *arena;
    struct yk_train_team team;
    double slow;                      /* --slow factor of this rank; 1 means: not slowed down */
    const char *folder;               /* path of the run folder */
    struct yk_train_folder_lock lock; /* only rank 0 holds it */
    const char *config_path;          /* path of the model's config.json in the run folder */
    struct yk_checkpoint *checkpoint; /* checkpoint to resume from; NULL means: a new run */
    bool random_weights; /* --weights random: the weights are repeating random numbers */
    struct yk_train_inputs inputs;
    struct yk_workload workload;
    struct yk_train_plan plan; /* initial plan */
    /* Set while several ranks train; otherwise NULL. */
    const struct yk_train_rebalancer *rebalancer;
    int64_t steps;
    struct yk_net *net;
    struct yk_op_times *op_times; /* set on rank 0; NULL means: not measured */

    struct yk_device_context context;
    struct yk_parameter_store *store;
    struct yk_text options_json;
    struct yk_training_run run;
    struct yk_run_rank_summary *ranks;            /* (ranks) set on rank 0, after the last step */
    struct yk_counter_recorder *counter_recorder; /* NULL means: no --counters */
    struct yk_counter_run_data counters; /* of all ranks; set on rank 0, after the last step */
};

/* Opens everything up to the plan and the net. Writes no files, but locks the folder of an existing
 * run on rank 0, unless this is a dry run. For the case that no plan fits into memory,
 * see yk_train_plan_find(). Called by all ranks; all of them return the same status. */
yk_status yk_training_open(struct yk_training *training,
                           const struct yk_launcher *launcher) YK_MUST_USE;

/* Allocates device memory, initializes the weights, and writes the first files of the run folder.
 */
yk_status yk_training_prepare_first_step(struct yk_training *training) YK_MUST_USE;

void yk_training_close(struct yk_training *training);

/* Returns the plan with which the run trains now: the initial plan, or the newest plan of
 * --rebalance. */
const struct yk_planner_outcome *yk_training_current_plan(const struct yk_training *training);

/* Returns the planned peak memory of a rank: the maximum over all plans that the run has used. It
 * can be compared with the measured peak memory of the whole run. */
double yk_training_planned_peak_bytes(const struct yk_training *training, int32_t rank);

/* Returns the learning rate schedule of the request for a run of `steps` steps. */
struct yk_lr_schedule yk_training_make_lr_schedule(const struct yk_train_request *request,
                                                   int64_t steps);

/*
 * ---- Initial weights: from the checkpoint, from --weights and --adapter, or random ----
 * Every rank calls the functions of this section in the order given here.
 */

/* Resolves --weights. If request.weights is a run folder, replaces it with the newest checkpoint of
 * the run. If it is "random", sets it to NULL and, for a new run, sets random_weights. If a new run
 * has --adapter but not --weights, sets it to the weights for which the adapter was made. If a
 * resumed run names a path that no longer exists, sets it to NULL. */
yk_status yk_train_weights_resolve_path(struct yk_training *training) YK_MUST_USE;

/* Sets the rank and the alpha of the LoRA adapters in the request. For an existing adapter, both
 * come from the config of the adapter, but an alpha that the request gives is kept. Without an
 * existing adapter, the default alpha is 2 × rank. */
yk_status yk_train_weights_read_adapter_config(struct yk_training *training) YK_MUST_USE;

/* Writes the initial weights into the store. */
yk_status yk_train_weights_initialize(struct yk_training *training) YK_MUST_USE;

/* Sets `*out` to the path of the frozen base weights, or to YK_CHECKPOINT_RANDOM_BASE_MODEL_NAME.
 * Checkpoints of adapters store this string. NULL means: there are no adapters, or the base weights
 * have no path. The string does not change when a run is resumed. */
yk_status yk_train_weights_frozen_base_path(struct yk_training *training,
                                            const char **out) YK_MUST_USE;

/*
 * ---- Measurements and summary: collected on rank 0 after the last step ----
 * Only rank 0 calls the functions of this section, unless a comment says otherwise.
 */

/* Called by all ranks after the last step. On rank 0, merges the traces of all ranks into
 * training->run.trace, and sets training->counters and training->ranks. */
yk_status yk_train_measurements_collect(struct yk_training *training) YK_MUST_USE;

/* Called by all ranks after the last step. Sets training->op_times on rank 0, unless the run had
 * too few steps to measure op times. */
yk_status yk_train_measurements_collect_op_times(struct yk_training *training) YK_MUST_USE;

/* Adds op-times.json to `outputs` if training->op_times is set. */
yk_status yk_train_measurements_add_op_times_file(const struct yk_training *training,
                                                  struct yk_output_files *outputs) YK_MUST_USE;

/* Sets the predictions of the result. The result then points into the arena of `training`, but does
 * not own this arena yet. */
yk_status yk_train_summary_fill_result_predictions(const struct yk_training *training,
                                                   struct yk_train_result *out) YK_MUST_USE;

/* Sets the predictions and the measurements of the result. `checkpoint` is the path of the newest
 * checkpoint. */
yk_status yk_train_summary_fill_result(const struct yk_training *training, const char *checkpoint,
                                       struct yk_train_result *out) YK_MUST_USE;

/* Writes summary.json, op-times.json, counters.json, the measured and the predicted trace of a
 * step, and the HTML page. */
yk_status yk_train_summary_write_files(const struct yk_training *training,
                                       const struct yk_train_result *result) YK_MUST_USE;

#endif
