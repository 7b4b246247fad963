/*
 * Store range: some elements of a parameter, between the host and a store that may keep only a part
 * of them.
 *
 * Trained parameters are counted in numbers and read as fp32, frozen ones in bytes as they are
 * stored. Reading fails unless the store keeps all of the range; writing ignores what it does not
 * keep. Both wait for the device; a store is used by one thread at a time.
 */
#ifndef YK_NN_STORE_RANGE_H
#define YK_NN_STORE_RANGE_H

#include "base/status.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_store_array {
    YK_STORE_ARRAY_WEIGHTS, /* as they are stored */
    YK_STORE_ARRAY_MASTER,
    YK_STORE_ARRAY_MOMENT1,
    YK_STORE_ARRAY_MOMENT2,
};

/* Enqueues copies between an array of the store, as far as it has the range, and `other`, where all
 * of the range is: on the host or the device. Returns how many elements are copied. */
int64_t yk_store_copy_range(const struct yk_store *store, int32_t layer,
                            const struct yk_parameter *parameter, enum yk_store_array array,
                            struct yk_parameter_range range, void *other, bool reading);

/* `which` counts of a trained parameter alone. */
yk_status yk_store_read_range(const struct yk_store *store, int32_t layer,
                              const struct yk_parameter *parameter, enum yk_state_tensor which,
                              struct yk_parameter_range range, void *out) YK_MUST_USE;
yk_status yk_store_write_range(const struct yk_store *store, int32_t layer,
                               const struct yk_parameter *parameter, enum yk_state_tensor which,
                               struct yk_parameter_range range, const void *values) YK_MUST_USE;

#endif
