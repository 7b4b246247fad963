#include "nn/store/parameter_store.h"

#include "backend/cpu/math/convert.h"

#include <inttypes.h>
#include <stdlib.h>

static int64_t element_bytes(const struct yk_parameter_store *store,
                             const struct yk_parameter *parameter,
                             enum yk_parameter_store_array array)
{
    return !parameter->trained ? 1
           : array == YK_PARAMETER_STORE_ARRAY_WEIGHTS
               ? yk_precision_bytes(store->net->workload.precision)
               : (int64_t)sizeof(float);
}

static char *array_of(const struct yk_parameter_store_layer *kept,
                      const struct yk_parameter *parameter, enum yk_parameter_store_array array)
{
    float *const states[] = {
        [YK_PARAMETER_STORE_ARRAY_MASTER] = kept->master,
        [YK_PARAMETER_STORE_ARRAY_MOMENT1] = kept->moment1,
        [YK_PARAMETER_STORE_ARRAY_MOMENT2] = kept->moment2,
    };
    if (array != YK_PARAMETER_STORE_ARRAY_WEIGHTS) {
        return (char *)states[array];
    }
    return parameter->trained ? kept->part : kept->part + kept->frozen_at;
}

int64_t yk_parameter_store_copy_range(const struct yk_parameter_store *store, int32_t layer,
                                      const struct yk_parameter *parameter,
                                      enum yk_parameter_store_array array,
                                      struct yk_parameter_range range, void *other, bool reading)
{
    const struct yk_device_context *context = &store->context;
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    const int64_t width = element_bytes(store, parameter, array);
    const int64_t first =
        yk_layer_partition_parameter_range(store->net, layer, parameter).first + range.first;
    const bool whole = array == YK_PARAMETER_STORE_ARRAY_WEIGHTS &&
                       kept->partition.kind != YK_LAYER_PARTITION_FULLY_SHARDED;
    const struct yk_layer_partition_span *spans =
        parameter->trained ? kept->spans : kept->frozen_spans;
    int64_t copied = 0;
    for (int32_t i = 0; i < (whole ? 1 : kept->span_count); i++) {
        struct yk_layer_partition_span span = {first, range.count, 0};
        if (!whole && !yk_layer_partition_span_intersect(&spans[i], first, range.count, &span)) {
            continue;
        }
        char *here = whole ? kept->weights + parameter->offset + range.first * width
                           : array_of(kept, parameter, array) + span.at * width;
        char *there = (char *)other + (span.first - first) * width;
        context->backend->copy(context->lane, reading ? there : here, reading ? here : there,
                               (size_t)(span.count * width));
        copied += span.count;
    }
    return copied;
}

static yk_status read_array(const struct yk_parameter_store *store, int32_t layer,
                            const struct yk_parameter *parameter,
                            enum yk_parameter_store_array array, struct yk_parameter_range range,
                            void *out)
{
    const bool none = store->layers[layer].partition.kind == YK_LAYER_PARTITION_ABSENT;
    const int64_t copied =
        none ? 0 : yk_parameter_store_copy_range(store, layer, parameter, array, range, out, true);
    YK_TRY(store->context.backend->lane_synchronize(store->context.lane));
    if (copied != range.count) {
        return yk_fail(YK_ERROR_INPUT,
                       "%" PRId64 " of %" PRId64 " things of \"%s\" from %" PRId64
                       " on are not kept here",
                       range.count - copied, range.count, parameter->name, range.first);
    }
    return YK_OK;
}

static yk_status write_array(const struct yk_parameter_store *store, int32_t layer,
                             const struct yk_parameter *parameter,
                             enum yk_parameter_store_array array, struct yk_parameter_range range,
                             const void *from)
{
    if (store->layers[layer].partition.kind == YK_LAYER_PARTITION_ABSENT) {
        return YK_OK;
    }
    (void)yk_parameter_store_copy_range(store, layer, parameter, array, range,
                                        (void *)(uintptr_t)from, false);
    return store->context.backend->lane_synchronize(store->context.lane);
}

/* Reads or writes 16-bit weights, converting them on the host. */
static yk_status convert_half(const struct yk_parameter_store *store, int32_t layer,
                              const struct yk_parameter *parameter, struct yk_parameter_range range,
                              const float *from, float *to)
{
    const enum yk_precision precision = store->net->workload.precision;
    uint16_t *scratch = malloc((size_t)(range.count + 1) * sizeof *scratch);
    YK_TRY_ALLOCATED(scratch);
    yk_status status = YK_OK;
    if (from) {
        yk_cpu_convert_array_from_fp32(precision, from, range.count, scratch, 0);
        status =
            write_array(store, layer, parameter, YK_PARAMETER_STORE_ARRAY_WEIGHTS, range, scratch);
    } else {
        status =
            read_array(store, layer, parameter, YK_PARAMETER_STORE_ARRAY_WEIGHTS, range, scratch);
        if (status == YK_OK) {
            yk_cpu_convert_array_to_fp32(precision, scratch, 0, range.count, to);
        }
    }
    free(scratch);
    return status;
}

/* The array that holds a state tensor most precisely. */
static enum yk_parameter_store_array find_array(const struct yk_parameter_store *store,
                                                int32_t layer, const struct yk_parameter *parameter,
                                                enum yk_state_tensor which)
{
    if (!parameter->trained || (which == YK_STATE_WEIGHTS && !store->layers[layer].master)) {
        return YK_PARAMETER_STORE_ARRAY_WEIGHTS;
    }
    return which == YK_STATE_WEIGHTS   ? YK_PARAMETER_STORE_ARRAY_MASTER
           : which == YK_STATE_MOMENT1 ? YK_PARAMETER_STORE_ARRAY_MOMENT1
                                       : YK_PARAMETER_STORE_ARRAY_MOMENT2;
}

static bool is_half(const struct yk_parameter_store *store, const struct yk_parameter *parameter)
{
    return parameter->trained && yk_net_is_16_bit(store->net);
}

yk_status yk_parameter_store_read_range(const struct yk_parameter_store *store, int32_t layer,
                                        const struct yk_parameter *parameter,
                                        enum yk_state_tensor which, struct yk_parameter_range range,
                                        void *out)
{
    const enum yk_parameter_store_array array = find_array(store, layer, parameter, which);
    return array == YK_PARAMETER_STORE_ARRAY_WEIGHTS && is_half(store, parameter)
               ? convert_half(store, layer, parameter, range, NULL, out)
               : read_array(store, layer, parameter, array, range, out);
}

yk_status yk_parameter_store_write_range(const struct yk_parameter_store *store, int32_t layer,
                                         const struct yk_parameter *parameter,
                                         enum yk_state_tensor which,
                                         struct yk_parameter_range range, const void *values)
{
    const enum yk_parameter_store_array array = find_array(store, layer, parameter, which);
    if (array != YK_PARAMETER_STORE_ARRAY_WEIGHTS) {
        YK_TRY(write_array(store, layer, parameter, array, range, values));
        if (which != YK_STATE_WEIGHTS) {
            return YK_OK;
        }
    }
    return is_half(store, parameter) ? convert_half(store, layer, parameter, range, values, NULL)
                                     : write_array(store, layer, parameter,
                                                   YK_PARAMETER_STORE_ARRAY_WEIGHTS, range, values);
}
