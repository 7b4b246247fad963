#include "nn/store.h"

#include "base/hash.h"
#include "base/random.h"
#include "nn/carve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_half(const struct yk_net *net)
{
    return yk_precision_bytes(net->workload.precision) == 2;
}

/* Weights first, then what training adds. With a carver that only counts, `layers` gets NULLs. */
static void carve_layer(const struct yk_store *store, const struct yk_net_layer *layer,
                        struct yk_carver *carver, struct yk_layer_store *out)
{
    const size_t width = (size_t)yk_precision_bytes(store->net->workload.precision);
    const bool trains = store->optimizer != YK_OPTIMIZER_NONE && layer->trained > 0;
    *out = (struct yk_layer_store){0};
    if (layer->weight_bytes > 0) {
        out->weights = yk_carve(carver, (int64_t)layer->weight_bytes, 1);
    }
    if (trains) {
        out->gradients = yk_carve(carver, layer->trained, width);
        out->moment1 = yk_carve(carver, layer->trained, sizeof(float));
        out->moment2 = store->optimizer == YK_OPTIMIZER_ADAMW
                           ? yk_carve(carver, layer->trained, sizeof(float))
                           : NULL;
        out->master = is_half(store->net) ? yk_carve(carver, layer->trained, sizeof(float)) : NULL;
    }
}

static void carve_all(struct yk_store *store, struct yk_carver *carver)
{
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        carve_layer(store, &store->net->layers[l], carver, &store->layers[l]);
    }
}

yk_status yk_store_create(const struct yk_net *net, const struct yk_engine *engine,
                          enum yk_optimizer_kind optimizer, struct yk_store **out)
{
    struct yk_store *store = calloc(1, sizeof *store);
    struct yk_carver carver = {0};
    if (!store) {
        return yk_fail_out_of_memory();
    }
    *store = (struct yk_store){.engine = *engine, .net = net, .optimizer = optimizer};
    store->layers = calloc((size_t)net->layer_count, sizeof *store->layers);
    yk_status status = store->layers ? YK_OK : yk_fail_out_of_memory();
    if (status == YK_OK) {
        carve_all(store, &carver);
        store->bytes = carver.used;
        status = engine->backend->take(engine->device, store->bytes, &store->memory);
    }
    if (status != YK_OK) {
        yk_store_destroy(store);
        return status;
    }
    carver = (struct yk_carver){.base = store->memory};
    carve_all(store, &carver);
    *out = store;
    return YK_OK;
}

void yk_store_destroy(struct yk_store *store)
{
    if (store) {
        if (store->memory) {
            store->engine.backend->give_back(store->engine.device, store->memory);
        }
        free(store->layers);
        free(store);
    }
}

yk_status yk_engine_upload(const struct yk_engine *engine, void *to, const void *from, size_t bytes)
{
    engine->backend->copy(engine->lane, to, from, bytes);
    return engine->backend->finish(engine->lane);
}

yk_status yk_engine_download(const struct yk_engine *engine, void *to, const void *from,
                             size_t bytes)
{
    return yk_engine_upload(engine, to, from, bytes);
}

/* Room on the device for a parameter as fp32, to convert to or from. */
static yk_status take_room(const struct yk_store *store, const struct yk_parameter *parameter,
                           void **out)
{
    return store->engine.backend->take(store->engine.device,
                                       (size_t)parameter->count * sizeof(float), out);
}

static bool has_master(const struct yk_store *store, int32_t layer,
                       const struct yk_parameter *parameter)
{
    return parameter->trained && store->layers[layer].master;
}

static bool is_plain_fp32(const struct yk_store *store, const struct yk_parameter *parameter)
{
    return parameter->form == YK_STORE_FULL ||
           (parameter->form == YK_STORE_PLAIN && !is_half(store->net));
}

/* Puts what makes fp32 numbers of the parameter in `to` on the lane. */
static void widen(const struct yk_store *store, int32_t layer, const struct yk_parameter *parameter,
                  void *to)
{
    const struct yk_backend *backend = store->engine.backend;
    void *at = store->layers[layer].weights + parameter->offset;
    if (parameter->form == YK_STORE_NF4) {
        struct yk_dequantise op = {.count = parameter->count, .to = to, .type = YK_PRECISION_FP32};
        (void)yk_nf4_parts(at, parameter->count, &op.from);
        backend->dequantise(store->engine.lane, &op);
    } else {
        backend->cast(store->engine.lane, &(struct yk_cast){
                                              .count = parameter->count,
                                              .from = at,
                                              .to = to,
                                              .from_type = store->net->workload.precision,
                                              .to_type = YK_PRECISION_FP32,
                                          });
    }
}

yk_status yk_store_read(const struct yk_store *store, int32_t layer,
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
    YK_TRY(take_room(store, parameter, &room));
    widen(store, layer, parameter, room);
    const yk_status status = yk_engine_download(engine, out, room, bytes);
    engine->backend->give_back(engine->device, room);
    return status;
}

