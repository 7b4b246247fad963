/*
 * Sound plan: random plans that compile into programs which train, of small models on up to four
 * unequal devices: all strategies, one group or several, accumulation, adapters, shared weights,
 * shares of nothing, turns, orders of transfers.
 */
#ifndef YK_TESTS_SOUND_PLAN_H
#define YK_TESTS_SOUND_PLAN_H

#include "base/random.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"

struct sound_plan {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_model_cache *cache;
    struct yk_plan *plan;
};

/* One seed gives one plan, which yk_plan_check() passes. Limits are the devices' memories. */
struct sound_plan sound_plan_make(uint64_t seed);
/* The same, of the model whose config.json is given. */
struct sound_plan sound_plan_make_for(uint64_t seed, const char *config);
void sound_plan_free(struct sound_plan *sound);

#endif
