/*
 * Parameter range: copies a range of a parameter between the host and a store, which may keep only
 * a part of the parameter.
 *
 * The elements of a trained parameter are numbers, which are read and written as fp32. The elements
 * of a frozen parameter are bytes in its stored format. Reading fails unless the store keeps the
 * whole range. Writing ignores elements that the store does not keep. Reading and writing wait for
 * the device. Only one thread at a time may use a store.
 */
#ifndef YK_NN_STORE_PARAMETER_RANGE_H
#define YK_NN_STORE_PARAMETER_RANGE_H

#include "base/status.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_parameter_store_array {
    YK_PARAMETER_STORE_ARRAY_WEIGHTS, /* weights in their stored format */
    YK_PARAMETER_STORE_ARRAY_MASTER,
    YK_PARAMETER_STORE_ARRAY_MOMENT1,
    YK_PARAMETER_STORE_ARRAY_MOMENT2,
};

/* Enqueues copies between an array of the store and `other`, for the elements of the range that the
 * store keeps. `other` holds the whole range on the host or the device. If `reading` is true,
 * copies from the store to `other`. Otherwise copies from `other` to the store. Returns the number
 * of copied elements. */
int64_t yk_parameter_store_copy_range(const struct yk_parameter_store *store, int32_t layer,
                                      const struct yk_parameter *parameter,
                                      enum yk_parameter_store_array array,
                                      struct yk_parameter_range range, void *other, bool reading);

/* These functions read and write a range. `which` is ignored for a frozen parameter. */
yk_status yk_parameter_store_read_range(const struct yk_parameter_store *store, int32_t layer,
                                        const struct yk_parameter *parameter,
                                        enum yk_state_tensor which, struct yk_parameter_range range,
                                        void *out) YK_MUST_USE;
yk_status yk_parameter_store_write_range(const struct yk_parameter_store *store, int32_t layer,
                                         const struct yk_parameter *parameter,
                                         enum yk_state_tensor which,
                                         struct yk_parameter_range range,
                                         const void *values) YK_MUST_USE;

#endif
