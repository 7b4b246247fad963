/*
 * Shard set: the open shards of a checkpoint, with an index of their slices. Here, a slice is one
 * tensor of a shard: some successive elements of a parameter (shard.h). The set owns its files. Any
 * number of threads may read from the same set, because slices are read with pread().
 */
#ifndef YK_TRAIN_CHECKPOINT_SHARD_SET_H
#define YK_TRAIN_CHECKPOINT_SHARD_SET_H

#include "base/precision.h"
#include "base/status.h"
#include "nn/net.h"
#include "nn/store/parameter_store.h"
#include "train/checkpoint/shard.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_shard_set;

/* Opens the shards of `ranks` ranks in `folder`. Fails if the name of a tensor is not the name of a
 * slice. */
yk_status yk_shard_set_open(const char *folder, int32_t ranks,
                            struct yk_shard_set **out) YK_MUST_USE;
void yk_shard_set_close(struct yk_shard_set *set);

/* Fails if the set contains a slice of a parameter that the net does not have. */
yk_status yk_shard_set_check_slices_in_net(const struct yk_shard_set *set,
                                           const struct yk_net *net) YK_MUST_USE;

/* Returns whether the set contains a slice of this kind and this parameter. If `parameter` is NULL,
 * a slice of any parameter counts. */
bool yk_shard_set_has_slice(const struct yk_shard_set *set, enum yk_shard_tensor_kind kind,
                            const struct yk_parameter *parameter);

/* Fails unless the slices of this kind contain every element of the parameter exactly once. The
 * error message says what is missing or duplicated. */
yk_status yk_shard_set_check_parameter_coverage(const struct yk_shard_set *set,
                                                enum yk_shard_tensor_kind kind,
                                                const struct yk_parameter *parameter) YK_MUST_USE;

/* Reads a range of a parameter for which yk_shard_set_check_parameter_coverage() succeeded. */
yk_status yk_shard_set_read_parameter_range(const struct yk_shard_set *set,
                                            enum yk_shard_tensor_kind kind,
                                            const struct yk_parameter *parameter,
                                            struct yk_parameter_range range, void *out) YK_MUST_USE;

/* The data that yk_shard_set_load_into_store() loads. */
struct yk_shard_set_load_options {
    enum yk_precision precision; /* precision of the saved training run */
    bool model;                  /* load the parameters of the model */
    bool adapters;
    bool state;   /* load the optimizer state */
    bool rounded; /* round the loaded weights to `precision` */
};

/* Loads the part of every parameter that the store keeps. Reads only this part from the files. If
 * the saved kind of a parameter is not the kind that the store has, reads and converts the whole
 * parameter. */
yk_status yk_shard_set_load_into_store(const struct yk_shard_set *set,
                                       const struct yk_shard_set_load_options *what,
                                       struct yk_parameter_store *store) YK_MUST_USE;

#endif
