/*
 * Beside pairs: a pair of ranks for every kind of link, and whether the profile knows how much
 * computation and messages hold each other up there. All ranks ask, in one order, and are told the
 * same.
 */
#ifndef YK_MEASURE_BESIDE_PAIRS_H
#define YK_MEASURE_BESIDE_PAIRS_H

#include "measure/parties.h"
#include "measure/survey.h"

enum {
    YK_BESIDE_MOST_PAIRS = 4, /* a step is long */
};

struct yk_beside_pairs {
    struct yk_party *parties; /* of the arena */
    int32_t count;
    double known[YK_BESIDE_MOST_PAIRS]; /* more than 0 where both facts of the link are */
    bool all_known;
};

yk_status yk_beside_pairs_find(const struct yk_survey *survey, const struct yk_measure_ranks *team,
                               const struct yk_survey_wish *wish, struct yk_arena *arena,
                               struct yk_beside_pairs *out) YK_MUST_USE;

#endif
