/*
 * Profiler: measures the devices and links of a cluster, and collects the results as rows of a
 * profile. A row is a layer time, a message time, or a fact such as a slowdown. The folder measure/
 * has these parts:
 *
 *   measuring_ranks the ranks that measure together
 *   timings         durations and their median
 *   profiler/       measures layers, links and copies; comm_benchmark measures the messages of a
 *                   group of ranks; measured_rank_groups lists these groups
 *   benchmark/      runs training steps of a model at several batch sizes; reduced_model leaves
 *                   out blocks of a model that does not fit
 *   slowdown/       how much computation and messages slow each other down; idle_speedup: how
 *                   much faster a device is while the others are idle
 *   calibration     compares a finished run with its prediction, and corrects the profile
 *   counters/       hardware counters (GPM, DCGM, NVML, perf) during measurements
 *
 * Functions that measure must be called by all ranks, in the same order. All ranks get the same
 * rows. If several devices are equal, the mean of their layer times is used. Only rank 0 has the
 * profile. It saves each measurement as soon as the measurement is complete. So an interruption
 * loses only the current measurement. Not thread-safe.
 */
#ifndef YK_MEASURE_PROFILER_PROFILER_H
#define YK_MEASURE_PROFILER_PROFILER_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "measure/measuring_ranks.h"
#include "model/model.h"
#include "profile/profile.h"
#include "train/training_run.h"

#include <stdbool.h>
#include <stdint.h>

/* Functions that are called during a measurement. Each may be NULL. */
struct yk_profiler_callbacks {
    void *user;
    void (*progress)(void *user, const char *what, double done); /* `done` is from 0 to 1 */
    /* Returns whether to stop. Complete measurements are kept. */
    bool (*stop)(void *user);
    void (*ran)(void *user, const struct yk_op_timeline *timeline); /* called after each step */
};

struct yk_profiler_request {
    const struct yk_model_config *config;
    struct yk_workload workload;      /* workload.batch is the largest micro-batch of a rank */
    const struct yk_cluster *cluster; /* device i belongs to rank i */
    /* Every op of this rank is made to take this many times as long, to imitate a slower device. */
    double slowdown_factor;
    double seconds; /* approximate time to measure the layers */
    bool remeasure; /* also measure what is already in the profile */
    /* Returns the device memory that this process uses. On a CPU, returns the peak memory of the
     * process. NULL means: the memory is not measured. */
    double (*used_bytes)(const struct yk_device_context *context);
    const char *versions; /* software versions, saved with each measurement */
    struct yk_profiler_callbacks callbacks;
};

struct yk_profiler_layer_row {
    struct yk_profile_layer_key layer;
    int64_t batch;
    struct yk_profile_measurement measurement;
    bool is_saved; /* the row is already in the profile */
};

struct yk_profiler_link_row {
    struct yk_profile_link_key link;
    int64_t bytes;
    struct yk_profile_measurement measurement;
    bool is_saved;
};

struct yk_profiler_fact_row {
    struct yk_profile_fact_key fact;
    struct yk_profile_measurement measurement;
    bool is_saved;
};

/* yk_profiler_init() initialises it. yk_profiler_free() also accepts a profiler that is {0}. */
struct yk_profiler {
    struct yk_arena *arena;     /* owns all strings */
    struct yk_profile *profile; /* NULL if rows are not saved, and on ranks other than 0 */
    /* The arguments of the yk_profiler_measure_…() function that is running. */
    const struct yk_measuring_ranks *team;
    const struct yk_profiler_request *request;
    struct yk_profiler_layer_row *layers;
    struct yk_profiler_link_row *links;
    struct yk_profiler_fact_row *facts;
    int32_t layer_count;
    int32_t link_count;
    int32_t fact_count;
    int32_t layer_capacity;
    int32_t link_capacity;
    int32_t fact_capacity;
    int64_t skipped_count; /* number of measurements that were skipped because they are in the
                              profile */
    int64_t blocks; /* number of blocks of the measured model; 0 means: all blocks of the requested
                       model */
    int64_t batch;  /* largest batch size that was measured; 0 means: the requested batch size */
    bool stopped;   /* the stop callback ended the measurement early */
};

