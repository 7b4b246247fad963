/*
 * Train result: the predictions and the measurements of a training run. A dry run has only
 * predictions, which are set on every rank. After training, rank 0 has all members. The other ranks
 * have only `arena`, `rank`, `size` and `stopped`. The struct starts as {0} and owns what it points
 * to.
 */
#ifndef YK_JOB_TRAINING_RESULT_H
#define YK_JOB_TRAINING_RESULT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/throughput_unit.h"
#include "report/run/summary.h"
#include "trace/counters_file.h"

#include <stdbool.h>
#include <stdint.h>

/* Describes how --rebalance changed the ranks' shares of the batch after `step`. */
struct yk_train_share_change {
    int64_t step;
    int64_t *shares_before; /* (ranks) samples per step before the change */
    int64_t *shares;        /* (ranks) samples per step after the change */
    double predicted_step_s;
};

struct yk_train_result {
    struct yk_arena *arena;
    bool planned; /* the predictions are set */
    bool trained; /* the measurements are set */
    bool stopped; /* the run was stopped before its last step */
    int32_t rank; /* rank of this process */
    int32_t size; /* number of ranks */

    /* Predictions. Unless a comment says otherwise, they belong to the current plan. After the run,
     * this is the last plan. */
    const char *model;
    int64_t parameters;
    int64_t trainable;  /* number of parameters that are trained */
    const char *folder; /* path of the run folder */
    int64_t steps;
    int64_t batch;
    int64_t sequence;
    bool images;                           /* the model reads images */
    const struct yk_throughput_unit *unit; /* what is counted: tokens or images */
    const char *precision;
    int32_t micro_batches;
    double predicted_step_s;
    double predicted_error; /* relative error of predicted_step_s */
    double predicted_s; /* time of all steps after the resumed checkpoint, with the initial plan */
    double planned_bytes; /* planned peak memory of rank 0: the maximum over all plans */
    double limit_bytes;   /* memory limit of rank 0 */
    /* For a dry run: the plan, or the reason why no plan fits into memory, as text. If `json` of
     * the request is set: the reason as JSON, or empty if a plan fits. */
    struct yk_text plan;

    /* Measurements. */
    const char *backend; /* backend of rank 0 */
    const char *device;  /* description of the device of rank 0 */
    int64_t steps_done;
    double first_loss;
    double last_loss;
    double evaluation_loss; /* NAN means: no evaluation */
    double accuracy;        /* of the last evaluation of a classifier; otherwise NAN */
    double top5_accuracy;
    double tokens;       /* number of units */
    double seconds;      /* total time of all steps */
    double tokens_per_s; /* units per second */
    double mfu;          /* model FLOPS utilisation, 0 to 1: yk_mfu.formula (planner/planner.h) */
    double exact_mfu;    /* counts attention exactly: yk_mfu.exact */
    double median_step_s;
    double peak_bytes;      /* peak host memory of the process of rank 0 */
    double device_bytes;    /* peak GPU memory of rank 0; 0 on a CPU */
    const char *checkpoint; /* path of the newest checkpoint; "" means: none */
    struct yk_train_share_change *rebalancings;
    int32_t rebalancing_count;
    struct yk_run_rank_summary *ranks; /* (rank_count) */
    int32_t rank_count;
    struct yk_counter_run_data counters;
};

void yk_train_result_free(struct yk_train_result *result);

/* Appends the JSON object of summary.json. For a dry run, the object has no measurements. */
yk_status yk_train_result_write_json(const struct yk_train_result *result,
                                     struct yk_text *out) YK_MUST_USE;

#endif
