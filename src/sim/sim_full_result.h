/*
 * Simulator internals: the complete result of a simulation. Callers see only its first member, a
 * struct yk_sim_result. The complete result also contains the iterations before and after the
 * reported iteration, because a buffer can live from one iteration to the next.
 */
#ifndef YK_SIM_SIM_FULL_RESULT_H
#define YK_SIM_SIM_FULL_RESULT_H

#include "program/memory/memory.h"
#include "sim/iterations.h"
#include "sim/rank_classes.h"
#include "sim/sim.h"

struct yk_sim_full_result {
    struct yk_sim_result sim; /* must be the first member */
    struct yk_rank_classes classes;
    /* In `start_s` and `end_s`, time 0 is the start of the reported iteration. In
     * `end_s_of_iteration`, time 0 is the start of the simulation. */
    struct yk_sim_iterations *iterations;
    struct yk_program_memory **memories; /* (classes) */
};

static inline const struct yk_sim_full_result *
yk_sim_full_result_of(const struct yk_sim_result *sim)
{
    return (const struct yk_sim_full_result *)sim;
}

#endif
