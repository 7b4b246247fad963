/* A store's numbers, between the host and the device. */
#include "nn/store/store.h"

static bool is_half(const struct yk_net *net)
{
    return yk_precision_bytes(net->workload.precision) == 2;
}

yk_status yk_engine_upload(const struct yk_engine *engine, void *to, const void *from, size_t bytes)
{
    engine->backend->copy(engine->lane, to, from, bytes);
    return engine->backend->lane_synchronize(engine->lane);
}

yk_status yk_engine_download(const struct yk_engine *engine, void *to, const void *from,
                             size_t bytes)
{
    return yk_engine_upload(engine, to, from, bytes);
}

/* Room on the device for a parameter as fp32, to convert to or from. */
static yk_status allocate_fp32(const struct yk_store *store, const struct yk_parameter *parameter,
                           void **out)
{
    return store->engine.backend->allocate(store->engine.device,
                                           (size_t)parameter->count * sizeof(float), out);
}

static bool has_master(const struct yk_store *store, int32_t layer,
                       const struct yk_parameter *parameter)
{
    return parameter->trained && store->layers[layer].master;
}

static bool is_plain_fp32(const struct yk_store *store, const struct yk_parameter *parameter)
{
    return parameter->format == YK_PARAMETER_FP32 ||
           (parameter->format == YK_PARAMETER_PLAIN && !is_half(store->net));
}

/* Puts what makes fp32 numbers of the parameter in `to` on the lane. */
static void widen(const struct yk_store *store, int32_t layer, const struct yk_parameter *parameter,
                  void *to)
{
    const struct yk_backend *backend = store->engine.backend;
    void *at = store->layers[layer].weights + parameter->offset;
    if (parameter->format == YK_PARAMETER_NF4) {
        struct yk_dequantise_op op = {
            .count = parameter->count, .to = to, .type = YK_PRECISION_FP32};
        (void)yk_ops_nf4_layout(at, parameter->count, &op.from);
        backend->dequantise(store->engine.lane, &op);
    } else {
        backend->cast(store->engine.lane, &(struct yk_cast_op){
                                              .count = parameter->count,
                                              .from = at,
                                              .to = to,
                                              .from_type = store->net->workload.precision,
                                              .to_type = YK_PRECISION_FP32,
                                          });
    }
}

yk_status yk_store_read_values(const struct yk_store *store, int32_t layer,
                               const struct yk_parameter *parameter, float *out)
{
    const struct yk_engine *engine = &store->engine;
    const size_t bytes = (size_t)parameter->count * sizeof *out;
    void *room = NULL;
    if (has_master(store, layer, parameter)) {
        return yk_engine_download(engine, out, store->layers[layer].master + parameter->first,
                                  bytes);
    }
    if (is_plain_fp32(store, parameter)) {
        return yk_engine_download(engine, out, store->layers[layer].weights + parameter->offset,
                                  bytes);
    }
    YK_TRY(allocate_fp32(store, parameter, &room));
    widen(store, layer, parameter, room);
    const yk_status status = yk_engine_download(engine, out, room, bytes);
    engine->backend->free(engine->device, room);
    return status;
}

/* From fp32 in `from` to how the parameter is stored, at `to`. */
static void narrow(const struct yk_store *store, const struct yk_parameter *parameter,
                   const void *from, void *to)
{
    const struct yk_backend *backend = store->engine.backend;
    if (parameter->format == YK_PARAMETER_NF4) {
        struct yk_quantise_op op = {
            .count = parameter->count, .from = from, .type = YK_PRECISION_FP32};
        (void)yk_ops_nf4_layout(to, parameter->count, &op.to);
        backend->quantise(store->engine.lane, &op);
    } else {
        backend->cast(store->engine.lane, &(struct yk_cast_op){
                                              .count = parameter->count,
                                              .from = from,
                                              .to = to,
                                              .from_type = YK_PRECISION_FP32,
                                              .to_type = store->net->workload.precision,
                                          });
    }
}

static bool intersect(const struct yk_partition_span *span, int64_t first, int64_t count,
                      struct yk_partition_span *out)
{
    const int64_t begin = span->first > first ? span->first : first;
    const int64_t span_end = span->first + span->count;
    const int64_t end = span_end < first + count ? span_end : first + count;
    *out = (struct yk_partition_span){begin, end - begin, span->at + begin - span->first};
    return end > begin;
}

bool yk_partition_span_of_parameter(const struct yk_partition_span *span,
                                    const struct yk_parameter *parameter,
                                    struct yk_partition_span *out)
{
    return parameter->trained && intersect(span, parameter->first, parameter->count, out);
}

/* Puts the copies of what is kept of a parameter on the lane, from where all of it is, in the form
 * it is stored in. */
