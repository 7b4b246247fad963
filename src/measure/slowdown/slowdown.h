/*
 * Slowdown: measures how much the computation and the messages of a rank slow each other down while
 * they overlap. On a CPU, for example, they use the same cores and memory.
 *
 * A round times a step alone, a series of messages alone, and then both at the same time. There are
 * several rounds. Of a step with messages, only the ops that overlap with messages are used:
 *   work = time that these ops take alone − time that they ran outside the overlap
 *   slowdown of computation = length of the overlap / work
 *
 * Functions that measure must be called by all ranks, in the same order.
 * yk_profiler_measure_layers() calls them and sets profiler->team and profiler->request.
 */
#ifndef YK_MEASURE_SLOWDOWN_SLOWDOWN_H
#define YK_MEASURE_SLOWDOWN_SLOWDOWN_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/benchmark/batch_sweep.h"
#include "measure/benchmark/benchmark.h"
#include "measure/profiler/measured_rank_groups.h"
#include "measure/profiler/profiler.h"

struct yk_slowdown_interval {
    double begin_s;
    double end_s;
};

/* Returns the slowdown factor of computation while the two intervals overlap. `alone_s` is the time
 * that the same computation takes without messages. Returns NAN if the overlap is too short. */
double yk_slowdown_of_overlapped_compute(struct yk_slowdown_interval compute, double alone_s,
                                         struct yk_slowdown_interval messages);

/* Returns whether the overlapped ops are a large enough fraction of the step for a measurement.
 * `overlap_s` is the time that these ops take alone, and `step_s` is the time of the step. A short
 * overlap at the end of a step cannot be used, because there, waiting for the host looks like a
 * slowdown. */
bool yk_slowdown_is_overlap_long_enough(double overlap_s, double step_s);

/* Returns the mean time of the messages that begin and end during the computation. Returns NAN if
 * there are no such messages. */
double yk_slowdown_mean_overlapped_message_s(struct yk_slowdown_interval compute,
                                             const double *begin_s, const double *end_s,
                                             int32_t count);

/* Finds the first and the last compute op that overlap with the messages. Op i ran from begin_s[i]
 * to end_s[i]. Returns false if no compute op overlaps with the messages. */
bool yk_slowdown_find_overlapped_ops(const struct yk_op_list *list, const double *begin_s,
                                     const double *end_s, struct yk_slowdown_interval messages,
                                     int32_t *first, int32_t *last);

/* Measures the slowdown of computation and the slowdown of messages, and saves them in the profile.
 * They are measured on each pair of struct yk_slowdown_rank_pairs (below) whose slowdowns are not
 * known yet. The memory of `benchmark` must be allocated. */
yk_status yk_slowdown_measure(struct yk_profiler *profiler,
                              struct yk_benchmark *benchmark) YK_MUST_USE;

/* Chooses one of the `batch_count` batch sizes of the sweep for the measurement; `*out` is its
 * index. Usually this is the largest batch size, because updates and kernel launches dominate the
 * time of small batches. If a step of this size takes long and the device is not a CPU, a smaller
 * batch size from the upper half of the list is chosen. */
yk_status yk_slowdown_choose_batch(const struct yk_measuring_ranks *team,
                                   struct yk_batch_sweep *sweep, int32_t batch_count,
                                   int32_t *out) YK_MUST_USE;

enum {
    YK_SLOWDOWN_MAX_PAIRS = 4, /* limits the total time of the measurement */
};

/* One pair of ranks for each kind of link, but at most YK_SLOWDOWN_MAX_PAIRS pairs. */
struct yk_slowdown_rank_pairs {
    struct yk_measured_rank_group *groups; /* (count) the pairs */
    int32_t count;
    double known[YK_SLOWDOWN_MAX_PAIRS]; /* known[i] is greater than 0 if both slowdowns of pair i
                                            are known */
    bool all_known;
};

/* Chooses the pairs, and finds those whose slowdowns are already in the profile. */
yk_status yk_slowdown_rank_pairs_choose(const struct yk_profiler *profiler, struct yk_arena *arena,
                                        struct yk_slowdown_rank_pairs *out) YK_MUST_USE;

/* Adds a row for each of the two devices, with its slowdown of computation. The devices have rows
 * of their own because messages slow a small GPU down more than a large one. `own` is the
 * measurement of this rank; on ranks outside the pair it has no samples. If a device is in several
 * pairs, the largest slowdown is used. */
yk_status
yk_slowdown_rank_pairs_add_device_facts(struct yk_profiler *profiler,
                                        const struct yk_measured_rank_group *pair,
                                        const struct yk_profile_measurement *own) YK_MUST_USE;

/* ---- idle_speedup.c ---- */

/*
 * Idle speed-up: measures how much faster a device computes while all other devices are idle.
 *
 * Layer times are measured while all ranks compute, as in training. Devices that share power,
 * caches or memory, such as MIG instances of one GPU, are faster alone. In a plan, some devices may
 * be unused or wait, so the planner needs both speeds. All ranks must call these functions in the
 * same order.
 */

/* Returns alone_s / with_others_s, limited to the range from 0.1 to 1. Returns NAN if one of the
 * times is unknown. */
double yk_idle_speedup_time_ratio(double alone_s, double with_others_s);

/* Sets `*out` to true if there is nothing to measure: if there is only one rank, if the device is a
 * CPU, or if request->remeasure is false and the profile has the ratios of all types of devices. */
yk_status yk_idle_speedup_can_be_skipped(const struct yk_profiler *profiler, bool *out) YK_MUST_USE;

/* Measures the ratio for every type of device, but does nothing if yk_idle_speedup_can_be_skipped()
 * says so. The memory of `benchmark` must be allocated. */
yk_status yk_idle_speedup_measure(struct yk_profiler *profiler,
                                  struct yk_benchmark *benchmark) YK_MUST_USE;

#endif
