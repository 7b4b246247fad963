#include "nn/inference/inference.h"

#include "nn/layers/layer.h"

#include <stdlib.h>

enum {
    MEMORY = 2, /* the encoder's output; the first two streams alternate */
    STREAMS,
};

struct yk_inference {
    struct yk_arena *arena;
    const struct yk_parameter_store *store;
    struct yk_inference_shape max;
    struct yk_batch_shape source; /* of the last run */
    struct yk_batch_shape target; /* of a decoder */
    int64_t logit_sequence;       /* rows of logits of each sample */
    void *own;                    /* memory to free; NULL: it belongs to the caller */
    int32_t *tokens;              /* (B, T) */
    int32_t *lengths;             /* (B) */
    int32_t *target_tokens;       /* (B, S) */
    int32_t *targets;
    struct yk_position_tables position_tables;
    double *loss;
    float *wide;            /* (B, V) as fp32 */
    void *streams[STREAMS]; /* (B·T, C) */
    void *expanded; /* second buffer for the memory, see yk_inference_select_encoder_outputs() */
    int32_t *expanded_lengths;
    int32_t *slots; /* (L) the stream of a layer's output; on the host */
    void *saved;    /* of the current layer */
    void *logits;   /* of the head */
    void *workspace;
};

static bool decodes(const struct yk_inference *forward)
{
    return forward->max.target_sequence > 0;
}

/* A sequence may be longer than in the shape if there are fewer samples. */
static int64_t longest(const struct yk_inference *forward)
{
    const int64_t positions = forward->store->net->config->positions;
    return decodes(forward) && positions > forward->max.sequence ? positions
                                                                 : forward->max.sequence;
}

static struct yk_batch_shape max_shape(const struct yk_inference *forward, int32_t layer)
{
    const struct yk_net_layer *at = &forward->store->net->layers[layer];
    return (struct yk_batch_shape){
        .samples = forward->max.samples,
        .sequence = at->decodes ? forward->max.target_sequence : forward->max.sequence,
        .memory = at->memory >= 0 ? forward->max.sequence : 0,
    };
}

static bool is_head(const struct yk_inference *forward, int32_t layer)
{
    return layer + 1 == forward->store->net->layer_count;
}

/* All layers share one buffer of activations, except the head, whose logits are read later. */
static void carve_layers(struct yk_inference *forward, struct yk_bump_allocator *carver)
{
    const struct yk_net *net = forward->store->net;
    struct yk_layer_memory_sizes max = {0};
    struct yk_layer_memory_sizes last = {0};
    for (int32_t l = 0; l < net->layer_count; l++) {
        struct yk_layer_memory_sizes sizes;
        struct yk_batch_shape batch = max_shape(forward, l);
        batch.sequence = forward->max.last_only && is_head(forward, l) ? 1 : batch.sequence;
        net->layers[l].kind->measure(net, l, &batch, &sizes);
        last = sizes;
        max.forward_bytes =
            sizes.forward_bytes > max.forward_bytes ? sizes.forward_bytes : max.forward_bytes;
        if (!is_head(forward, l) && sizes.saved_bytes > max.saved_bytes) {
            max.saved_bytes = sizes.saved_bytes;
        }
    }
    forward->saved = yk_bump_allocate(carver, (int64_t)max.saved_bytes, 1);
    forward->logits = yk_bump_allocate(carver, (int64_t)last.saved_bytes, 1);
    forward->workspace = yk_bump_allocate(carver, (int64_t)max.forward_bytes, 1);
}

