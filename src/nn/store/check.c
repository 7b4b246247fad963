/* Which parameter, or whose gradient, has numbers that are none. */
#include "nn/store/store.h"

#include <math.h>

/* Whether numbers on the device are all finite: their squares then add up to a finite sum, since
 * those of fp32 cannot overflow a double. */
static yk_status are_finite(const struct yk_store *store, const void *numbers, int64_t count,
                            enum yk_precision type, double *room, bool *out)
{
    double sum = 0;
    store->engine.backend->sum_squares(store->engine.lane, &(struct yk_sum_squares_op){
                                                               .count = count,
                                                               .from = numbers,
                                                               .to = room,
                                                               .type = type,
                                                           });
    YK_TRY(yk_engine_download(&store->engine, &sum, room, sizeof sum));
    *out = isfinite(sum);
    return YK_OK;
}

/* What is kept of a parameter among numbers that are kept in part. */
static yk_status check_part(const struct yk_store *store, int32_t layer,
                            const struct yk_parameter *parameter, const char *part, double *room,
                            bool *out)
{
    const struct yk_store_layer *kept = &store->layers[layer];
    const enum yk_precision type = store->net->workload.precision;
    for (int32_t i = 0; i < kept->span_count && *out; i++) {
        struct yk_partition_span span;
        if (yk_partition_span_of_parameter(&kept->spans[i], parameter, &span)) {
            YK_TRY(are_finite(store, part + span.at * yk_precision_bytes(type), span.count, type,
                              room, out));
        }
    }
    return YK_OK;
}

/* Frozen weights that are kept in part do not change: they are passed over. */
static yk_status check_one(const struct yk_store *store, int32_t layer,
                           const struct yk_parameter *parameter, bool gradient, double *room,
                           bool *out)
{
    const struct yk_store_layer *kept = &store->layers[layer];
    const enum yk_partition_kind keep = kept->partition.kind;
    const int64_t width = yk_precision_bytes(store->net->workload.precision);
    const bool full = parameter->format == YK_PARAMETER_FP32;
    *out = true;
    if (keep == YK_PARTITION_ABSENT || (gradient && !parameter->trained)) {
        return YK_OK;
    }
    if (gradient && kept->gradient_part) {
        return check_part(store, layer, parameter, kept->gradient_part, room, out);
    }
    if (gradient && kept->gradients) {
        return are_finite(store, kept->gradients + parameter->first * width, parameter->count,
                          store->net->workload.precision, room, out);
    }
    if (!gradient && keep == YK_PARTITION_FULLY_SHARDED) {
        return parameter->trained ? check_part(store, layer, parameter, kept->part, room, out)
                                  : YK_OK;
    }
    if (!gradient && parameter->format != YK_PARAMETER_NF4) {
        return are_finite(store, kept->weights + parameter->offset, parameter->count,
                          full ? YK_PRECISION_FP32 : store->net->workload.precision, room, out);
    }
    return YK_OK;
}

static yk_status find_bad(const struct yk_store *store, bool gradient, double *room,
                          const char **name)
{
    for (int32_t l = 0; l < store->net->layer_count && !*name; l++) {
        const struct yk_net_layer *layer = &store->net->layers[l];
        for (int32_t i = 0; i < layer->parameter_count && !*name; i++) {
            bool finite = true;
            YK_TRY(check_one(store, l, &layer->parameters[i], gradient, room, &finite));
            *name = finite ? NULL : layer->parameters[i].name;
        }
    }
    return YK_OK;
}

yk_status yk_store_find_nonfinite_values(const struct yk_store *store, const char **name,
                                         const char **what)
{
    const struct yk_engine *engine = &store->engine;
    void *room = NULL;
    *name = NULL;
    YK_TRY(engine->backend->allocate(engine->device, sizeof(double), &room));
    *what = "weights";
    yk_status status = find_bad(store, false, room, name);
    if (status == YK_OK && !*name) {
        *what = "gradient";
        status = find_bad(store, true, room, name);
    }
    engine->backend->free(engine->device, room);
    return status;
}