/* From fp32 in `from` to how the parameter is kept. */
static void narrow(const struct yk_store *store, int32_t layer,
                   const struct yk_parameter *parameter, const void *from)
{
    const struct yk_backend *backend = store->engine.backend;
    void *at = store->layers[layer].weights + parameter->offset;
    if (parameter->form == YK_STORE_NF4) {
        struct yk_quantise op = {
            .count = parameter->count, .from = from, .type = YK_PRECISION_FP32};
        (void)yk_nf4_parts(at, parameter->count, &op.to);
        backend->quantise(store->engine.lane, &op);
    } else {
        backend->cast(store->engine.lane, &(struct yk_cast){
                                              .count = parameter->count,
                                              .from = from,
                                              .to = at,
                                              .from_type = YK_PRECISION_FP32,
                                              .to_type = store->net->workload.precision,
                                          });
    }
}

yk_status yk_store_write(const struct yk_store *store, int32_t layer,
                         const struct yk_parameter *parameter, const float *numbers)
{
    const struct yk_engine *engine = &store->engine;
    const size_t bytes = (size_t)parameter->count * sizeof *numbers;
    void *room = NULL;
    if (is_plain_fp32(store, parameter)) {
        return yk_engine_upload(engine, store->layers[layer].weights + parameter->offset, numbers,
                                bytes);
    }
    if (has_master(store, layer, parameter)) {
        YK_TRY(yk_engine_upload(engine, store->layers[layer].master + parameter->first, numbers,
                                bytes));
    }
    YK_TRY(take_room(store, parameter, &room));
    engine->backend->copy(engine->lane, room, numbers, bytes);
    narrow(store, layer, parameter, room);
    const yk_status status = engine->backend->finish(engine->lane);
    engine->backend->give_back(engine->device, room);
    return status;
}

/* Box and Muller, 1958. */
static double draw_normal(struct yk_random *random)
{
    const double radius = sqrt(-2 * log(1 - yk_random_unit(random)));
    return radius * cos(2 * M_PI * yk_random_unit(random));
}

static void draw(const struct yk_parameter *parameter, uint64_t seed, float *out)
{
    const uint64_t name = yk_hash_bytes(parameter->name, strlen(parameter->name));
    struct yk_random random = yk_random_from_seed(seed ^ name);
    for (int64_t i = 0; i < parameter->count; i++) {
        switch (parameter->start) {
        case YK_START_NORMAL:
            out[i] = (float)(parameter->spread * draw_normal(&random));
            break;
        case YK_START_UNIFORM:
            out[i] = (float)(parameter->spread * (2 * yk_random_unit(&random) - 1));
            break;
        default:
            out[i] = parameter->start == YK_START_ONE ? 1 : 0;
            break;
        }
    }
}

static yk_status start_one(struct yk_store *store, int32_t layer,
                           const struct yk_parameter *parameter, uint64_t seed)
{
    float *numbers = calloc((size_t)parameter->count, sizeof *numbers);
    if (!numbers) {
        return yk_fail_out_of_memory();
    }
    draw(parameter, seed, numbers);
    const yk_status status = yk_store_write(store, layer, parameter, numbers);
    free(numbers);
    return status;
}

yk_status yk_store_start(struct yk_store *store, uint64_t seed)
{
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        const struct yk_net_layer *layer = &store->net->layers[l];
        for (int32_t i = 0; i < layer->parameter_count; i++) {
            YK_TRY(start_one(store, l, &layer->parameters[i], seed));
        }
    }
    return YK_OK;
}

/* Whether numbers on the device are all finite: their squares then add up to a finite sum, since
 * those of fp32 cannot overflow a double. */
static yk_status are_finite(const struct yk_store *store, const void *numbers, int64_t count,
                            enum yk_precision type, double *room, bool *out)
{
    double sum = 0;
    store->engine.backend->sum_squares(store->engine.lane, &(struct yk_sum_squares){
                                                               .count = count,
                                                               .from = numbers,
                                                               .to = room,
                                                               .type = type,
                                                           });
    YK_TRY(yk_engine_download(&store->engine, &sum, room, sizeof sum));
    *out = isfinite(sum);
    return YK_OK;
}

static yk_status check_one(const struct yk_store *store, int32_t layer,
                           const struct yk_parameter *parameter, bool gradient, double *room,
                           bool *out)
{
    const struct yk_layer_store *kept = &store->layers[layer];
    const int64_t width = yk_precision_bytes(store->net->workload.precision);
    const bool full = parameter->form == YK_STORE_FULL;
    *out = true;
    if (gradient && parameter->trained && kept->gradients) {
        return are_finite(store, kept->gradients + parameter->first * width, parameter->count,
                          store->net->workload.precision, room, out);
    }
    if (!gradient && parameter->form != YK_STORE_NF4) {
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

yk_status yk_store_find_bad(const struct yk_store *store, const char **name, const char **what)
{
    const struct yk_engine *engine = &store->engine;
    void *room = NULL;
    *name = NULL;
    YK_TRY(engine->backend->take(engine->device, sizeof(double), &room));
    *what = "weights";
    yk_status status = find_bad(store, false, room, name);
    if (status == YK_OK && !*name) {
        *what = "gradient";
        status = find_bad(store, true, room, name);
    }
    engine->backend->give_back(engine->device, room);
    return status;
}
