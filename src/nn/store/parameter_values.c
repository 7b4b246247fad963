/* Reads and writes whole parameters of a store, and finds values that are not finite. */
#include "nn/store/parameter_store.h"

#include <math.h>

/* Allocates device memory for a parameter in fp32. */
static yk_status allocate_fp32(const struct yk_parameter_store *store,
                               const struct yk_parameter *parameter, void **out)
{
    return store->context.backend->allocate(store->context.device,
                                            (size_t)parameter->count * sizeof(float), out);
}

static bool has_master(const struct yk_parameter_store *store, int32_t layer,
                       const struct yk_parameter *parameter)
{
    return parameter->trained && store->layers[layer].master;
}

static bool is_plain_fp32(const struct yk_parameter_store *store,
                          const struct yk_parameter *parameter)
{
    return parameter->format == YK_PARAMETER_FP32 ||
           (parameter->format == YK_PARAMETER_PLAIN && !yk_net_is_16_bit(store->net));
}

/* Converts a stored parameter to fp32. */
static void convert_to_fp32(const struct yk_parameter_store *store, int32_t layer,
                            const struct yk_parameter *parameter, void *to)
{
    const struct yk_backend *backend = store->context.backend;
    void *at = store->layers[layer].weights + parameter->offset;
    if (parameter->format == YK_PARAMETER_NF4) {
        struct yk_dequantise_op op = {
            .count = parameter->count, .to = to, .type = YK_PRECISION_FP32};
        (void)yk_ops_lay_out_nf4_tensor(at, parameter->count, &op.from);
        backend->dequantise(store->context.lane, &op);
    } else {
        backend->cast(store->context.lane, &(struct yk_cast_op){
                                               .count = parameter->count,
                                               .from = at,
                                               .to = to,
                                               .from_type = store->net->workload.precision,
                                               .to_type = YK_PRECISION_FP32,
                                           });
    }
}

yk_status yk_parameter_store_read_values(const struct yk_parameter_store *store, int32_t layer,
                                         const struct yk_parameter *parameter, float *out)
{
    const struct yk_device_context *context = &store->context;
    const size_t bytes = (size_t)parameter->count * sizeof *out;
    void *scratch = NULL;
    if (has_master(store, layer, parameter)) {
        return yk_device_context_copy_and_wait(
            context, out, store->layers[layer].master + parameter->first, bytes);
    }
    if (is_plain_fp32(store, parameter)) {
        return yk_device_context_copy_and_wait(
            context, out, store->layers[layer].weights + parameter->offset, bytes);
    }
    YK_TRY(allocate_fp32(store, parameter, &scratch));
    convert_to_fp32(store, layer, parameter, scratch);
    const yk_status status = yk_device_context_copy_and_wait(context, out, scratch, bytes);
    context->backend->free(context->device, scratch);
    return status;
}

/* Copies the kept part of a parameter from `from`, which holds all of it in the array's format. */
static void copy_kept(const struct yk_parameter_store *store, int32_t layer,
                      const struct yk_parameter *parameter, enum yk_parameter_store_array array,
                      const void *from)
{
    const struct yk_parameter_range all = {
        0, yk_layer_partition_parameter_range(store->net, layer, parameter).count};
    (void)yk_parameter_store_copy_range(store, layer, parameter, array, all,
                                        (void *)(uintptr_t)from, false);
}

/* Converts fp32 to the format in which the parameter is stored. */
static void convert_from_fp32(const struct yk_parameter_store *store,
                              const struct yk_parameter *parameter, const void *from, void *to)
{
    const struct yk_backend *backend = store->context.backend;
    if (parameter->format == YK_PARAMETER_NF4) {
        struct yk_quantise_op op = {
            .count = parameter->count, .from = from, .type = YK_PRECISION_FP32};
        (void)yk_ops_lay_out_nf4_tensor(to, parameter->count, &op.to);
        backend->quantise(store->context.lane, &op);
    } else {
        backend->cast(store->context.lane, &(struct yk_cast_op){
                                               .count = parameter->count,
                                               .from = from,
                                               .to = to,
                                               .from_type = YK_PRECISION_FP32,
                                               .to_type = store->net->workload.precision,
                                           });
    }
}

/* Copies `given` numbers to `scratch` and repeats them up to `count`, by doubling on the device. */
static void copy_repeated(const struct yk_device_context *context, const float *numbers,
                          int64_t given, int64_t count, float *scratch)
{
    int64_t done = given < count ? given : count;
    context->backend->copy(context->lane, scratch, numbers, (size_t)done * sizeof *scratch);
    while (done < count) {
        const int64_t more = done < count - done ? done : count - done;
        context->backend->copy(context->lane, scratch + done, scratch,
                               (size_t)more * sizeof *scratch);
        done += more;
    }
}

/* Stores a parameter from fp32 in `scratch`. `stored` is memory for the whole parameter in its
 * stored format, if the store keeps only a part; else NULL. */
static void write_stored(const struct yk_parameter_store *store, int32_t layer,
                         const struct yk_parameter *parameter, const float *scratch, void *stored)
{
    if (is_plain_fp32(store, parameter)) {
        copy_kept(store, layer, parameter, YK_PARAMETER_STORE_ARRAY_WEIGHTS, scratch);
        return;
    }
    if (has_master(store, layer, parameter)) {
        copy_kept(store, layer, parameter, YK_PARAMETER_STORE_ARRAY_MASTER, scratch);
    }
    convert_from_fp32(store, parameter, scratch,
                      stored ? stored : store->layers[layer].weights + parameter->offset);
    if (stored) {
        copy_kept(store, layer, parameter, YK_PARAMETER_STORE_ARRAY_WEIGHTS, stored);
    }
}

