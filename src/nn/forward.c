#include "nn/forward.h"

#include "nn/carve.h"
#include "nn/layer.h"

#include <stdlib.h>

struct yk_forward {
    const struct yk_store *store;
    int64_t batch;
    int64_t sequence;
    int64_t last_sequence; /* of the last run */
    void *own;             /* memory; NULL: it is lent */
    int32_t *tokens;       /* (B, T) */
    int32_t *targets;
    float *turns;
    double *loss;
    float *row;       /* (V) as fp32 */
    void *streams[2]; /* (B·T, C): in and out, by turns */
    void *saved;      /* of the layer at hand */
    void *logits;     /* of the head */
    void *workspace;
};

/* The most that any layer but the head needs; the head's logits stay. */
static void carve(struct yk_forward *forward, struct yk_carver *carver)
{
    const struct yk_net *net = forward->store->net;
    const int64_t rows = forward->batch * forward->sequence;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    struct yk_layer_sizes most = {0};
    struct yk_layer_sizes last = {0};
    for (int32_t l = 0; l < net->layer_count; l++) {
        struct yk_layer_sizes sizes;
        net->layers[l].kind->measure(net, l, forward->batch, forward->sequence, &sizes);
        last = sizes;
        most.forward_bytes =
            sizes.forward_bytes > most.forward_bytes ? sizes.forward_bytes : most.forward_bytes;
        if (l + 1 < net->layer_count && sizes.saved_bytes > most.saved_bytes) {
            most.saved_bytes = sizes.saved_bytes;
        }
    }
    forward->tokens = yk_carve(carver, rows, sizeof(int32_t));
    forward->targets = yk_carve(carver, rows, sizeof(int32_t));
    forward->turns = yk_carve(carver, forward->sequence * net->config->head_size, sizeof(float));
    forward->loss = yk_carve(carver, 1, sizeof(double));
    forward->row = yk_carve(carver, yk_model_config_target_vocabulary(net->config), sizeof(float));
    forward->streams[0] = yk_carve(carver, rows * net->config->width, size);
    forward->streams[1] = yk_carve(carver, rows * net->config->width, size);
    forward->saved = yk_carve(carver, (int64_t)most.saved_bytes, 1);
    forward->logits = yk_carve(carver, (int64_t)last.saved_bytes, 1);
    forward->workspace = yk_carve(carver, (int64_t)most.forward_bytes, 1);
}

static yk_status fill_turns(const struct yk_forward *forward)
{
    const struct yk_model_config *config = forward->store->net->config;
    const size_t count = (size_t)(forward->sequence * config->head_size);
    if (config->rope_theta == 0) {
        return YK_OK;
    }
    float *turns = calloc(count, sizeof *turns);
    if (!turns) {
        return yk_fail_out_of_memory();
    }
    yk_layer_turns(config, forward->sequence, turns);
    const yk_status status =
        yk_engine_upload(&forward->store->engine, forward->turns, turns, count * sizeof *turns);
    free(turns);
    return status;
}

size_t yk_forward_bytes(const struct yk_store *store, int64_t batch, int64_t sequence)
{
    struct yk_forward forward = {.store = store, .batch = batch, .sequence = sequence};
    struct yk_carver carver = {0};
    carve(&forward, &carver);
    return carver.used;
}

yk_status yk_forward_create_in(const struct yk_store *store, int64_t batch, int64_t sequence,
                               void *memory, struct yk_forward **out)
{
    struct yk_forward *forward = calloc(1, sizeof *forward);
    struct yk_carver carver = {.base = memory};
    if (!forward) {
        return yk_fail_out_of_memory();
    }
    *forward = (struct yk_forward){.store = store, .batch = batch, .sequence = sequence};
    carve(forward, &carver);
    const yk_status status = fill_turns(forward);
    if (status != YK_OK) {
        yk_forward_destroy(forward);
        return status;
    }
    *out = forward;
    return YK_OK;
}

yk_status yk_forward_create(const struct yk_store *store, int64_t batch, int64_t sequence,
                            struct yk_forward **out)
{
    const struct yk_engine *engine = &store->engine;
    void *memory = NULL;
    YK_TRY(
        engine->backend->take(engine->device, yk_forward_bytes(store, batch, sequence), &memory));
    const yk_status status = yk_forward_create_in(store, batch, sequence, memory, out);
    if (status != YK_OK) {
        engine->backend->give_back(engine->device, memory);
        return status;
    }
    (*out)->own = memory;
    return YK_OK;
}

void yk_forward_destroy(struct yk_forward *forward)
{
    if (forward) {
        forward->store->engine.backend->give_back(forward->store->engine.device, forward->own);
        free(forward);
    }
}

static void put(struct yk_forward *forward, bool losing, int64_t samples, int64_t sequence)
{
    const struct yk_net *net = forward->store->net;
    for (int32_t l = 0; l < net->layer_count; l++) {
        const bool last = l + 1 == net->layer_count;
        const struct yk_pass pass = {
            .net = net,
            .store = forward->store,
            .lane = forward->store->engine.lane,
            .layer = l,
            .samples = samples,
            .sequence = sequence,
            .tokens = forward->tokens,
            .targets = losing ? forward->targets : NULL,
            .turns = forward->turns,
            .loss = forward->loss,
            .input = l > 0 ? forward->streams[(l + 1) % 2] : NULL,
            .output = last ? NULL : forward->streams[l % 2],
            .saved = last ? forward->logits : forward->saved,
            .workspace = forward->workspace,
        };
        net->layers[l].kind->forward(&pass);
    }
    forward->last_sequence = sequence;
}

yk_status yk_forward_run(struct yk_forward *forward, const int32_t *tokens, int64_t samples,
                         int64_t sequence)
{
    const struct yk_engine *engine = &forward->store->engine;
    const size_t bytes = (size_t)(samples * sequence) * sizeof *tokens;
    engine->backend->copy(engine->lane, forward->tokens, tokens, bytes);
    put(forward, false, samples, sequence);
    return engine->backend->finish(engine->lane);
}

yk_status yk_forward_lose(struct yk_forward *forward, const int32_t *tokens, const int32_t *targets,
                          int64_t samples, int64_t sequence, double *out)
{
    const struct yk_engine *engine = &forward->store->engine;
    const size_t bytes = (size_t)(samples * sequence) * sizeof *tokens;
    engine->backend->copy(engine->lane, forward->tokens, tokens, bytes);
    engine->backend->copy(engine->lane, forward->targets, targets, bytes);
    engine->backend->clear(engine->lane, forward->loss, sizeof *forward->loss);
    put(forward, true, samples, sequence);
    return yk_engine_download(engine, out, forward->loss, sizeof *out);
}

yk_status yk_forward_logits(const struct yk_forward *forward, int64_t sample, int64_t position,
                            float *out)
{
    const struct yk_engine *engine = &forward->store->engine;
    const struct yk_net *net = forward->store->net;
    const int64_t V = yk_model_config_target_vocabulary(net->config);
    const enum yk_precision type = yk_net_precision(net, net->layer_count - 1);
    const int64_t row = sample * forward->last_sequence + position;
    engine->backend->cast(engine->lane,
                          &(struct yk_cast){
                              .count = V,
                              .from = (char *)forward->logits + row * V * yk_precision_bytes(type),
                              .to = forward->row,
                              .from_type = type,
                              .to_type = YK_PRECISION_FP32,
                          });
    return yk_engine_download(engine, out, forward->row, (size_t)V * sizeof *out);
}
