/*
 * Beside: how much computation and messages of a rank hold each other up: on a CPU both want the
 * same cores and the same memory.
 *
 * A step and a row of messages each alone, then both at once, again and again. Of the step count
 * the ops that met messages. While both were under way, for a time w, they got as far as they would
 * have in what they take alone less what they did before and after; a message took what it took.
 */
#ifndef YK_MEASURE_SLOWDOWN_SLOWDOWN_H
#define YK_MEASURE_SLOWDOWN_SLOWDOWN_H

#include "base/arena.h"
#include "base/status.h"
#include "measure/benchmark/benchmark.h"
#include "measure/benchmark/rounds.h"
#include "measure/survey/exchange_groups.h"
#include "measure/survey/survey.h"

/* When something began and ended. */
struct yk_slowdown_span {
    double begin_s;
    double end_s;
};

/* How many times as long computation took while both were under way, where all of it takes
 * `alone_s` by itself; NAN where they hardly met. */
double yk_slowdown_compute_factor(struct yk_slowdown_span compute, double alone_s,
                                  struct yk_slowdown_span messages);

/* Whether messages met enough of a step to tell what they cost it: what they met takes `met_s`
 * alone, and all of the step `step_s`. Of a moment at its end, waits for the host would be taken
 * for it. */
bool yk_slowdown_is_significant(double met_s, double step_s);

/* What a message took on average, of those that were under way beside computation only; NAN where
 * there are none. */
double yk_slowdown_message_s(struct yk_slowdown_span compute, const double *begin_s,
                             const double *end_s, int32_t count);

/* The ops of a list that computed while messages were under way: from `first` to `last`, of which
 * those that do not compute do not count; false where there are none. */
bool yk_slowdown_overlapped_ops(const struct yk_program_rank *list, const double *begin_s,
                                const double *end_s, struct yk_slowdown_span messages,
                                int32_t *first, int32_t *last);

/* Measures both for a pair of ranks of every kind of link that is not known, and keeps what was
 * found of each. The rehearsal is entered. */
yk_status yk_slowdown_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                              const struct yk_survey_request *request,
                              struct yk_benchmark *benchmark) YK_MUST_USE;

/* The number of one among `batch_count` sizes, the largest of them last. All ranks ask, and are
 * told the same. */
yk_status yk_slowdown_choose_batch(const struct yk_measure_ranks *team,
                                   struct yk_benchmark_rounds *visits, int32_t batch_count,
                                   int32_t *out) YK_MUST_USE;

enum {
    YK_SLOWDOWN_MAX_PAIRS = 4, /* a step is long */
};

struct yk_slowdown_pairs {
    struct yk_exchange_group *groups; /* of the arena */
    int32_t count;
    double known[YK_SLOWDOWN_MAX_PAIRS]; /* more than 0 where both facts of the link are */
    bool all_known;
};

yk_status yk_slowdown_pairs_find(const struct yk_survey *survey,
                                 const struct yk_measure_ranks *team,
                                 const struct yk_survey_request *request, struct yk_arena *arena,
                                 struct yk_slowdown_pairs *out) YK_MUST_USE;

/* All ranks call it, with what each of the pair has found and the others with no samples. Of
 * several pairs that a device is in, the worst counts. */
yk_status yk_slowdown_pairs_add_devices(struct yk_survey *survey,
                                        const struct yk_measure_ranks *team,
                                        const struct yk_survey_request *request,
                                        const struct yk_exchange_group *pair,
                                        const struct yk_profile_measurement *own) YK_MUST_USE;

#endif
