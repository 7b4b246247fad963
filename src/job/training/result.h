/*
 * Train result: what a training has come to, or of a dry run what it would take. It owns what it
 * points to and starts as {0}. That of rank 0 alone is filled in; the others have `rank`, `size`,
 * `stopped`.
 */
#ifndef YK_JOB_TRAINING_RESULT_H
#define YK_JOB_TRAINING_RESULT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "report/run/summary.h"
#include "trace/counters_file.h"

#include <stdbool.h>
#include <stdint.h>

/* Samples were divided anew after a step. */
struct yk_train_rebalancing {
    int64_t step;
    int64_t *shares_before; /* (ranks) samples */
    int64_t *shares;
    double predicted_step_s;
};

struct yk_train_result {
    struct yk_arena *arena;
    bool planned; /* what was predicted is known */
    bool trained; /* what was measured is known, too */
    bool stopped; /* before the last step */
    int32_t rank; /* of this process */
    int32_t size; /* ranks that train together */

    /* What was predicted, by the plan that the run ended with. */
    const char *model;
    int64_t parameters;
    int64_t trainable;
    const char *folder;
    int64_t steps;
    int64_t batch;
    int64_t sequence;
    const char *precision;
    int32_t micro_batches;
    double predicted_step_s;
    double predicted_error; /* of that, as a part of it */
    double predicted_s;     /* of a dry run: of all steps that are left */
    double planned_bytes;   /* of rank 0 */
    double limit_bytes;
    struct yk_text plan; /* of a dry run: the plan in words, or why there is none; where JSON is
                            asked for, only the latter */

    /* What was measured. */
    const char *backend; /* of rank 0 */
    const char *device;
    int64_t steps_done;
    double first_loss;
    double last_loss;
    double evaluation_loss; /* NAN where there was none */
    double tokens;
    double seconds; /* of all steps together */
    double tokens_per_s;
    double mfu; /* 0 to 1, see planner/planner.h */
    double exact_mfu;
    double median_step_s;
    double peak_bytes;      /* of rank 0's process */
    double device_bytes;    /* of a device with memory of its own, else 0 */
    const char *checkpoint; /* the newest; "": none */
    struct yk_train_rebalancing *rebalancings;
    int32_t rebalancing_count;
    struct yk_run_rank *ranks; /* (rank_count) */
    int32_t rank_count;
    struct yk_counter_ranks counters;
};

void yk_train_result_free(struct yk_train_result *result);

/* The object that summary.json holds; of a dry run one without what is measured. */
yk_status yk_train_result_write_json(const struct yk_train_result *result,
                                     struct yk_text *out) YK_MUST_USE;

#endif
