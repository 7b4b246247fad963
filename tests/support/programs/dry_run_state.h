/*
 * Pretend notes: the pieces of paper of tests/support/programs/dry_run.h, shared by its sources:
 * what ranks have, what was done with it, and how far lanes have come.
 *
 * All of it lies in the arena of one run.
 */
#ifndef YK_TESTS_SUPPORT_PROGRAMS_DRY_RUN_STATE_H
#define YK_TESTS_SUPPORT_PROGRAMS_DRY_RUN_STATE_H

#include "base/arena.h"
#include "base/random.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PRETEND_STEPS = 3,
    PRETEND_ABSENT = -1,
    PRETEND_ON_ITS_WAY = -2,
    PRETEND_NOBODY = -1,
};

/* What a rank has of a layer. Weights that went through k updates are k old. */
struct pretend_holding {
    int32_t own;      /* age of what the rank keeps for itself */
    int32_t *blocks;  /* age of the weights that passes use, by block */
    int32_t *reduced; /* (steps, M, blocks) how often each block of the gradient was reduced */
};

/* What was done with a layer in a micro-batch of a step. */
struct pretend_progress {
    bool forward;
    bool recompute;
    bool backward;
    int64_t received;           /* samples of its output */
    int64_t gradients_received; /* samples of its output's gradient */
};

struct pretend_lane {
    int32_t *ops; /* numbers in the list */
    int32_t count;
    int32_t next;  /* of all rounds */
    bool running;  /* the next one */
    double weight; /* how likely it is to get on */
};

struct pretend_actor {
    const struct yk_op_list *list;
    int32_t *positions; /* (ops) in their lanes */
    struct pretend_lane lanes[YK_LANE_COUNT];
    struct pretend_holding *layers;    /* (L) */
    struct pretend_progress *progress; /* (steps, L, M) */
    bool *loaded;                      /* (steps, M) */
    int32_t agreed;                    /* steps */
};

struct pretend {
    const struct yk_program *program;
    const struct yk_plan *plan;
    const struct yk_model *model;
    struct yk_arena *arena;
    struct yk_random random;
    struct pretend_actor *actors;
    int32_t L;
    int32_t M;
    const char *wrong;
};

/* The op that a lane is in or comes to. */
const struct yk_op *pretend_next_op(const struct pretend_actor *actor, int32_t lane);

/* Which member of a group a rank is; PRETEND_NOBODY: none. */
int32_t pretend_member_of(const struct pretend *pretend, int32_t group, int32_t rank);

/* Its weights are on a rank only for a while. */
bool pretend_is_gathered(const struct pretend *pretend, int32_t layer);

/* At least one. */
int32_t pretend_blocks_of(const struct pretend *pretend, int32_t layer);

struct pretend_progress *pretend_progress_of(const struct pretend *pretend, int32_t rank,
                                             int32_t step, int32_t layer, int32_t micro_batch);

/* How often a block of the gradient was reduced. */
int32_t *pretend_reduced_of(const struct pretend *pretend, int32_t rank, int32_t step,
                            int32_t layer, int32_t micro_batch, int32_t block);

/* Says what is wrong with an op; only what is said first is kept. */
void pretend_complain(struct pretend *pretend, int32_t rank, const struct yk_op *op,
                      const char *what);

/* An op of a step starts: complains unless all is there that it needs. */
void pretend_start(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op);

/* It ends: notes what it leaves. */
void pretend_end(struct pretend *pretend, int32_t rank, int32_t step, const struct yk_op *op);

#endif
