#include "model/model.h"

#include "base/number.h"
#include "model/model_layers.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    MAX_LORA_RANK = 1 << 20,
    OUTER_LAYERS = 4, /* maximum number of layers that are not blocks: embeddings, norm, head … */
};

/* Below this bound, sums of bytes over layers do not overflow int64_t. */
static const double MAX_BYTES = 0x1p60;

static yk_status check_sequence(const struct yk_model_config *config,
                                const struct yk_workload *workload)
{
    const int64_t longest = yk_number_max(workload->sequence, workload->target_sequence);
    if (workload->batch < 1) {
        return yk_fail(YK_ERROR_INPUT, "a batch has 1 sample or more, not %" PRId64,
                       workload->batch);
    }
    if (workload->sequence < 1 || workload->target_sequence < 0) {
        return yk_fail(YK_ERROR_INPUT, "a sequence has 1 token or more, not %" PRId64,
                       workload->sequence < 1 ? workload->sequence : workload->target_sequence);
    }
    if (workload->target_sequence > 0 && config->encoder_layers == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a target sequence is for models with encoder and decoder",
                       config->name);
    }
    if (yk_model_config_reads_images(config) && workload->sequence != config->positions) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: an image is always %" PRId64
                       " tokens, the class token and the patches, not %" PRId64,
                       config->name, config->positions, workload->sequence);
    }
    if (config->position_kind == YK_POSITIONS_LEARNED && longest > config->positions) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a sequence of %" PRId64
                       " tokens is too long; the model has learned %" PRId64 " positions",
                       config->name, longest, config->positions);
    }
    return YK_OK;
}

static yk_status check_adapters(const struct yk_workload *workload)
{
    if (workload->lora_rank < 0 || workload->lora_rank > MAX_LORA_RANK) {
        return yk_fail(YK_ERROR_INPUT, "a LoRA rank is from 1 to %d, not %" PRId64, MAX_LORA_RANK,
                       workload->lora_rank);
    }
    if (workload->nf4 && workload->lora_rank == 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "NF4 weights are frozen and nothing would be trained; add adapters with a "
                       "LoRA rank, such as 32");
    }
    return YK_OK;
}

/* Upper bounds, in floating point, which cannot overflow. */
static yk_status check_size(const struct yk_model_config *config,
                            const struct yk_workload *workload)
{
    const double blocks = (double)(config->layers + config->encoder_layers);
    const double attended = (double)config->heads * (double)config->head_size;
    const double inner = (double)config->feed_forward_width + (double)config->encoder_inner;
    const double widths = 16 * ((double)config->width + attended + inner + (double)config->heads +
                                (double)config->encoder_heads);
    const double tokens =
        (double)workload->batch * ((double)workload->sequence + (double)workload->target_sequence);
    const double adapted = (double)workload->lora_rank * 16;
    const double patches = (double)workload->batch * (double)yk_model_config_image_bytes(config);
    const double bytes =
        8 * (patches + blocks * (widths + adapted) * (tokens + (double)workload->lora_rank) +
             (tokens + 1) * ((double)yk_model_config_target_vocabulary_size(config) + widths));
    if (bytes > MAX_BYTES) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a batch of %" PRId64 " × %" PRId64
                       " tokens is more than can be counted",
                       config->name, workload->batch, workload->sequence);
    }
    return YK_OK;
}

static int by_target(const void *a, const void *b)
{
    const struct yk_layer_edge *left = a;
    const struct yk_layer_edge *right = b;
    const int targets = yk_number_compare(left->to, right->to);
    return targets != 0 ? targets : yk_number_compare(left->from, right->from);
}

static yk_status finish(struct yk_model_builder *builder, struct yk_model *model)
{
    if (builder->failed) {
        return yk_fail_out_of_memory();
    }
    qsort(builder->edges, (size_t)builder->edge_count, sizeof *builder->edges, by_target);
    *model = (struct yk_model){
        .config = builder->config,
        .workload = builder->workload,
        .layer_count = builder->layer_count,
        .edge_count = builder->edge_count,
        .layers = builder->layers,
        .edges = builder->edges,
    };
    for (int32_t i = 0; i < model->layer_count; i++) {
        model->parameters += model->layers[i].parameters;
        model->active += model->layers[i].parameters - model->layers[i].inactive;
        model->trainable += model->layers[i].trainable;
    }
    return YK_OK;
}

