#include "nn/inference/inference.h"

#include "nn/layers/layer.h"

#include <math.h>
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
    uint8_t *pixels; /* (B, channels, height, width); NULL unless samples are images */
    struct yk_position_tables position_tables;
    struct yk_loss_sums *sums;
    float *wide;            /* (B, V) as fp32 */
    void *streams[STREAMS]; /* (B·T, C) */
    void *expanded; /* second buffer for the memory, see yk_inference_select_encoder_outputs() */
    int32_t *expanded_lengths;
    int32_t *slots; /* (L) the stream of a layer's output; on the host */
    void *saved;    /* of the current layer */
    void *logits;   /* of the head */
    void *workspace;
};

static bool decodes(const struct yk_inference *inference)
{
    return inference->max.target_sequence > 0;
}

/* A sequence may be longer than in the shape if there are fewer samples. */
static int64_t longest(const struct yk_inference *inference)
{
    const int64_t positions = inference->store->net->config->positions;
    return decodes(inference) && positions > inference->max.sequence ? positions
                                                                     : inference->max.sequence;
}

static struct yk_batch_shape max_shape(const struct yk_inference *inference, int32_t layer)
{
    const struct yk_net_layer *at = &inference->store->net->layers[layer];
    return (struct yk_batch_shape){
        .samples = inference->max.samples,
        .sequence = at->decodes ? inference->max.target_sequence : inference->max.sequence,
        .memory = at->memory >= 0 ? inference->max.sequence : 0,
    };
}

static bool is_head(const struct yk_inference *inference, int32_t layer)
{
    return layer + 1 == inference->store->net->layer_count;
}

/* All layers share one buffer of activations, except the head, whose logits are read later. */
static void carve_layers(struct yk_inference *inference, struct yk_bump_allocator *allocator)
{
    const struct yk_net *net = inference->store->net;
    struct yk_layer_memory_sizes max = {0};
    struct yk_layer_memory_sizes last = {0};
    for (int32_t l = 0; l < net->layer_count; l++) {
        struct yk_layer_memory_sizes sizes;
        struct yk_batch_shape batch = max_shape(inference, l);
        batch.sequence = inference->max.last_only && is_head(inference, l)
                             ? 1
                             : yk_net_layer_input_rows(&net->layers[l], batch.sequence);
        net->layers[l].kind->measure(net, l, &batch, &sizes);
        last = sizes;
        max.forward_bytes =
            sizes.forward_bytes > max.forward_bytes ? sizes.forward_bytes : max.forward_bytes;
        if (!is_head(inference, l) && sizes.saved_bytes > max.saved_bytes) {
            max.saved_bytes = sizes.saved_bytes;
        }
    }
    inference->saved = yk_bump_allocate(allocator, (int64_t)max.saved_bytes, 1);
    inference->logits = yk_bump_allocate(allocator, (int64_t)last.saved_bytes, 1);
    inference->workspace = yk_bump_allocate(allocator, (int64_t)max.forward_bytes, 1);
}

static void carve(struct yk_inference *inference, struct yk_bump_allocator *allocator)
{
    const struct yk_net *net = inference->store->net;
    const struct yk_inference_shape *max = &inference->max;
    const int64_t rows = max->samples * max->sequence;
    const int64_t target_rows = max->samples * max->target_sequence;
    const int64_t larger = target_rows > rows ? target_rows : rows;
    const int64_t memory_rows = decodes(inference) ? rows : 0;
    const int64_t C = net->config->width;
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    inference->tokens = yk_bump_allocate(allocator, rows, sizeof(int32_t));
    inference->lengths = yk_bump_allocate(allocator, rows, sizeof(int32_t));
    inference->expanded_lengths = yk_bump_allocate(allocator, memory_rows, sizeof(int32_t));
    inference->target_tokens = yk_bump_allocate(allocator, target_rows, sizeof(int32_t));
    inference->targets = yk_bump_allocate(allocator, larger, sizeof(int32_t));
    yk_position_tables_allocate(net, longest(inference), allocator, &inference->position_tables);
    inference->pixels =
        yk_model_config_reads_images(net->config)
            ? yk_bump_allocate(allocator, max->samples * yk_model_config_image_bytes(net->config),
                               1)
            : NULL;
    inference->sums = yk_bump_allocate(allocator, 1, sizeof *inference->sums);
    inference->wide = yk_bump_allocate(allocator,
                                       (max->last_only ? max->samples : 1) *
                                           yk_model_config_target_vocabulary_size(net->config),
                                       sizeof(float));
    inference->streams[0] = yk_bump_allocate(allocator, larger * C, size);
    inference->streams[1] = yk_bump_allocate(allocator, larger * C, size);
    inference->streams[MEMORY] = yk_bump_allocate(allocator, memory_rows * C, size);
    inference->expanded = yk_bump_allocate(allocator, memory_rows * C, size);
    carve_layers(inference, allocator);
}

