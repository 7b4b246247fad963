/*
 * Record: a finished run: the yk_sim that its owner sees, and the rounds around the one reported,
 * which show what memory is held over the end of a round.
 */
#ifndef YK_SIM_RECORD_H
#define YK_SIM_RECORD_H

#include "program/memory/memory.h"
#include "sim/rank_classes.h"
#include "sim/rounds.h"
#include "sim/sim.h"

struct yk_sim_record {
    struct yk_sim sim; /* first: a yk_sim is the beginning of its record */
    struct yk_rank_classes classes;
    struct yk_rounds *rounds;            /* times are from the start of the round reported */
    struct yk_program_memory **memories; /* (classes) */
};

static inline const struct yk_sim_record *yk_sim_record_of(const struct yk_sim *sim)
{
    return (const struct yk_sim_record *)sim;
}

#endif
