#include "train/checkpoint/shard_set.h"

#include "backend/cpu/math/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 22 /* read at a time */
};

struct load {
    const struct yk_shard_set *set;
    const struct yk_shard_set_load_options *what;
    struct yk_parameter_store *store;
    void *chunk; /* (CHUNK_BYTES) */
};

/* Finds the kind of tensor that a parameter was saved as. `*out` does not change if there is none.
 */
static yk_status find_kind(const struct load *load, const struct yk_parameter *parameter,
                           enum yk_shard_tensor_kind *out)
{
    bool found = false;
    for (int i = 0; i < YK_SHARD_TENSOR_KIND_COUNT; i++) {
        const enum yk_shard_tensor_kind kind = (enum yk_shard_tensor_kind)i;
        const bool weights = kind == YK_SHARD_WEIGHTS || yk_shard_tensor_kind_is_frozen(kind);
        if (!weights || !yk_shard_set_has_slice(load->set, kind, parameter)) {
            continue;
        }
        if (found) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" was saved twice, as %s and as %s",
                           parameter->name, yk_shard_tensor_kind_name(*out),
                           yk_shard_tensor_kind_name(kind));
        }
        found = true;
        *out = kind;
    }
    return YK_OK;
}

/* ---- ranges ---- */

/* A non-finite number would spread to all weights in the first step. */
static yk_status check_finite(const struct yk_parameter *parameter, const float *numbers,
                              struct yk_parameter_range range)
{
    for (int64_t i = 0; i < range.count; i++) {
        if (!isfinite(numbers[i])) {
            return yk_fail(YK_ERROR_NUMBERS, "number %" PRId64 " of \"%s\" is %g in the checkpoint",
                           range.first + i, parameter->name, (double)numbers[i]);
        }
    }
    return YK_OK;
}

/* Rounds master weights to the precision in which the training computed. */
static void round_numbers(const struct load *load, float *numbers, int64_t count)
{
    const enum yk_precision precision = load->what->precision;
    if (!load->what->rounded || yk_precision_bytes(precision) != 2) {
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint16_t half = 0;
        yk_cpu_convert_array_from_fp32(precision, &numbers[i], 1, &half, 0);
        yk_cpu_convert_array_to_fp32(precision, &half, 0, 1, &numbers[i]);
    }
}

static yk_status load_range(const struct load *load, int32_t layer,
                            const struct yk_parameter *parameter, enum yk_shard_tensor_kind kind,
                            struct yk_parameter_range range)
{
    const int64_t max = CHUNK_BYTES / yk_shard_tensor_kind_element_bytes(kind);
    for (int64_t done = 0; done < range.count; done += max) {
        const int64_t left = range.count - done;
        const struct yk_parameter_range slice = {range.first + done, left < max ? left : max};
        YK_TRY(yk_shard_set_read_parameter_range(load->set, kind, parameter, slice, load->chunk));
        if (kind == YK_SHARD_WEIGHTS) {
            YK_TRY(check_finite(parameter, load->chunk, slice));
            round_numbers(load, load->chunk, slice.count);
        }
        YK_TRY(yk_parameter_store_write_range(load->store, layer, parameter,
                                              yk_shard_tensor_kind_to_state_tensor(kind), slice,
                                              load->chunk));
    }
    return YK_OK;
}

/* Loads what the store keeps of a parameter. `whole`: the store keeps all of it. */
static yk_status load_ranges(const struct load *load, int32_t layer,
                             const struct yk_parameter *parameter, enum yk_shard_tensor_kind kind,
                             bool whole)
{
    const struct yk_layer_partition *partition = &load->store->layers[layer].partition;
    struct yk_parameter_range range = {0,
                                       yk_shard_tensor_kind_element_count(kind, parameter->count)};
    if (whole) {
        return load_range(load, layer, parameter, kind, range);
    }
    for (int32_t b = 0; yk_layer_partition_next_kept_range(partition, load->store->net, layer,
                                                           parameter, &b, &range);) {
        YK_TRY(load_range(load, layer, parameter, kind, range));
    }
    return YK_OK;
}

/* ---- parameters whose format differs from the saved one ---- */

static yk_status decode_nf4(const struct yk_device_context *context, const void *stored,
                            int64_t count, float *out)
{
    const size_t bytes = (size_t)yk_shard_tensor_kind_element_count(YK_SHARD_NF4, count);
    void *from = NULL;
    void *to = NULL;
    struct yk_dequantise_op op = {.count = count, .type = YK_PRECISION_FP32};
    yk_status status = context->backend->allocate(context->device, bytes, &from);
    YK_IF_OK(context->backend->allocate(context->device, (size_t)count * sizeof *out, &to));
    if (status == YK_OK) {
        (void)yk_ops_lay_out_nf4_tensor(from, count, &op.from);
        op.to = to;
        context->backend->copy(context->lane, from, stored, bytes);
        context->backend->dequantise(context->lane, &op);
        status = yk_device_context_copy_and_wait(context, out, to, (size_t)count * sizeof *out);
    }
    context->backend->free(context->device, to);
    context->backend->free(context->device, from);
    return status;
}

