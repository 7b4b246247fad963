/*
 * Shard set: the shards of a checkpoint, opened, and which of them has which slice.
 *
 * A set owns its files. Slices are read by pread: any number of threads may read from one set.
 */
#ifndef YK_TRAIN_CHECKPOINT_SHARD_SET_H
#define YK_TRAIN_CHECKPOINT_SHARD_SET_H

#include "base/precision.h"
#include "base/status.h"
#include "nn/net.h"
#include "nn/store/range.h"
#include "train/checkpoint/shard.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_shard_set;

/* Opens the shards of `ranks` ranks in `folder`. A tensor that is no slice is refused. */
yk_status yk_shard_set_open(const char *folder, int32_t ranks,
                            struct yk_shard_set **out) YK_MUST_USE;
void yk_shard_set_close(struct yk_shard_set *set);

/* Fails where there is a slice of a parameter that the net does not have. */
yk_status yk_shard_set_check_net(const struct yk_shard_set *set,
                                 const struct yk_net *net) YK_MUST_USE;

/* Whether there is any slice of this kind; of this parameter, unless it is NULL. */
bool yk_shard_set_has(const struct yk_shard_set *set, enum yk_shard_kind kind,
                      const struct yk_parameter *parameter);

/* Fails unless the slices of this kind are all of the parameter, every number once; what is missing
 * or there twice is named, with its file. */
yk_status yk_shard_set_check(const struct yk_shard_set *set, enum yk_shard_kind kind,
                             const struct yk_parameter *parameter) YK_MUST_USE;

/* A range of a parameter that was checked: fp32 numbers, or bytes of a frozen one. */
yk_status yk_shard_set_read(const struct yk_shard_set *set, enum yk_shard_kind kind,
                            const struct yk_parameter *parameter, struct yk_parameter_range range,
                            void *out) YK_MUST_USE;

/* What to load; shard_load.c. */
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
