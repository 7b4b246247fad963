/*
 * Beside pairs: a pair of ranks for every kind of link, and whether the profile knows how much
 * computation and messages hold each other up there. All ranks ask, in one order, and are told the
 * same.
 */
#ifndef YK_MEASURE_SLOWDOWN_PAIRS_H
#define YK_MEASURE_SLOWDOWN_PAIRS_H

#include "measure/survey/exchange_groups.h"
#include "measure/survey/survey.h"

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