yk_status yk_model_build(const struct yk_model_config *config, const struct yk_workload *workload,
                         struct yk_arena *arena, const struct yk_model **out)
{
    YK_TRY(check_sequence(config, workload));
    YK_TRY(check_adapters(workload));
    YK_TRY(check_size(config, workload));
    struct yk_model_builder builder = {.config = config, .workload = *workload, .arena = arena};
    if (config->encoder_layers > 0 && workload->target_sequence == 0) {
        builder.workload.target_sequence = workload->sequence;
    }
    /* Each block of a decoder has two edges: from the previous block and from the encoder. */
    const int64_t blocks = config->layers + config->encoder_layers + OUTER_LAYERS;
    struct yk_model *model = NULL;
    YK_TRY_NEW(arena, model, 1);
    YK_TRY_NEW(arena, builder.layers, blocks);
    YK_TRY_NEW(arena, builder.edges, 2 * blocks);
    yk_model_layers_add(&builder);
    YK_TRY(finish(&builder, model));
    *out = model;
    return YK_OK;
}

int64_t yk_model_count_loss_tokens(const struct yk_model *model)
{
    const struct yk_workload *workload = &model->workload;
    if (model->config->classifier) {
        return workload->batch;
    }
    return workload->batch *
           (workload->target_sequence > 0 ? workload->target_sequence : workload->sequence);
}

int64_t yk_model_count_all_tokens(const struct yk_model *model)
{
    if (yk_model_config_reads_images(model->config)) {
        return model->workload.batch;
    }
    return model->workload.batch * (model->workload.sequence + model->workload.target_sequence);
}

void yk_model_append_batch(const struct yk_model_config *config, const struct yk_workload *workload,
                           struct yk_text *out)
{
    yk_text_addf(out, "%" PRId64 " %s%s of ", workload->batch,
                 yk_model_config_throughput_unit(config)->sample,
                 yk_text_plural_suffix(workload->batch));
    if (yk_model_config_reads_images(config)) {
        yk_text_addf(out, "%" PRId64 " × %" PRId64 " pixels", config->image.height,
                     config->image.width);
    } else {
        yk_text_addf(out, "%" PRId64 " tokens", workload->sequence);
    }
}

struct yk_mfu_flops yk_model_count_mfu_flops(const struct yk_model *model)
{
    struct yk_mfu_flops sum = {0};
    for (int32_t i = 0; i < model->layer_count; i++) {
        sum.formula += model->layers[i].flops.formula;
        sum.exact += model->layers[i].flops.exact;
    }
    return sum;
}

struct yk_model_layer_state_bytes yk_model_layer_state_bytes(const struct yk_model *model,
                                                             const struct yk_layer *layer)
{
    /* 2 + 2 + 12 bytes a trained parameter in 16 bit, 4 + 4 + 8 in fp32. */
    const double state_bytes = 16;
    const double full_bytes = 4;
    const double width = (double)yk_precision_bytes(model->workload.precision);
    const int64_t plain = layer->parameters - layer->quantised - layer->full_width;
    return (struct yk_model_layer_state_bytes){
        .weight_bytes = width * (double)plain +
                        YK_MODEL_NF4_BYTES_PER_WEIGHT * (double)layer->quantised +
                        full_bytes * (double)layer->full_width,
        .gradient_bytes = width * (double)layer->trainable,
        .optimizer_bytes = (state_bytes - 2 * width) * (double)layer->trainable,
    };
}

struct yk_model_cache {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_workload workload;
    const struct yk_model **models; /* (batch + 1, 2); NULL: not computed yet */
};

static yk_status start(struct yk_model_cache *cache)
{
    const struct yk_model *whole = NULL;
    /* Checks the workload before memory is allocated for its batch. */
    YK_TRY(yk_model_build(cache->config, &cache->workload, cache->arena, &whole));
    YK_TRY_NEW(cache->arena, cache->models, 2 * (cache->workload.batch + 1));
    cache->models[2 * cache->workload.batch] = whole;
    return YK_OK;
}

yk_status yk_model_cache_create(const struct yk_model_config *config,
                                const struct yk_workload *workload, struct yk_model_cache **out)
{
    struct yk_model_cache *cache = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(cache);
    cache->config = config;
    cache->workload = *workload;
    cache->workload.recompute = false;
    YK_TRY_OR_CLEAN_UP(start(cache), yk_model_cache_destroy(cache));
    *out = cache;
    return YK_OK;
}

void yk_model_cache_destroy(struct yk_model_cache *cache)
{
    if (cache) {
        yk_arena_destroy(cache->arena);
    }
}

yk_status yk_model_cache_get(struct yk_model_cache *cache, int64_t batch, bool recompute,
                             const struct yk_model **out)
{
    const struct yk_model **slot = &cache->models[2 * batch + (recompute ? 1 : 0)];
    if (!*slot) {
        struct yk_workload workload = cache->workload;
        workload.batch = batch;
        workload.recompute = recompute;
        YK_TRY(yk_model_build(cache->config, &workload, cache->arena, slot));
    }
    *out = *slot;
    return YK_OK;
}

const struct yk_model *yk_model_cache_get_whole_batch(const struct yk_model_cache *cache)
{
    return cache->models[2 * cache->workload.batch];
}