size_t yk_inference_memory_bytes(const struct yk_parameter_store *store,
                                 const struct yk_inference_shape *max)
{
    struct yk_inference inference = {.store = store, .max = *max};
    struct yk_bump_allocator allocator = {0};
    inference.max.sequence = yk_net_sample_tokens(store->net, max->sequence);
    carve(&inference, &allocator);
    return allocator.used;
}

/* The encoder's output has its own stream; other outputs alternate between two streams. */
static yk_status choose_slots(struct yk_inference *inference)
{
    const struct yk_net *net = inference->store->net;
    YK_TRY_NEW(inference->arena, inference->slots, net->layer_count);
    for (int32_t l = 0; l < net->layer_count; l++) {
        const int32_t input = net->layers[l].input;
        inference->slots[l] = input >= 0 && inference->slots[input] == 0 ? 1 : 0;
    }
    for (int32_t l = 0; l < net->layer_count; l++) {
        if (net->layers[l].memory >= 0) {
            inference->slots[net->layers[l].memory] = MEMORY;
        }
    }
    return YK_OK;
}

yk_status yk_inference_create_in_memory(const struct yk_parameter_store *store,
                                        const struct yk_inference_shape *max, void *memory,
                                        struct yk_inference **out)
{
    struct yk_inference *inference = NULL;
    struct yk_bump_allocator allocator = {.base = memory};
    YK_TRY_NEW_WITH_OWN_ARENA(inference);
    inference->store = store;
    inference->max = *max;
    inference->max.sequence = yk_net_sample_tokens(store->net, max->sequence);
    carve(inference, &allocator);
    yk_status status = choose_slots(inference);
    YK_IF_OK(yk_position_tables_fill(store, longest(inference), &inference->position_tables));
    YK_TRY_OR_CLEAN_UP(status, yk_inference_destroy(inference));
    *out = inference;
    return YK_OK;
}

yk_status yk_inference_create(const struct yk_parameter_store *store,
                              const struct yk_inference_shape *max, struct yk_inference **out)
{
    const struct yk_device_context *context = &store->context;
    void *memory = NULL;
    YK_TRY(context->backend->allocate(context->device, yk_inference_memory_bytes(store, max),
                                      &memory));
    YK_TRY_OR_CLEAN_UP(yk_inference_create_in_memory(store, max, memory, out),
                       context->backend->free(context->device, memory));
    (*out)->own = memory;
    return YK_OK;
}

void yk_inference_destroy(struct yk_inference *inference)
{
    if (inference) {
        inference->store->context.backend->free(inference->store->context.device, inference->own);
        yk_arena_destroy(inference->arena);
    }
}

/* Copies the last token of each sample into the unused stream. */
static void keep_last(const struct yk_inference *inference, int32_t layer,
                      struct yk_layer_pass *pass)
{
    const struct yk_net *net = inference->store->net;
    const struct yk_device_context *context = &inference->store->context;
    const size_t row = (size_t)(net->config->width * yk_precision_bytes(net->workload.precision));
    char *to = inference->streams[inference->slots[layer]];
    for (int64_t i = 0; i < pass->batch.samples; i++) {
        const int64_t last = (i + 1) * pass->batch.sequence - 1;
        context->backend->copy(context->lane, to + (size_t)i * row,
                               (const char *)pass->input + (size_t)last * row, row);
    }
    pass->input = to;
    pass->batch.sequence = 1;
}

