#include "nn/store/range.h"

#include "backend/cpu/math/numbers.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- what a holding has ---- */

static int64_t trained_bytes(const struct yk_net *net, int32_t layer)
{
    return net->layers[layer].trained * yk_precision_bytes(net->workload.precision);
}

/* The first thing of a parameter, among the trained numbers or the frozen bytes of its layer. */
static int64_t first_of(const struct yk_net *net, int32_t layer,
                        const struct yk_parameter *parameter)
{
    return parameter->trained ? parameter->first
                              : (int64_t)parameter->offset - trained_bytes(net, layer);
}

static int64_t element_count(const struct yk_net *net, const struct yk_parameter *parameter)
{
    return parameter->trained ? parameter->count : (int64_t)yk_net_parameter_bytes(net, parameter);
}

int32_t yk_partition_range_count(const struct yk_partition *partition)
{
    return partition->kind == YK_PARTITION_ABSENT  ? 0
           : partition->kind == YK_PARTITION_WHOLE ? 1
                                                 : partition->blocks;
}

bool yk_partition_range(const struct yk_partition *partition, int32_t block, const struct yk_net *net,
                        int32_t layer, const struct yk_parameter *parameter, struct yk_parameter_range *out)
{
    const int64_t all = parameter->trained
                            ? net->layers[layer].trained
                            : (int64_t)net->layers[layer].weight_bytes - trained_bytes(net, layer);
    const int64_t first = first_of(net, layer, parameter);
    const int64_t end = first + element_count(net, parameter);
    int64_t begin = 0;
    int64_t stop = all;
    if (partition->kind == YK_PARTITION_ABSENT) {
        return false;
    }
    if (partition->kind != YK_PARTITION_WHOLE) {
        begin = yk_partition_block_cut(all, partition->blocks, block, partition->from);
        stop = yk_partition_block_cut(all, partition->blocks, block, partition->to);
    }
    begin = begin > first ? begin : first;
    stop = stop < end ? stop : end;
    *out = (struct yk_parameter_range){begin - first, stop - begin};
    return stop > begin;
}

/* ---- where a store has it ---- */

enum array {
    STORED,
    MASTER,
    MOMENT1,
    MOMENT2,
};

/* A part of a range that lies in one piece of the device's memory. */
struct segment {
    char *at;
    int64_t first; /* thing of the range */
    int64_t count;
};

static int64_t element_bytes(const struct yk_store *store, const struct yk_parameter *parameter,
                           enum array array)
{
    return !parameter->trained ? 1
           : array == STORED   ? yk_precision_bytes(store->net->workload.precision)
                               : (int64_t)sizeof(float);
}

static char *array_of(const struct yk_store_layer *kept, const struct yk_parameter *parameter,
                      enum array array)
{
    float *const states[] = {
        [MASTER] = kept->master, [MOMENT1] = kept->moment1, [MOMENT2] = kept->moment2};
    if (array != STORED) {
        return (char *)states[array];
    }
    return parameter->trained ? kept->part : kept->part + kept->frozen_at;
}

/* What span `number` has of the range. */
static bool find_segment(const struct yk_store *store, int32_t layer,
                       const struct yk_parameter *parameter, enum array array,
                       struct yk_parameter_range range, int32_t number, struct segment *out)
{
    const struct yk_store_layer *kept = &store->layers[layer];
    const int64_t width = element_bytes(store, parameter, array);
    const int64_t first = first_of(store->net, layer, parameter) + range.first;
    const struct yk_partition_span *span =
        parameter->trained ? &kept->spans[number] : &kept->frozen_spans[number];
    const int64_t begin = span->first > first ? span->first : first;
    const int64_t span_end = span->first + span->count;
    const int64_t end = span_end < first + range.count ? span_end : first + range.count;
    if (end <= begin) {
        return false;
    }
    *out = (struct segment){
        .at = array_of(kept, parameter, array) + (span->at + begin - span->first) * width,
        .first = begin - first,
        .count = end - begin,
    };
    return true;
}

/* Copies what is kept here of a range to or from the host; returns how many things that are. */
static int64_t move(const struct yk_store *store, int32_t layer,
                    const struct yk_parameter *parameter, enum array array, struct yk_parameter_range range,
                    char *host, bool reading)
{
    const struct yk_engine *engine = &store->engine;
    const struct yk_store_layer *kept = &store->layers[layer];
    const int64_t width = element_bytes(store, parameter, array);
    const bool whole = array == STORED && kept->partition.kind != YK_PARTITION_FULLY_SHARDED;
    int64_t moved = 0;
    for (int32_t i = 0; i < (whole ? 1 : kept->span_count); i++) {
        struct segment segment = {0};
        if (whole) {
            segment = (struct segment){kept->weights + parameter->offset + range.first * width, 0,
                                   range.count};
        } else if (!find_segment(store, layer, parameter, array, range, i, &segment)) {
            continue;
        }
        char *host_at = host + segment.first * width;
        engine->backend->copy(engine->lane, reading ? host_at : segment.at,
                              reading ? segment.at : host_at, (size_t)(segment.count * width));
        moved += segment.count;
    }
    return moved;
}