static void carve(struct yk_inference *forward, struct yk_bump_allocator *carver)
{
    const struct yk_net *net = forward->store->net;
    const struct yk_inference_shape *max = &forward->max;
    const int64_t rows = max->samples * max->sequence;
    const int64_t target_rows = max->samples * max->target_sequence;
    const int64_t larger = target_rows > rows ? target_rows : rows;
    const int64_t memory_rows = decodes(forward) ? rows : 0;
    const int64_t C = net->config->width;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    forward->tokens = yk_bump_allocate(carver, rows, sizeof(int32_t));
    forward->lengths = yk_bump_allocate(carver, rows, sizeof(int32_t));
    forward->expanded_lengths = yk_bump_allocate(carver, memory_rows, sizeof(int32_t));
    forward->target_tokens = yk_bump_allocate(carver, target_rows, sizeof(int32_t));
    forward->targets = yk_bump_allocate(carver, larger, sizeof(int32_t));
    yk_position_tables_allocate(net, longest(forward), carver, &forward->position_tables);
    forward->loss = yk_bump_allocate(carver, 1, sizeof(double));
    forward->wide = yk_bump_allocate(carver,
                                     (max->last_only ? max->samples : 1) *
                                         yk_model_config_target_vocabulary(net->config),
                                     sizeof(float));
    forward->streams[0] = yk_bump_allocate(carver, larger * C, size);
    forward->streams[1] = yk_bump_allocate(carver, larger * C, size);
    forward->streams[MEMORY] = yk_bump_allocate(carver, memory_rows * C, size);
    forward->expanded = yk_bump_allocate(carver, memory_rows * C, size);
    carve_layers(forward, carver);
}

size_t yk_inference_memory_bytes(const struct yk_parameter_store *store,
                                 const struct yk_inference_shape *max)
{
    struct yk_inference forward = {.store = store, .max = *max};
    struct yk_bump_allocator carver = {0};
    carve(&forward, &carver);
    return carver.used;
}

/* The encoder's output has its own stream; other outputs alternate between two streams. */
static yk_status choose_slots(struct yk_inference *forward)
{
    const struct yk_net *net = forward->store->net;
    YK_TRY_NEW(forward->arena, forward->slots, net->layer_count);
    for (int32_t l = 0; l < net->layer_count; l++) {
        const int32_t input = net->layers[l].input;
        forward->slots[l] = input >= 0 && forward->slots[input] == 0 ? 1 : 0;
    }
    for (int32_t l = 0; l < net->layer_count; l++) {
        if (net->layers[l].memory >= 0) {
            forward->slots[net->layers[l].memory] = MEMORY;
        }
    }
    return YK_OK;
}

yk_status yk_inference_create_in_memory(const struct yk_parameter_store *store,
                                        const struct yk_inference_shape *max, void *memory,
                                        struct yk_inference **out)
{
    struct yk_inference *forward = NULL;
    struct yk_bump_allocator carver = {.base = memory};
    YK_TRY_NEW_WITH_ARENA(forward);
    forward->store = store;
    forward->max = *max;
    carve(forward, &carver);
    yk_status status = choose_slots(forward);
    YK_THEN(yk_position_tables_fill(store, longest(forward), &forward->position_tables));
    YK_TRY_OR(status, yk_inference_destroy(forward));
    *out = forward;
    return YK_OK;
}

yk_status yk_inference_create(const struct yk_parameter_store *store,
                              const struct yk_inference_shape *max, struct yk_inference **out)
{
    const struct yk_device_context *engine = &store->engine;
    void *memory = NULL;
    YK_TRY(
        engine->backend->allocate(engine->device, yk_inference_memory_bytes(store, max), &memory));
    YK_TRY_OR(yk_inference_create_in_memory(store, max, memory, out),
              engine->backend->free(engine->device, memory));
    (*out)->own = memory;
    return YK_OK;
}

void yk_inference_destroy(struct yk_inference *forward)
{
    if (forward) {
        forward->store->engine.backend->free(forward->store->engine.device, forward->own);
        yk_arena_destroy(forward->arena);
    }
}

