/*
 * Plan evaluation: compiles a plan, counts the memory of every rank, and simulates the step. An
 * evaluation owns its program and its simulation if they are kept. The plan must outlive the
 * evaluation.
 */
#ifndef YK_PLANNER_SEARCH_PLAN_EVALUATION_H
#define YK_PLANNER_SEARCH_PLAN_EVALUATION_H

#include "planner/search/search_context.h"
#include "program/memory/memory.h"
#include "program/program.h"
#include "sim/sim.h"

struct yk_plan_evaluation {
    const struct yk_plan *plan;
    double step_s;             /* NAN means: the plan was not simulated */
    struct yk_error_band band; /* of `step_s`; valid with YK_PLAN_EVALUATION_KEEP_SIMULATION */
    bool fits;
    bool refused;         /* yk_plan_check() failed, and nothing was evaluated */
    int32_t rank;         /* the rank that lacks most memory; valid if the plan does not fit */
    double missing_bytes; /* memory that this rank lacks; INFINITY if the plan was refused */
    struct yk_memory_peak *peaks; /* (ranks) */
    struct yk_program *program;   /* NULL unless YK_PLAN_EVALUATION_KEEP_SIMULATION */
    struct yk_sim_result *sim;    /* NULL unless YK_PLAN_EVALUATION_KEEP_SIMULATION */
};

enum yk_plan_evaluation_level {
    YK_PLAN_EVALUATION_MEMORY_ONLY,      /* only counts memory */
    YK_PLAN_EVALUATION_SIMULATE_IF_FITS, /* simulates the plan if it fits */
    YK_PLAN_EVALUATION_SIMULATE,         /* simulates the plan in any case */
    YK_PLAN_EVALUATION_KEEP_SIMULATION,  /* simulates in any case, checks the program if the plan
                                            fits, and keeps the program and the simulation */
};

/* Evaluates a plan. With YK_PLAN_EVALUATION_KEEP_SIMULATION, fails if the plan is invalid, and
 * ignores the deadline. Otherwise, sets `refused` if the plan is invalid, and fails with
 * YK_ERROR_STOPPED when the deadline passes. */
yk_status yk_plan_evaluation_run(struct yk_search_context *context, const struct yk_plan *plan,
                                 enum yk_plan_evaluation_level effort,
                                 struct yk_plan_evaluation *out) YK_MUST_USE;

/* Replaces the kept program with a random valid order of the same ops, and simulates the new
 * program. */
yk_status yk_plan_evaluation_shuffle_program(struct yk_search_context *context, uint64_t seed,
                                             struct yk_plan_evaluation *evaluation) YK_MUST_USE;

void yk_plan_evaluation_free(struct yk_plan_evaluation *evaluation);

/*
 * Shard fractions: the fraction of sharded state that each rank stores. Communication is fastest if
 * all fractions are equal, because in every round of a ring all ranks wait for the largest
 * fraction. If there is not enough memory for equal fractions, ranks with more memory store more.
 */

/*
 * Divides `state_bytes` over `count` ranks, so that the largest fraction is minimal. room_bytes[i]
 * is the free memory of rank i. The fractions add up to 1. Fails with YK_ERROR_NO_FIT if the free
 * memory does not suffice; the fractions are then set, too: they are proportional to the free
 * memory, or equal if no rank has free memory.
 */
yk_status yk_shard_fractions_find(int32_t count, double state_bytes, const double *room_bytes,
                                  double *out_parts) YK_MUST_USE;

/*
 * Evaluates the plan. If it does not fit, or if `room_balance` is more than 0, changes its shard
 * fractions and evaluates it again, up to three times. Does not change the fractions if the search
 * does not decide them. If `room_balance` is 0, the new fractions are as equal as memory allows. If
 * it is 1, all ranks get equal free memory if possible, so that the parameters of more layers can
 * be kept after forward. Values between 0 and 1 interpolate.
 */
yk_status yk_shard_fractions_fit_plan(struct yk_search_context *context, struct yk_plan *plan,
                                      double room_balance, enum yk_plan_evaluation_level effort,
                                      struct yk_plan_evaluation *out) YK_MUST_USE;

/*
 * Sample shares: divides the samples of a batch among ranks so that the slowest rank is as fast as
 * possible. Times need not be proportional to the number of samples. A rank may get no samples.
 */
struct yk_sample_shares_problem {
    int32_t rank_count;
    int64_t samples;    /* number of samples of all ranks together */
    const int64_t *max; /* (rank_count) maximum share of each rank, given by its memory */
    /* Computes the time that `rank` needs for `samples` samples, 0 or more. The time must not
     * decrease as `samples` grows, except for rounding errors. */
    yk_status (*time)(void *user, int32_t rank, int64_t samples, double *out_s);
    void *user;
};

/*
 * Finds the shares for which the slowest rank is fastest. `*out_s` is the time of this rank. If
 * several solutions have this time, chooses the one with the smallest sum of the times of all
 * ranks, unless this would take too long to compute. If the sums are also equal, ranks with lower
 * numbers get more samples. Fails with YK_ERROR_NO_FIT if the limits `max` add up to less than
 * `samples`.
 */
yk_status yk_sample_shares_find(const struct yk_sample_shares_problem *problem, int64_t *out_shares,
                                double *out_s) YK_MUST_USE;

#endif
