/*
 * Shard set: all shards of a checkpoint, opened, with an index of their slices. The set owns its
 * files. Any number of threads may read from one set, because slices are read by pread().
 */
#ifndef YK_TRAIN_CHECKPOINT_SHARD_SET_H
#define YK_TRAIN_CHECKPOINT_SHARD_SET_H

#include "base/precision.h"
#include "base/status.h"
#include "nn/net.h"
#include "nn/store/parameter_range.h"
#include "train/checkpoint/shard.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_shard_set;

/* Opens the shards of `ranks` ranks in `folder`. Fails if a tensor's name is not that of a slice.
 */
yk_status yk_shard_set_open(const char *folder, int32_t ranks,
                            struct yk_shard_set **out) YK_MUST_USE;
void yk_shard_set_close(struct yk_shard_set *set);

/* Fails if there is a slice of a parameter that the net does not have. */
yk_status yk_shard_set_check_net(const struct yk_shard_set *set,
                                 const struct yk_net *net) YK_MUST_USE;

/* Whether there is a slice of this kind and parameter. NULL: of any parameter. */
bool yk_shard_set_has_slice(const struct yk_shard_set *set, enum yk_shard_kind kind,
                            const struct yk_parameter *parameter);

/* Fails unless the slices of this kind contain every element of the parameter exactly once. The
 * error names what is missing or duplicated. */
yk_status yk_shard_set_check_parameter(const struct yk_shard_set *set, enum yk_shard_kind kind,
                                       const struct yk_parameter *parameter) YK_MUST_USE;

/* Reads a range of a parameter for which yk_shard_set_check_parameter() succeeded. */
yk_status yk_shard_set_read(const struct yk_shard_set *set, enum yk_shard_kind kind,
                            const struct yk_parameter *parameter, struct yk_parameter_range range,
                            void *out) YK_MUST_USE;

/* What yk_shard_load() loads. */
struct yk_shard_load {
    enum yk_precision precision; /* of the training that was saved */
    bool model;                  /* the parameters of the model */
    bool adapters;
    bool state;   /* the optimizer state */
    bool rounded; /* round master weights to `precision` */
};

/* Loads the part of every parameter that the store keeps, and reads nothing else. */
yk_status yk_shard_load(const struct yk_shard_set *set, const struct yk_shard_load *what,
                        struct yk_parameter_store *store) YK_MUST_USE;

#endif