/* Copies the last token of each sample into the unused stream. */
static void keep_last(const struct yk_inference *forward, int32_t layer, struct yk_layer_pass *pass)
{
    const struct yk_net *net = forward->store->net;
    const struct yk_device_context *engine = &forward->store->engine;
    const size_t row = (size_t)(net->config->width * yk_precision_bytes(net->workload.precision));
    char *to = forward->streams[forward->slots[layer]];
    for (int64_t i = 0; i < pass->batch.samples; i++) {
        const int64_t last = (i + 1) * pass->batch.sequence - 1;
        engine->backend->copy(engine->lane, to + (size_t)i * row,
                              (const char *)pass->input + (size_t)last * row, row);
    }
    pass->input = to;
    pass->batch.sequence = 1;
}

static void enqueue_layer(struct yk_inference *forward, int32_t number, bool with_loss)
{
    const struct yk_net *net = forward->store->net;
    const struct yk_net_layer *layer = &net->layers[number];
    const bool last = is_head(forward, number);
    struct yk_layer_pass pass = {
        .net = net,
        .store = forward->store,
        .lane = forward->store->engine.lane,
        .layer = number,
        .batch = layer->decodes ? forward->target : forward->source,
        .tokens = layer->decodes ? forward->target_tokens : forward->tokens,
        .lengths = forward->lengths,
        .targets = with_loss ? forward->targets : NULL,
        .position_tables = forward->position_tables,
        .loss = forward->loss,
        .input = layer->input >= 0 ? forward->streams[forward->slots[layer->input]] : NULL,
        .output = last ? NULL : forward->streams[forward->slots[number]],
        .saved = last ? forward->logits : forward->saved,
        .workspace = forward->workspace,
        .memory = layer->memory >= 0 ? forward->streams[MEMORY] : NULL,
    };
    if (last && forward->max.last_only) {
        keep_last(forward, number, &pass);
    }
    forward->logit_sequence = pass.batch.sequence;
    layer->kind->forward(&pass);
}

/* Enqueues the layers of the encoder, of the decoder, or of both. A net without a decoder counts as
 * an encoder. */
static void enqueue(struct yk_inference *forward, bool encoder, bool decoder, bool with_loss)
{
    const struct yk_net *net = forward->store->net;
    for (int32_t l = 0; l < net->layer_count; l++) {
        if (net->layers[l].decodes ? decoder : encoder) {
            enqueue_layer(forward, l, with_loss);
        }
    }
}

static void upload(const struct yk_inference *forward, int32_t *to, const int32_t *from,
                   int64_t count)
{
    const struct yk_device_context *engine = &forward->store->engine;
    engine->backend->copy(engine->lane, to, from, (size_t)count * sizeof *from);
}

static yk_status run_source(struct yk_inference *forward, const int32_t *tokens,
                            const int32_t *lengths, int64_t samples, int64_t sequence, bool decoder)
{
    const struct yk_device_context *engine = &forward->store->engine;
    forward->source = (struct yk_batch_shape){.samples = samples, .sequence = sequence};
    forward->target = (struct yk_batch_shape){.samples = samples, .memory = sequence};
    upload(forward, forward->tokens, tokens, samples * sequence);
    upload(forward, forward->lengths, lengths, samples);
    enqueue(forward, true, decoder, false);
    return engine->backend->lane_synchronize(engine->lane);
}

yk_status yk_inference_run(struct yk_inference *forward, const int32_t *tokens, int64_t samples,
                           int64_t sequence)
{
    int32_t *lengths = malloc((size_t)samples * sizeof *lengths);
    YK_TRY_MEMORY(lengths);
    for (int64_t i = 0; i < samples; i++) {
        lengths[i] = (int32_t)sequence;
    }
    const yk_status status = run_source(forward, tokens, lengths, samples, sequence, true);
    free(lengths);
    return status;
}

yk_status yk_inference_encode(struct yk_inference *forward, const int32_t *tokens,
                              const int32_t *lengths, int64_t samples, int64_t sequence)
{
    return run_source(forward, tokens, lengths, samples, sequence, false);
}