static void copy_kept(const struct yk_store *store, int32_t layer,
                     const struct yk_parameter *parameter, const char *from)
{
    const struct yk_backend *backend = store->engine.backend;
    const struct yk_store_layer *kept = &store->layers[layer];
    const int64_t width = yk_precision_bytes(store->net->workload.precision);
    const int64_t frozen = (int64_t)parameter->offset - store->net->layers[layer].trained * width;
    const int64_t bytes = (int64_t)yk_net_parameter_bytes(store->net, parameter);
    if (kept->partition.kind != YK_PARTITION_FULLY_SHARDED) {
        backend->copy(store->engine.lane, kept->weights + parameter->offset, from, (size_t)bytes);
        return;
    }
    for (int32_t i = 0; i < kept->span_count; i++) {
        struct yk_partition_span span;
        if (yk_partition_span_of_parameter(&kept->spans[i], parameter, &span)) {
            backend->copy(store->engine.lane, kept->part + span.at * width,
                          from + (span.first - parameter->first) * width,
                          (size_t)(span.count * width));
        }
        if (!parameter->trained && intersect(&kept->frozen_spans[i], frozen, bytes, &span)) {
            backend->copy(store->engine.lane, kept->part + kept->frozen_at + span.at,
                          from + (span.first - frozen), (size_t)span.count);
        }
    }
}

yk_status yk_store_write_raw_values(const struct yk_store *store, int32_t layer,
                                    const struct yk_parameter *parameter, const void *bytes)
{
    if (store->layers[layer].partition.kind == YK_PARTITION_ABSENT) {
        return YK_OK;
    }
    copy_kept(store, layer, parameter, bytes);
    return store->engine.backend->lane_synchronize(store->engine.lane);
}

/* Puts the copies of a trained parameter's master numbers on the lane, from all of them. */
static void copy_master(const struct yk_store *store, int32_t layer,
                       const struct yk_parameter *parameter, const float *from)
{
    const struct yk_store_layer *kept = &store->layers[layer];
    for (int32_t i = 0; i < kept->span_count; i++) {
        struct yk_partition_span span;
        if (yk_partition_span_of_parameter(&kept->spans[i], parameter, &span)) {
            store->engine.backend->copy(store->engine.lane, kept->master + span.at,
                                        from + (span.first - parameter->first),
                                        (size_t)span.count * sizeof *from);
        }
    }
}

/* Puts `given` numbers of the host at the beginning of `room`, and again after themselves until
 * `count` are there: what has been written is doubled on the device. */
static void copy_repeated(const struct yk_engine *engine, const float *numbers, int64_t given,
                          int64_t count, float *room)
{
    int64_t done = given < count ? given : count;
    engine->backend->copy(engine->lane, room, numbers, (size_t)done * sizeof *room);
    while (done < count) {
        const int64_t more = done < count - done ? done : count - done;
        engine->backend->copy(engine->lane, room + done, room, (size_t)more * sizeof *room);
        done += more;
    }
}

/* Puts what stores a parameter on the lane, from fp32 in `room`. `stored` is room for it as it is
 * stored, where only a part of it is kept. */
static void write_stored(const struct yk_store *store, int32_t layer,
                       const struct yk_parameter *parameter, const float *room, void *stored)
{
    if (is_plain_fp32(store, parameter)) {
        copy_kept(store, layer, parameter, (const char *)room);
        return;
    }
    if (has_master(store, layer, parameter)) {
        copy_master(store, layer, parameter, room);
    }
    narrow(store, parameter, room,
           stored ? stored : store->layers[layer].weights + parameter->offset);
    if (stored) {
        copy_kept(store, layer, parameter, stored);
    }
}

/* Through fp32 on the device, and, where only a part is kept, through the whole of it as stored. */
static yk_status convert(const struct yk_store *store, int32_t layer,
                         const struct yk_parameter *parameter, const float *numbers, int64_t given)
{
    const struct yk_engine *engine = &store->engine;
    const bool whole = store->layers[layer].partition.kind != YK_PARTITION_FULLY_SHARDED;
    void *room = NULL;
    void *stored = NULL;
    yk_status status = allocate_fp32(store, parameter, &room);
    if (status == YK_OK && !whole && !is_plain_fp32(store, parameter)) {
        status = engine->backend->allocate(engine->device,
                                           yk_net_parameter_bytes(store->net, parameter), &stored);
    }
    if (status == YK_OK) {
        copy_repeated(engine, numbers, given, parameter->count, room);
        write_stored(store, layer, parameter, room, stored);
        status = engine->backend->lane_synchronize(engine->lane);
    }
    engine->backend->free(engine->device, room);
    engine->backend->free(engine->device, stored);
    return status;
}

yk_status yk_store_write_values(const struct yk_store *store, int32_t layer,
                                const struct yk_parameter *parameter, const float *numbers)
{
    if (store->layers[layer].partition.kind == YK_PARTITION_ABSENT) {
        return YK_OK;
    }
    return is_plain_fp32(store, parameter)
               ? yk_store_write_raw_values(store, layer, parameter, numbers)
               : convert(store, layer, parameter, numbers, parameter->count);
}

yk_status yk_store_write_repeated_values(const struct yk_store *store, int32_t layer,
                                         const struct yk_parameter *parameter, const float *numbers,
                                         int64_t given)
{
    return store->layers[layer].partition.kind == YK_PARTITION_ABSENT
               ? YK_OK
               : convert(store, layer, parameter, numbers, given);
}