static void enqueue_layer(struct yk_inference *inference, int32_t number, bool with_loss)
{
    const struct yk_net *net = inference->store->net;
    const struct yk_net_layer *layer = &net->layers[number];
    const bool last = is_head(inference, number);
    struct yk_layer_pass pass = {
        .net = net,
        .store = inference->store,
        .lane = inference->store->context.lane,
        .layer = number,
        .batch = layer->decodes ? inference->target : inference->source,
        .tokens = layer->decodes ? inference->target_tokens : inference->tokens,
        .lengths = inference->lengths,
        .targets = with_loss ? inference->targets : NULL,
        .position_tables = inference->position_tables,
        .pixels = inference->pixels,
        .loss = &inference->sums->loss,
        .hits = with_loss && net->config->classifier ? inference->sums->hits : NULL,
        .input = layer->input >= 0 ? inference->streams[inference->slots[layer->input]] : NULL,
        .output = last ? NULL : inference->streams[inference->slots[number]],
        .saved = last ? inference->logits : inference->saved,
        .workspace = inference->workspace,
        .memory = layer->memory >= 0 ? inference->streams[MEMORY] : NULL,
    };
    pass.batch.sequence = yk_net_layer_input_rows(layer, pass.batch.sequence);
    if (last && inference->max.last_only) {
        keep_last(inference, number, &pass);
    }
    inference->logit_sequence = pass.batch.sequence;
    layer->kind->forward(&pass);
}

/* Enqueues the layers of the encoder, of the decoder, or of both. A net without a decoder counts as
 * an encoder. */
static void enqueue(struct yk_inference *inference, bool encoder, bool decoder, bool with_loss)
{
    const struct yk_net *net = inference->store->net;
    for (int32_t l = 0; l < net->layer_count; l++) {
        if (net->layers[l].decodes ? decoder : encoder) {
            enqueue_layer(inference, l, with_loss);
        }
    }
}

static void upload(const struct yk_inference *inference, int32_t *to, const int32_t *from,
                   int64_t count)
{
    const struct yk_device_context *context = &inference->store->context;
    context->backend->copy(context->lane, to, from, (size_t)count * sizeof *from);
}

static void set_source(struct yk_inference *inference, const int32_t *tokens,
                       const int32_t *lengths, int64_t samples, int64_t sequence)
{
    const struct yk_net *net = inference->store->net;
    inference->source = (struct yk_batch_shape){.samples = samples,
                                                .sequence = yk_net_sample_tokens(net, sequence)};
    inference->target = (struct yk_batch_shape){.samples = samples, .memory = sequence};
    upload(inference, inference->tokens, tokens, samples * sequence);
    upload(inference, inference->lengths, lengths, samples);
}

static yk_status run_source(struct yk_inference *inference, const int32_t *tokens,
                            const int32_t *lengths, int64_t samples, int64_t sequence, bool decoder)
{
    const struct yk_device_context *context = &inference->store->context;
    set_source(inference, tokens, lengths, samples, sequence);
    enqueue(inference, true, decoder, false);
    return context->backend->lane_synchronize(context->lane);
}

yk_status yk_inference_run(struct yk_inference *inference, const int32_t *tokens, int64_t samples,
                           int64_t sequence)
{
    int32_t *lengths = malloc((size_t)samples * sizeof *lengths);
    YK_TRY_ALLOCATED(lengths);
    for (int64_t i = 0; i < samples; i++) {
        lengths[i] = (int32_t)sequence;
    }
    const yk_status status = run_source(inference, tokens, lengths, samples, sequence, true);
    free(lengths);
    return status;
}

yk_status yk_inference_encode(struct yk_inference *inference, const int32_t *tokens,
                              const int32_t *lengths, int64_t samples, int64_t sequence)
{
    return run_source(inference, tokens, lengths, samples, sequence, false);
}

