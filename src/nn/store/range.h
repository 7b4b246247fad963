/*
 * Store range: some of a parameter's numbers, between the host and a store that may keep only a
 * part of them.
 *
 * Trained parameters are counted in numbers and read as fp32, frozen ones in bytes as they are
 * stored. What is read must be kept here; of what is written, that which is kept here is taken. All
 * of it waits for the device; a store is used by one thread at a time.
 */
#ifndef YK_NN_STORE_RANGE_H
#define YK_NN_STORE_RANGE_H

#include "base/status.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Things `first` to `first` + `count` of a parameter: numbers of a trained one, bytes of a frozen
 * one. */
struct yk_parameter_range {
    int64_t first;
    int64_t count;
};

enum yk_state_tensor {
    YK_STATE_WEIGHTS, /* the master copy where there is one */
    YK_STATE_MOMENT1,
    YK_STATE_MOMENT2,
    YK_STATE_COUNT,
};

/* What block `block` of a holding has of a parameter: a part of it even where the weights are whole
 * (YK_PARTITION_SHARDED_STATE). False: nothing. */
bool yk_partition_range(const struct yk_partition *partition, int32_t block, const struct yk_net *net,
                        int32_t layer, const struct yk_parameter *parameter, struct yk_parameter_range *out);

/* How many blocks to ask for. */
int32_t yk_partition_range_count(const struct yk_partition *partition);

/* Whether the store keeps such numbers of the layer. */
bool yk_store_has_state(const struct yk_store *store, int32_t layer, enum yk_state_tensor which);

/* Of a trained parameter. */
yk_status yk_store_read_range(const struct yk_store *store, int32_t layer,
                              const struct yk_parameter *parameter, enum yk_state_tensor which,
                              struct yk_parameter_range range, float *out) YK_MUST_USE;
yk_status yk_store_write_range(const struct yk_store *store, int32_t layer,
                               const struct yk_parameter *parameter, enum yk_state_tensor which,
                               struct yk_parameter_range range, const float *numbers) YK_MUST_USE;

/* Of a frozen one. */
yk_status yk_store_read_frozen_range(const struct yk_store *store, int32_t layer,
                                     const struct yk_parameter *parameter, struct yk_parameter_range range,
                                     void *out) YK_MUST_USE;
yk_status yk_store_write_frozen_range(const struct yk_store *store, int32_t layer,
                                      const struct yk_parameter *parameter, struct yk_parameter_range range,
                                      const void *bytes) YK_MUST_USE;

#endif