yk_status yk_profiler_init(struct yk_profiler *profiler) YK_MUST_USE;
void yk_profiler_free(struct yk_profiler *profiler);

/* Measures the layers of the model. If there are several ranks, also measures slowdowns
 * (slowdown/). */
yk_status yk_profiler_measure_layers(struct yk_profiler *profiler,
                                     const struct yk_measuring_ranks *team,
                                     const struct yk_profiler_request *request) YK_MUST_USE;

/* Measures messages and collectives of up to `max_bytes` in all measured groups of ranks
 * (measured_rank_groups.h). */
yk_status yk_profiler_measure_links(struct yk_profiler *profiler,
                                    const struct yk_measuring_ranks *team,
                                    const struct yk_profiler_request *request,
                                    int64_t max_bytes) YK_MUST_USE;

/* Measures copies between host and device memory, on all ranks at the same time, as in training. If
 * several devices are equal, the time of the slowest device is used. The profile stores copies in
 * the same way as messages of a link (cost/profile_key.h). Does nothing if the device of any rank
 * uses host memory. */
yk_status yk_profiler_measure_device_copies(struct yk_profiler *profiler,
                                            const struct yk_measuring_ranks *team,
                                            const struct yk_profiler_request *request) YK_MUST_USE;

/* Like yk_profiler_measure_device_copies(), but with copies of up to `max_bytes`, and for any
 * device. */
yk_status yk_profiler_measure_device_copies_up_to(struct yk_profiler *profiler,
                                                  const struct yk_measuring_ranks *team,
                                                  const struct yk_profiler_request *request,
                                                  int64_t max_bytes) YK_MUST_USE;

/* Add a row. A row with the same key (layer and batch, link and bytes, or fact) is replaced.
 * Strings are copied. */
yk_status yk_profiler_add_layer_row(struct yk_profiler *profiler,
                                    const struct yk_profiler_layer_row *layer) YK_MUST_USE;
yk_status yk_profiler_add_link_row(struct yk_profiler *profiler,
                                   const struct yk_profiler_link_row *link) YK_MUST_USE;
yk_status yk_profiler_add_fact_row(struct yk_profiler *profiler,
                                   const struct yk_profiler_fact_row *fact) YK_MUST_USE;

/* Returns the row of the fact, or NULL if there is none. */
const struct yk_profiler_fact_row *
yk_profiler_find_fact_row(const struct yk_profiler *profiler,
                          const struct yk_profile_fact_key *fact);

/* Returns whether there is a row for the link that was measured with these software versions. The
 * message size does not matter. */
bool yk_profiler_has_link_row(const struct yk_profiler *profiler,
                              const struct yk_profile_link_key *link, const char *versions);

/* Writes the unsaved rows to `profile` in one transaction. Does not mark them as saved. */
yk_status yk_profiler_write_unsaved_rows(const struct yk_profiler *profiler,
                                         struct yk_profile *profile) YK_MUST_USE;

/* Writes the unsaved rows to profiler->profile in one transaction, and marks them as saved. */
yk_status yk_profiler_save_rows(struct yk_profiler *profiler) YK_MUST_USE;

/* Calls the stop callback. Sets `*out` to whether the callback of any rank has returned true. */
yk_status yk_profiler_should_stop(struct yk_profiler *profiler, bool *out) YK_MUST_USE;

/*
 * Returns the 75th percentile of the spreads of all layer and link rows. A spread is half the
 * interquartile range divided by the median. Rows with a time of less than 50 µs are ignored,
 * because timer resolution and wake-up latency dominate such times. Rows with a single sample are
 * also ignored. Returns NAN if no row remains.
 */
double yk_profiler_p75_spread(const struct yk_profiler *profiler);

#endif
