/* Shard load: what the shards of a checkpoint hold into a store, which may keep all of it or a
 * part. */
#ifndef YK_TRAIN_CHECKPOINT_SHARD_LOAD_H
#define YK_TRAIN_CHECKPOINT_SHARD_LOAD_H

#include "base/precision.h"
#include "base/status.h"
#include "nn/store/store.h"
#include "train/checkpoint/shard_set.h"

#include <stdbool.h>

struct yk_shard_load {
    enum yk_precision precision; /* of the training that was saved */
    bool model;                  /* the shards have the model's own parameters */
    bool adapters;               /* they have adapters */
    bool state;                  /* they have the optimizer's state, and it is wanted */
    bool rounded;                /* weights are wanted as the training computed with them */
};

/* Reads what the store keeps of every parameter, and nothing else of it. */
yk_status yk_shard_load(const struct yk_shard_set *set, const struct yk_shard_load *what,
                        struct yk_store *store) YK_MUST_USE;

#endif