yk_status yk_inference_run_loss(struct yk_inference *forward, const struct yk_sample_slice *slice,
                                double *out)
{
    const struct yk_device_context *engine = &forward->store->engine;
    const int64_t rows = slice->samples * slice->sequence;
    const int64_t target_rows = slice->samples * slice->target_sequence;
    forward->source =
        (struct yk_batch_shape){.samples = slice->samples, .sequence = slice->sequence};
    forward->target = (struct yk_batch_shape){
        .samples = slice->samples, .sequence = slice->target_sequence, .memory = slice->sequence};
    upload(forward, forward->tokens, slice->tokens, rows);
    upload(forward, forward->lengths, slice->lengths, slice->samples);
    upload(forward, forward->targets, slice->targets, target_rows > 0 ? target_rows : rows);
    if (target_rows > 0) {
        upload(forward, forward->target_tokens, slice->target_tokens, target_rows);
    }
    engine->backend->clear(engine->lane, forward->loss, sizeof *forward->loss);
    enqueue(forward, true, true, true);
    return yk_device_context_copy(engine, out, forward->loss, sizeof *out);
}

yk_status yk_inference_select_encoder_outputs(struct yk_inference *forward, const int32_t *from,
                                              int64_t samples)
{
    const struct yk_device_context *engine = &forward->store->engine;
    const struct yk_net *net = forward->store->net;
    const size_t bytes = (size_t)(forward->source.sequence * net->config->width *
                                  yk_precision_bytes(net->workload.precision));
    char *to = forward->expanded;
    int32_t *lengths = forward->expanded_lengths;
    for (int64_t i = 0; i < samples; i++) {
        engine->backend->copy(engine->lane, to + (size_t)i * bytes,
                              (char *)forward->streams[MEMORY] + (size_t)from[i] * bytes, bytes);
        engine->backend->copy(engine->lane, lengths + i, forward->lengths + from[i],
                              sizeof *lengths);
    }
    forward->expanded = forward->streams[MEMORY];
    forward->streams[MEMORY] = to;
    forward->expanded_lengths = forward->lengths;
    forward->lengths = lengths;
    forward->target.samples = samples;
    return engine->backend->lane_synchronize(engine->lane);
}

yk_status yk_inference_decode(struct yk_inference *forward, const int32_t *tokens, int64_t sequence)
{
    const struct yk_device_context *engine = &forward->store->engine;
    forward->target.sequence = sequence;
    upload(forward, forward->target_tokens, tokens, forward->target.samples * sequence);
    enqueue(forward, false, true, false);
    return engine->backend->lane_synchronize(engine->lane);
}

/* Copies rows of logits to the host as fp32. */
static yk_status download(const struct yk_inference *forward, int64_t row, int64_t rows, float *out)
{
    const struct yk_device_context *engine = &forward->store->engine;
    const struct yk_net *net = forward->store->net;
    const int64_t V = yk_model_config_target_vocabulary(net->config);
    const enum yk_precision type = net->layers[net->layer_count - 1].precision;
    const int64_t stride = yk_model_config_logit_stride(V) * yk_precision_bytes(type);
    for (int64_t i = 0; i < rows; i++) {
        engine->backend->cast(engine->lane,
                              &(struct yk_cast_op){
                                  .count = V,
                                  .from = (char *)forward->logits + (row + i) * stride,
                                  .to = forward->wide + i * V,
                                  .from_type = type,
                                  .to_type = YK_PRECISION_FP32,
                              });
    }
    return yk_device_context_copy(engine, out, forward->wide, (size_t)(rows * V) * sizeof *out);
}

yk_status yk_inference_get_logits(const struct yk_inference *forward, int64_t sample,
                                  int64_t position, float *out)
{
    return download(forward, sample * forward->logit_sequence + position, 1, out);
}

yk_status yk_inference_get_last_logits(const struct yk_inference *forward, float *out)
{
    const struct yk_batch_shape *run = decodes(forward) ? &forward->target : &forward->source;
    return download(forward, 0, run->samples, out);
}
