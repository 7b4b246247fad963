/*
 * Finder: the best plan found so far, and the nearest to fit as long as none does.
 *
 * A finder owns copies of both. Candidates are made in an arena of their own, which ends with them.
 */
#ifndef YK_PLANNER_FINDER_H
#define YK_PLANNER_FINDER_H

#include "planner/study.h"
#include "planner/trial.h"

struct yk_finder {
    struct yk_study *study;
    struct yk_arena *arena;        /* owns the two plans */
    const struct yk_plan *best;    /* NULL: none fits so far */
    double best_s;                 /* INFINITY then */
    const char *how;               /* the best was found; constant */
    const struct yk_plan *nearest; /* that lacks least, as long as none fits */
    double missing_bytes;
    int32_t missing_device;
};

yk_status yk_finder_create(struct yk_study *study, struct yk_finder *out) YK_MUST_USE;
void yk_finder_free(struct yk_finder *finder);

/* Tries a plan out and keeps a copy if it is the best. `out_s` is its time, NAN if it does not fit;
 * it may be NULL. */
yk_status yk_finder_consider(struct yk_finder *finder, const struct yk_plan *plan, const char *how,
                             double *out_s) YK_MUST_USE;

/* Which devices the candidates use. */
enum yk_finder_devices {
    YK_FIND_ON_ALL,
    YK_FIND_ON_SOME,
};

/* Considers the families of plans, all within the study's budget. */
yk_status yk_finder_split(struct yk_finder *finder, enum yk_finder_devices devices) YK_MUST_USE;
yk_status yk_finder_pipelines(struct yk_finder *finder, enum yk_finder_devices devices) YK_MUST_USE;

/* Both, on all devices and then on some of them. */
yk_status yk_finder_look(struct yk_finder *finder) YK_MUST_USE;

/* Makes the best better: small changes of shares, cuts and sizes, and the best order of
 * communication. */
yk_status yk_finder_polish(struct yk_finder *finder) YK_MUST_USE;

#endif
