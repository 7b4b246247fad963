/*
 * Slowdown: how much computation and messages of a rank slow each other: on a CPU both use the same
 * cores and the same memory.
 *
 * A step and a row of messages each alone, then both at once, again and again. Of the step count
 * the ops that overlapped messages. During the overlap they got as far as they would have in the
 * time that they take alone less what they took before and after it. All ranks call the functions
 * that measure, in one order.
 */
#ifndef YK_MEASURE_SLOWDOWN_SLOWDOWN_H
#define YK_MEASURE_SLOWDOWN_SLOWDOWN_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/benchmark/benchmark.h"
#include "measure/benchmark/rounds.h"
#include "measure/survey/exchange_groups.h"
#include "measure/survey/survey.h"

struct yk_slowdown_span {
    double begin_s;
    double end_s;
};

/* How many times as long computation took during the overlap, where all of it takes `alone_s`
 * alone; NAN where they hardly overlap. */
double yk_slowdown_compute_factor(struct yk_slowdown_span compute, double alone_s,
                                  struct yk_slowdown_span messages);

/* Whether the ops that overlap messages, which take `overlap_s` alone, are enough of a step, which
 * takes `step_s`: of a short overlap at its end, waits for the host would count as slowdown. */
bool yk_slowdown_is_significant(double overlap_s, double step_s);

/* The mean time of the messages that were entirely within the computation; NAN where there are
 * none. */
double yk_slowdown_message_s(struct yk_slowdown_span compute, const double *begin_s,
                             const double *end_s, int32_t count);

/* The first and the last op that computed while messages were in flight; false where there are
 * none. */
bool yk_slowdown_overlapped_ops(const struct yk_program_rank *list, const double *begin_s,
                                const double *end_s, struct yk_slowdown_span messages,
                                int32_t *first, int32_t *last);

/* Measures both for a pair of ranks of every kind of link that is not known, and saves what was
 * found of each. The benchmark is allocated. */
yk_status yk_slowdown_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                              const struct yk_survey_request *request,
                              struct yk_benchmark *benchmark) YK_MUST_USE;

/* By which of `batch_count` sizes, the largest of them last: by the largest, as in training, since
 * a step of few samples is updates and launches. Where messages use none of the host's cores, and
 * such a step is long, by a smaller one among the larger half. */
yk_status yk_slowdown_choose_batch(const struct yk_measure_ranks *team,
                                   struct yk_benchmark_rounds *rounds, int32_t batch_count,
                                   int32_t *out) YK_MUST_USE;

enum {
    YK_SLOWDOWN_MAX_PAIRS = 4, /* a step is long */
};

/* A pair of ranks for every kind of link. */
struct yk_slowdown_pairs {
    struct yk_exchange_group *groups; /* of the arena */
    int32_t count;
    double known[YK_SLOWDOWN_MAX_PAIRS]; /* above 0: the profile has both facts of the link */
    bool all_known;
};

yk_status yk_slowdown_pairs_find(const struct yk_survey *survey,
                                 const struct yk_measure_ranks *team,
                                 const struct yk_survey_request *request, struct yk_arena *arena,
                                 struct yk_slowdown_pairs *out) YK_MUST_USE;

/* Adds how much messages slow each device of the pair: sending uses more of a small GPU than of a
 * large one. The ranks of the pair give what they have found, the others no samples. Of several
 * pairs that a device is in, the worst counts. */
yk_status yk_slowdown_pairs_add_devices(struct yk_survey *survey,
                                        const struct yk_measure_ranks *team,
                                        const struct yk_survey_request *request,
                                        const struct yk_exchange_group *pair,
                                        const struct yk_profile_measurement *own) YK_MUST_USE;

#endif