/* Converts and stores a parameter on the device. */
static yk_status convert(const struct yk_parameter_store *store, int32_t layer,
                         const struct yk_parameter *parameter, const float *numbers, int64_t given)
{
    const struct yk_device_context *context = &store->context;
    const bool whole = store->layers[layer].partition.kind != YK_LAYER_PARTITION_FULLY_SHARDED;
    void *scratch = NULL;
    void *stored = NULL;
    yk_status status = allocate_fp32(store, parameter, &scratch);
    if (status == YK_OK && !whole && !is_plain_fp32(store, parameter)) {
        status = context->backend->allocate(context->device,
                                            yk_net_parameter_bytes(store->net, parameter), &stored);
    }
    if (status == YK_OK) {
        copy_repeated(context, numbers, given, parameter->count, scratch);
        write_stored(store, layer, parameter, scratch, stored);
        status = context->backend->lane_synchronize(context->lane);
    }
    context->backend->free(context->device, scratch);
    context->backend->free(context->device, stored);
    return status;
}

yk_status yk_parameter_store_write_values(const struct yk_parameter_store *store, int32_t layer,
                                          const struct yk_parameter *parameter,
                                          const float *numbers)
{
    if (store->layers[layer].partition.kind == YK_LAYER_PARTITION_ABSENT) {
        return YK_OK;
    }
    if (!is_plain_fp32(store, parameter)) {
        return convert(store, layer, parameter, numbers, parameter->count);
    }
    copy_kept(store, layer, parameter, YK_PARAMETER_STORE_ARRAY_WEIGHTS, numbers);
    return store->context.backend->lane_synchronize(store->context.lane);
}

yk_status yk_parameter_store_write_repeated_values(const struct yk_parameter_store *store,
                                                   int32_t layer,
                                                   const struct yk_parameter *parameter,
                                                   const float *numbers, int64_t given)
{
    return store->layers[layer].partition.kind == YK_LAYER_PARTITION_ABSENT
               ? YK_OK
               : convert(store, layer, parameter, numbers, given);
}

/* ---- values that are not finite ---- */

/* Whether all numbers are finite. Their sum of squares is then finite, because squares of fp32
 * numbers cannot overflow a double. */
static yk_status are_finite(const struct yk_parameter_store *store, const void *numbers,
                            int64_t count, enum yk_precision type, double *scratch, bool *out)
{
    double sum = 0;
    store->context.backend->sum_squares(store->context.lane, &(struct yk_sum_squares_op){
                                                                 .count = count,
                                                                 .from = numbers,
                                                                 .to = scratch,
                                                                 .type = type,
                                                             });
    YK_TRY(yk_device_context_copy_and_wait(&store->context, &sum, scratch, sizeof sum));
    *out = isfinite(sum);
    return YK_OK;
}

/* Checks the kept part of a parameter. */
static yk_status check_part(const struct yk_parameter_store *store, int32_t layer,
                            const struct yk_parameter *parameter, const char *part, double *scratch,
                            bool *out)
{
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    const enum yk_precision type = store->net->workload.precision;
    for (int32_t i = 0; i < kept->span_count && *out; i++) {
        struct yk_layer_partition_span span;
        if (parameter->trained && yk_layer_partition_span_intersect(
                                      &kept->spans[i], parameter->first, parameter->count, &span)) {
            YK_TRY(are_finite(store, part + span.at * yk_precision_bytes(type), span.count, type,
                              scratch, out));
        }
    }
    return YK_OK;
}

/* Sharded frozen weights are not checked, because they never change. */
static yk_status check_one(const struct yk_parameter_store *store, int32_t layer,
                           const struct yk_parameter *parameter, bool gradient, double *scratch,
                           bool *out)
{
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    const enum yk_layer_partition_kind kind = kept->partition.kind;
    const bool full = parameter->format == YK_PARAMETER_FP32;
    *out = true;
    if (kind == YK_LAYER_PARTITION_ABSENT || (gradient && !parameter->trained)) {
        return YK_OK;
    }
    if (gradient) {
        const char *part = kept->gradient_part ? kept->gradient_part : kept->gradients;
        return part ? check_part(store, layer, parameter, part, scratch, out) : YK_OK;
    }
    if (kind == YK_LAYER_PARTITION_FULLY_SHARDED) {
        return parameter->trained ? check_part(store, layer, parameter, kept->part, scratch, out)
                                  : YK_OK;
    }
    if (parameter->format != YK_PARAMETER_NF4) {
        return are_finite(store, kept->weights + parameter->offset, parameter->count,
                          full ? YK_PRECISION_FP32 : store->net->workload.precision, scratch, out);
    }
    return YK_OK;
}

static yk_status find_nonfinite(const struct yk_parameter_store *store, bool gradient,
                                double *scratch, const char **name)
{
    for (struct yk_net_parameter_cursor at = {0};
         !*name && yk_net_next_parameter(store->net, &at);) {
        bool finite = true;
        YK_TRY(check_one(store, at.layer, at.parameter, gradient, scratch, &finite));
        *name = finite ? NULL : at.parameter->name;
    }
    return YK_OK;
}

yk_status yk_parameter_store_find_nonfinite_values(const struct yk_parameter_store *store,
                                                   const char **name, const char **what)
{
    const struct yk_device_context *context = &store->context;
    void *scratch = NULL;
    *name = NULL;
    YK_TRY(context->backend->allocate(context->device, sizeof(double), &scratch));
    *what = "weights";
    yk_status status = find_nonfinite(store, false, scratch, name);
    if (status == YK_OK && !*name) {
        *what = "gradient";
        status = find_nonfinite(store, true, scratch, name);
    }
    context->backend->free(context->device, scratch);
    return status;
}