static yk_status read_array(const struct yk_store *store, int32_t layer,
                            const struct yk_parameter *parameter, enum array array,
                            struct yk_parameter_range range, void *out)
{
    const bool none = store->layers[layer].partition.kind == YK_PARTITION_ABSENT;
    const int64_t moved = none ? 0 : move(store, layer, parameter, array, range, out, true);
    YK_TRY(store->engine.backend->lane_synchronize(store->engine.lane));
    if (moved != range.count) {
        return yk_fail(YK_ERROR_INPUT,
                       "%" PRId64 " of %" PRId64 " things of \"%s\" from %" PRId64
                       " on are not kept here",
                       range.count - moved, range.count, parameter->name, range.first);
    }
    return YK_OK;
}

static yk_status write_array(const struct yk_store *store, int32_t layer,
                             const struct yk_parameter *parameter, enum array array,
                             struct yk_parameter_range range, const void *from)
{
    if (store->layers[layer].partition.kind == YK_PARTITION_ABSENT) {
        return YK_OK;
    }
    (void)move(store, layer, parameter, array, range, (char *)(uintptr_t)from, false);
    return store->engine.backend->lane_synchronize(store->engine.lane);
}

/* ---- numbers ---- */

static enum array state_of(enum yk_state_tensor which)
{
    return which == YK_STATE_WEIGHTS ? MASTER : which == YK_STATE_MOMENT1 ? MOMENT1 : MOMENT2;
}

bool yk_store_has_state(const struct yk_store *store, int32_t layer, enum yk_state_tensor which)
{
    const struct yk_store_layer *kept = &store->layers[layer];
    switch (which) {
    case YK_STATE_MOMENT1:
        return kept->moment1 != NULL;
    case YK_STATE_MOMENT2:
        return kept->moment2 != NULL;
    default:
        return kept->partition.kind != YK_PARTITION_ABSENT;
    }
}

/* Numbers that are stored in 16 bits are converted on the host. */
static yk_status through_half(const struct yk_store *store, int32_t layer,
                              const struct yk_parameter *parameter, struct yk_parameter_range range,
                              const float *from, float *to)
{
    const enum yk_precision precision = store->net->workload.precision;
    uint16_t *room = malloc((size_t)(range.count + 1) * sizeof *room);
    if (!room) {
        return yk_fail_out_of_memory();
    }
    yk_status status = YK_OK;
    if (from) {
        yk_cpu_numbers_store(precision, from, range.count, room, 0);
        status = write_array(store, layer, parameter, STORED, range, room);
    } else {
        status = read_array(store, layer, parameter, STORED, range, room);
        if (status == YK_OK) {
            yk_cpu_numbers_load(precision, room, 0, range.count, to);
        }
    }
    free(room);
    return status;
}

static bool is_half(const struct yk_store *store)
{
    return yk_precision_bytes(store->net->workload.precision) == 2;
}

yk_status yk_store_read_range(const struct yk_store *store, int32_t layer,
                              const struct yk_parameter *parameter, enum yk_state_tensor which,
                              struct yk_parameter_range range, float *out)
{
    if (which != YK_STATE_WEIGHTS || store->layers[layer].master) {
        return read_array(store, layer, parameter, state_of(which), range, out);
    }
    return is_half(store) ? through_half(store, layer, parameter, range, NULL, out)
                          : read_array(store, layer, parameter, STORED, range, out);
}

yk_status yk_store_write_range(const struct yk_store *store, int32_t layer,
                               const struct yk_parameter *parameter, enum yk_state_tensor which,
                               struct yk_parameter_range range, const float *numbers)
{
    if (which != YK_STATE_WEIGHTS || store->layers[layer].master) {
        YK_TRY(write_array(store, layer, parameter, state_of(which), range, numbers));
    }
    if (which != YK_STATE_WEIGHTS) {
        return YK_OK;
    }
    return is_half(store) ? through_half(store, layer, parameter, range, numbers, NULL)
                          : write_array(store, layer, parameter, STORED, range, numbers);
}

yk_status yk_store_read_frozen_range(const struct yk_store *store, int32_t layer,
                                     const struct yk_parameter *parameter, struct yk_parameter_range range,
                                     void *out)
{
    return read_array(store, layer, parameter, STORED, range, out);
}

yk_status yk_store_write_frozen_range(const struct yk_store *store, int32_t layer,
                                      const struct yk_parameter *parameter, struct yk_parameter_range range,
                                      const void *bytes)
{
    return write_array(store, layer, parameter, STORED, range, bytes);
}
