/*
 * Slowdown: how much computation and messages of a rank slow each other down while they overlap. On
 * a CPU, for example, both use the same cores and memory.
 *
 * A step and a series of messages are timed separately and then at the same time, repeatedly. Only
 * the ops of the step that overlap messages are used. The work done during the overlap is the time
 * these ops take alone, minus the time they ran before and after the overlap. All ranks call the
 * functions that measure in the same order.
 */
#ifndef YK_MEASURE_SLOWDOWN_SLOWDOWN_H
#define YK_MEASURE_SLOWDOWN_SLOWDOWN_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/benchmark/batch_sweep.h"
#include "measure/benchmark/benchmark.h"
#include "measure/profiler/link_groups.h"
#include "measure/profiler/profiler.h"

struct yk_slowdown_interval {
    double begin_s;
    double end_s;
};

/* Slowdown factor of computation during the overlap. `alone_s` is the time of the same computation
 * without messages. NAN if the overlap is too short. */
double yk_slowdown_compute_factor(struct yk_slowdown_interval compute, double alone_s,
                                  struct yk_slowdown_interval messages);

/* Whether the overlapped ops, which take `overlap_s` alone, are a large enough fraction of a step
 * of `step_s`. In a short overlap at the end of a step, waits for the host would look like
 * slowdown. */
bool yk_slowdown_is_significant(double overlap_s, double step_s);

/* Mean time of the messages that lie entirely within the computation; NAN if there are none. */
double yk_slowdown_mean_message_s(struct yk_slowdown_interval compute, const double *begin_s,
                                  const double *end_s, int32_t count);

/* Finds the first and the last compute op that overlap the messages. Returns false if there are
 * none. */
bool yk_slowdown_find_overlapped_ops(const struct yk_op_list *list, const double *begin_s,
                                     const double *end_s, struct yk_slowdown_interval messages,
                                     int32_t *first, int32_t *last);

/* Measures both slowdowns for every kind of link that the profile does not have, on one pair of
 * ranks each, and saves them. The memory of `benchmark` must be allocated. */
yk_status yk_slowdown_measure(struct yk_profiler *profiler, const struct yk_measure_team *team,
                              const struct yk_profiler_request *request,
                              struct yk_benchmark *benchmark) YK_MUST_USE;

/* Chooses one of `batch_count` batch sizes, sorted ascending, for the measurement. It is the
 * largest one, as in training, because small batches are dominated by updates and kernel launches.
 * If messages use no host cores and that step takes long, it is a smaller one of the upper half. */
yk_status yk_slowdown_choose_batch(const struct yk_measure_team *team, struct yk_batch_sweep *sweep,
                                   int32_t batch_count, int32_t *out) YK_MUST_USE;

enum {
    YK_SLOWDOWN_MAX_PAIRS = 4, /* limits the total time, because steps take long */
};

/* One pair of ranks for every kind of link. */
struct yk_slowdown_pairs {
    struct yk_link_group *groups; /* in the arena */
    int32_t count;
    double known[YK_SLOWDOWN_MAX_PAIRS]; /* above 0: the profile has both slowdowns of the link */
    bool all_known;
};

/* Finds the pairs, and which of them the profile already has. */
yk_status yk_slowdown_pairs_find(const struct yk_profiler *profiler,
                                 const struct yk_measure_team *team,
                                 const struct yk_profiler_request *request, struct yk_arena *arena,
                                 struct yk_slowdown_pairs *out) YK_MUST_USE;

/* Adds the compute slowdown of each device of the pair; messages slow a small GPU more than a large
 * one. `own` is the measurement of this rank; it has no samples on ranks outside the pair. If a
 * device is in several pairs, the largest slowdown is kept. */
yk_status yk_slowdown_pairs_add_devices(struct yk_profiler *profiler,
                                        const struct yk_measure_team *team,
                                        const struct yk_profiler_request *request,
                                        const struct yk_link_group *pair,
                                        const struct yk_profile_measurement *own) YK_MUST_USE;

/* ---- idle_speedup.c ---- */

/*
 * Idle speed-up: how much faster a device computes while all other devices are idle.
 *
 * Layer times are measured while all ranks compute, as in training. Devices that share power,
 * caches or memory, such as parts of one GPU, are faster alone. A plan may use only some devices,
 * or let some wait, so the planner needs both speeds. All ranks call the same functions in the same
 * order.
 */

/* alone_s / with_others_s, at most 1; NAN if either is unknown. */
double yk_idle_speedup_time_ratio(double alone_s, double with_others_s);

/* Whether nothing needs to be measured: the profile has the factor of all device types, or there is
 * only one rank, or the devices are CPUs. */
yk_status yk_idle_speedup_is_known(const struct yk_profiler *profiler,
                                   const struct yk_measure_team *team,
                                   const struct yk_profiler_request *request,
                                   bool *out) YK_MUST_USE;

/* Measures the factor for every type of device with its own memory, unless it is known. The memory
 * of `benchmark` must be allocated. */
yk_status yk_idle_speedup_measure(struct yk_profiler *profiler, const struct yk_measure_team *team,
                                  const struct yk_profiler_request *request,
                                  struct yk_benchmark *benchmark) YK_MUST_USE;

#endif