static yk_status decode(const struct load *load, enum yk_shard_tensor_kind kind, const void *stored,
                        int64_t count, float *out)
{
    switch (kind) {
    case YK_SHARD_NF4:
        return decode_nf4(&load->store->context, stored, count, out);
    case YK_SHARD_BF16:
    case YK_SHARD_FP16:
        yk_cpu_convert_array_to_fp32(kind == YK_SHARD_BF16 ? YK_PRECISION_BF16 : YK_PRECISION_FP16,
                                     stored, 0, count, out);
        return YK_OK;
    default:
        memcpy(out, stored, (size_t)count * sizeof *out);
        return YK_OK;
    }
}

static yk_status load_converted(const struct load *load, int32_t layer,
                                const struct yk_parameter *parameter,
                                enum yk_shard_tensor_kind kind)
{
    const struct yk_parameter_range all = {
        0, yk_shard_tensor_kind_element_count(kind, parameter->count)};
    void *stored = malloc((size_t)(all.count * yk_shard_tensor_kind_element_bytes(kind)));
    float *numbers = malloc((size_t)parameter->count * sizeof *numbers);
    yk_status status = stored && numbers ? YK_OK : yk_fail_out_of_memory();
    YK_IF_OK(yk_shard_set_read_parameter_range(load->set, kind, parameter, all, stored));
    YK_IF_OK(decode(load, kind, stored, parameter->count, numbers));
    if (status == YK_OK) {
        status = check_finite(parameter, numbers, (struct yk_parameter_range){0, parameter->count});
    }
    if (status == YK_OK && kind == YK_SHARD_WEIGHTS) {
        round_numbers(load, numbers, parameter->count);
    }
    YK_IF_OK(yk_parameter_store_write_values(load->store, layer, parameter, numbers));
    free(numbers);
    free(stored);
    return status;
}

/* ---- parameters ---- */

static yk_status load_weights(const struct load *load, int32_t layer,
                              const struct yk_parameter *parameter)
{
    const struct yk_net *net = load->store->net;
    const enum yk_layer_partition_kind keep = load->store->layers[layer].partition.kind;
    enum yk_shard_tensor_kind kind = parameter->trained
                                         ? YK_SHARD_WEIGHTS
                                         : yk_shard_tensor_kind_of_frozen_parameter(net, parameter);
    const enum yk_shard_tensor_kind own = kind;
    YK_TRY(find_kind(load, parameter, &kind));
    YK_TRY(yk_shard_set_check_parameter_coverage(load->set, kind, parameter));
    if (keep == YK_LAYER_PARTITION_ABSENT) {
        return YK_OK;
    }
    return kind == own
               ? load_ranges(load, layer, parameter, kind, keep != YK_LAYER_PARTITION_FULLY_SHARDED)
               : load_converted(load, layer, parameter, kind);
}

static yk_status load_state(const struct load *load, int32_t layer,
                            const struct yk_parameter *parameter)
{
    for (int i = YK_SHARD_MOMENT1; i <= YK_SHARD_MOMENT2; i++) {
        const enum yk_shard_tensor_kind kind = (enum yk_shard_tensor_kind)i;
        if (!yk_parameter_store_has_state_tensor(load->store, layer,
                                                 yk_shard_tensor_kind_to_state_tensor(kind))) {
            continue;
        }
        if (!yk_shard_set_has_slice(load->set, kind, parameter)) {
            return yk_fail(YK_ERROR_INPUT,
                           "no shard has %s of \"%s\"; it was trained with another optimizer, or "
                           "other parameters were",
                           yk_shard_tensor_kind_name(kind), parameter->name);
        }
        YK_TRY(yk_shard_set_check_parameter_coverage(load->set, kind, parameter));
        YK_TRY(load_ranges(load, layer, parameter, kind, false));
    }
    return YK_OK;
}

static yk_status load_parameter(const struct load *load, int32_t layer,
                                const struct yk_parameter *parameter)
{
    const struct yk_shard_set_load_options *what = load->what;
    if (yk_parameter_is_in_adapter(parameter) ? what->adapters : what->model) {
        YK_TRY(load_weights(load, layer, parameter));
    }
    return what->state && parameter->trained ? load_state(load, layer, parameter) : YK_OK;
}

static yk_status load_all(const struct load *load)
{
    const struct yk_net *net = load->store->net;
    YK_TRY(yk_shard_set_check_slices_in_net(load->set, net));
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        YK_TRY(load_parameter(load, at.layer, at.parameter));
    }
    return YK_OK;
}

yk_status yk_shard_set_load_into_store(const struct yk_shard_set *set,
                                       const struct yk_shard_set_load_options *what,
                                       struct yk_parameter_store *store)
{
    const struct load load = {
        .set = set,
        .what = what,
        .store = store,
        .chunk = malloc(CHUNK_BYTES),
    };
    const yk_status status = load.chunk ? load_all(&load) : yk_fail_out_of_memory();
    free(load.chunk);
    return status;
}