yk_status yk_inference_sum_losses(struct yk_inference *inference,
                                  const struct yk_sample_slice *slice, struct yk_loss_sums *out)
{
    const struct yk_device_context *context = &inference->store->context;
    const int64_t rows = slice->samples * slice->sequence;
    const int64_t target_rows = slice->samples * slice->target_sequence;
    set_source(inference, slice->tokens, slice->lengths, slice->samples, slice->sequence);
    inference->target.sequence = slice->target_sequence;
    upload(inference, inference->targets, slice->targets, target_rows > 0 ? target_rows : rows);
    if (target_rows > 0) {
        upload(inference, inference->target_tokens, slice->target_tokens, target_rows);
    }
    if (inference->pixels) {
        context->backend->copy(
            context->lane, inference->pixels, slice->pixels,
            (size_t)(slice->samples * yk_model_config_image_bytes(inference->store->net->config)));
    }
    context->backend->clear(context->lane, inference->sums, sizeof *inference->sums);
    enqueue(inference, true, true, true);
    return yk_device_context_copy_and_wait(context, out, inference->sums, sizeof *out);
}

yk_status yk_inference_select_encoder_outputs(struct yk_inference *inference, const int32_t *from,
                                              int64_t samples)
{
    const struct yk_device_context *context = &inference->store->context;
    const struct yk_net *net = inference->store->net;
    const size_t bytes = (size_t)(inference->source.sequence * net->config->width *
                                  yk_precision_bytes(net->workload.precision));
    char *to = inference->expanded;
    int32_t *lengths = inference->expanded_lengths;
    for (int64_t i = 0; i < samples; i++) {
        context->backend->copy(context->lane, to + (size_t)i * bytes,
                               (char *)inference->streams[MEMORY] + (size_t)from[i] * bytes, bytes);
        context->backend->copy(context->lane, lengths + i, inference->lengths + from[i],
                               sizeof *lengths);
    }
    inference->expanded = inference->streams[MEMORY];
    inference->streams[MEMORY] = to;
    inference->expanded_lengths = inference->lengths;
    inference->lengths = lengths;
    inference->target.samples = samples;
    return context->backend->lane_synchronize(context->lane);
}

yk_status yk_inference_decode(struct yk_inference *inference, const int32_t *tokens,
                              int64_t sequence)
{
    const struct yk_device_context *context = &inference->store->context;
    inference->target.sequence = sequence;
    upload(inference, inference->target_tokens, tokens, inference->target.samples * sequence);
    enqueue(inference, false, true, false);
    return context->backend->lane_synchronize(context->lane);
}

/* The head stores logits before their cap. */
static void cap_logits(const struct yk_model_config *config, int64_t count, float *logits)
{
    const float cap = (float)config->logit_softcap;
    for (int64_t i = 0; cap > 0 && i < count; i++) {
        logits[i] = cap * tanhf(logits[i] / cap);
    }
}

/* Copies rows of logits to the host as fp32. */
static yk_status download(const struct yk_inference *inference, int64_t row, int64_t rows,
                          float *out)
{
    const struct yk_device_context *context = &inference->store->context;
    const struct yk_net *net = inference->store->net;
    const int64_t V = yk_model_config_target_vocabulary_size(net->config);
    const enum yk_precision type = net->layers[net->layer_count - 1].precision;
    const int64_t stride = yk_model_config_logit_row_stride(V) * yk_precision_bytes(type);
    for (int64_t i = 0; i < rows; i++) {
        context->backend->cast(context->lane,
                               &(struct yk_cast_op){
                                   .count = V,
                                   .from = (char *)inference->logits + (row + i) * stride,
                                   .to = inference->wide + i * V,
                                   .from_type = type,
                                   .to_type = YK_PRECISION_FP32,
                               });
    }
    YK_TRY(yk_device_context_copy_and_wait(context, out, inference->wide,
                                           (size_t)(rows * V) * sizeof *out));
    cap_logits(net->config, rows * V, out);
    return YK_OK;
}

yk_status yk_inference_get_logits(const struct yk_inference *inference, int64_t sample,
                                  int64_t position, float *out)
{
    return download(inference, sample * inference->logit_sequence + position, 1, out);
}

yk_status yk_inference_get_last_logits(const struct yk_inference *inference, float *out)
{
    const struct yk_batch_shape *run = decodes(inference) ? &inference->target : &inference->source;
    return download(inference, 0, run->samples, out);
}
