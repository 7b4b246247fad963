/*
 * Simulator internals: the complete result of a simulation. Callers see its first member, a yk_sim.
 * It also has the iterations before and after the reported one, which are needed to compute memory
 * that is held beyond an iteration.
 */
#ifndef YK_SIM_RECORD_H
#define YK_SIM_RECORD_H

#include "program/memory/memory.h"
#include "sim/rank_classes.h"
#include "sim/rounds.h"
#include "sim/sim.h"

struct yk_sim_record {
    struct yk_sim sim; /* must be the first member */
    struct yk_rank_classes classes;
    struct yk_rounds *rounds;            /* time 0 is the start of the reported iteration */
    struct yk_program_memory **memories; /* (classes) */
};

static inline const struct yk_sim_record *yk_sim_record_of(const struct yk_sim *sim)
{
    return (const struct yk_sim_record *)sim;
}

#endif
