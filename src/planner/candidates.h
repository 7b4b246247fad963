/*
 * Candidates: maps worth evaluating for a step, and the best of them: the start of the search for a
 * placement.
 */
#ifndef YK_PLANNER_CANDIDATES_H
#define YK_PLANNER_CANDIDATES_H

#include "planner/evaluate.h"
#include "planner/step.h"

#include <stdint.h>

/* The best of the schedules considered, and the best of those that use every device. */
struct yk_contest {
    const struct yk_step *step;
    struct yk_schedule *best;
    struct yk_schedule *best_of_all; /* of those on all devices */
    struct yk_fit_report fit;        /* of the best */
    bool found;                      /* `best` holds a schedule */
    bool found_on_all;               /* `best_of_all` does, and it fits */
    struct yk_schedule *trial;       /* room for the next */
};

yk_status yk_contest_create(const struct yk_step *step, struct yk_contest *out) YK_MUST_USE;
void yk_contest_free(struct yk_contest *contest);

/* Considers every pipeline of unequal stages worth it and every single device: maps in which a
 * layer has one device. */
yk_status yk_contest_fill_undivided(struct yk_contest *contest) YK_MUST_USE;

/* Considers what may divide a layer's micro-batches over devices, too: whole copies of the model
 * that share the micro-batches, and the quick schedulers. */
yk_status yk_contest_fill_divided(struct yk_contest *contest) YK_MUST_USE;

/* Moves the cuts of the best, which is undivided, as long as that makes it shorter. */
yk_status yk_contest_refine(struct yk_contest *contest) YK_MUST_USE;

#endif
