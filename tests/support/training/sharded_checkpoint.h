/*
 * Sharded: checkpoints that several ranks save and load together, told apart by their step as small
 * checkpoints are. Ranks are threads; each keeps what a layout drawn from a seed gives it: one
 * group of all ranks or several, of any strategies, parts and blocks.
 *
 * Whatever goes wrong that should not fails the test.
 */
#ifndef YK_TESTS_SUPPORT_TRAINING_SHARDED_CHECKPOINT_H
#define YK_TESTS_SUPPORT_TRAINING_SHARDED_CHECKPOINT_H

#include "comm/communicator.h"
#include "program/program.h"
#include "support/training/small_store.h"
#include "train/checkpoint/checkpoint.h"

enum {
    SHARDED_MAX_RANKS = 8
};

struct sharded_world {
    const struct small_store_request *request;
    const char *folder;
    int32_t ranks; /* 1: today's form, of one rank alone */
    uint64_t seed; /* of the layout */
    const char *base_model;
};

/* The rank that the calling thread is; 0 outside. For tests that break one rank's calls. */
extern _Thread_local int32_t sharded_rank;

/* The layers of a net dealt out to ranks: plan and layers are all that the program has. */
struct yk_program *sharded_program(const struct yk_net *net, int32_t ranks, uint64_t seed,
                                   struct yk_arena *arena);

/* Saves a checkpoint whose numbers follow from `step`. The status is that of every rank, and so is
 * its sentence. */
yk_status sharded_save(const struct sharded_world *world, int64_t step, int32_t keep);

/* Saves steps from `step` on, until something fails. */
yk_status sharded_save_forever(const struct sharded_world *world, int64_t step, int32_t keep);

/* Opens the folder and loads it; `out` is its step, after all ranks made sure that what they keep
 * is of that step. */
yk_status sharded_load(const struct sharded_world *world, int64_t *out);

#endif
