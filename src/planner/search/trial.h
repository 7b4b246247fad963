/*
 * Trial: a plan compiled, its memory counted on every rank, simulated. A trial owns its program and
 * simulation, if they are kept. The plan must outlive it.
 */
#ifndef YK_PLANNER_SEARCH_TRIAL_H
#define YK_PLANNER_SEARCH_TRIAL_H

#include "planner/search/study.h"
#include "program/memory/memory.h"
#include "program/program.h"
#include "sim/sim.h"

struct yk_trial {
    const struct yk_plan *plan;
    double step_s; /* NAN when it was not simulated */
    struct yk_error_band
        band; /* how far off that may be, and whence its times come, if it is kept */
    bool fits;
    bool refused;                 /* it is no plan: yk_plan_check() refuses it, nothing was tried */
    int32_t rank;                 /* that lacks most, when it does not fit */
    double missing_bytes;         /* there */
    struct yk_memory_peak *peaks; /* (ranks) */
    struct yk_program *program;   /* NULL unless kept */
    struct yk_sim *sim;
};

enum yk_trial_effort {
    YK_TRIAL_MEMORY, /* no simulation */
    YK_TRIAL_TIME,   /* a simulation if it fits */
    YK_TRIAL_ALWAYS, /* a simulation whether it fits or not */
    YK_TRIAL_KEEP,   /* likewise, and program and simulation are kept, the program checked */
};

/* Ends with YK_ERROR_STOPPED after the study's deadline, unless the program is to be kept. A
 * candidate that is no plan is refused, which ends no search; one that is to be kept is an error.
 */
yk_status yk_trial_run(struct yk_study *study, const struct yk_plan *plan,
                       enum yk_trial_effort effort, struct yk_trial *out) YK_MUST_USE;
/* Replaces the program of a kept trial by another valid one, drawn by the seed. */
yk_status yk_trial_shuffle(struct yk_study *study, uint64_t seed,
                           struct yk_trial *trial) YK_MUST_USE;

void yk_trial_free(struct yk_trial *trial);

#endif
