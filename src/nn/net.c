#include "nn/net.h"

#include "model/architecture.h"
#include "nn/layers/layer.h"
#include "nn/parameter_list.h"

#include <string.h>

enum {
    FP32_BYTES = 4
};

size_t yk_net_parameter_bytes(const struct yk_net *net, const struct yk_parameter *parameter)
{
    const size_t count = (size_t)parameter->count;
    switch (parameter->format) {
    case YK_PARAMETER_NF4:
        return yk_ops_lay_out_nf4_tensor(NULL, parameter->count, NULL);
    case YK_PARAMETER_FP32:
        return count * FP32_BYTES;
    default:
        return count * (size_t)yk_precision_bytes(net->workload.precision);
    }
}

/* The order in the allocation: trained with weight decay, trained without, frozen. */
static int32_t class_of(const struct yk_parameter *parameter)
{
    if (!parameter->trained) {
        return 2;
    }
    return parameter->decayed ? 0 : 1;
}

/* Frozen fp32 parameters may follow 16-bit ones. */
static size_t align(size_t offset)
{
    return (offset + FP32_BYTES - 1) / FP32_BYTES * FP32_BYTES;
}

static void lay_out(const struct yk_net *net, struct yk_net_layer *layer)
{
    for (int32_t class = 0; class < 3; class ++) {
        for (int32_t i = 0; i < layer->parameter_count; i++) {
            struct yk_parameter *parameter = &layer->parameters[i];
            if (class_of(parameter) != class) {
                continue;
            }
            const bool aligned = parameter->format != YK_PARAMETER_PLAIN;
            parameter->offset = aligned ? align(layer->weight_bytes) : layer->weight_bytes;
            layer->weight_bytes = parameter->offset + yk_net_parameter_bytes(net, parameter);
            if (parameter->trained) {
                parameter->first = layer->trained;
                layer->trained += parameter->count;
                layer->decayed += class == 0 ? parameter->count : 0;
            }
        }
    }
}

static yk_status add_layer(struct yk_net *net, const struct yk_model *model, int32_t number)
{
    const struct yk_layer *described = &model->layers[number];
    struct yk_net_layer *layer = &net->layers[number];
    struct yk_parameter_list parameters = {
        .arena = net->arena,
        .config = net->config,
        .workload = &net->workload,
        .modules = described->modules,
        .encoder = described->encoder,
        .follows = described->shares_weights_of != YK_LAYER_NONE,
    };
    layer->kind = yk_layer_kind_of_role(described->role, yk_model_config_reads_images(net->config));
    if (!layer->kind) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has a pooler, for whose output there is no loss to train by; BERT is "
                       "trained to predict masked words: --model bert-base-mlm, or a config of "
                       "BertForMaskedLM",
                       net->config->name);
    }
    layer->block = described->block;
    layer->pools = net->config->classifier && described->role == YK_LAYER_ROLE_NORM;
    layer->pooled = net->config->classifier && described->role == YK_LAYER_ROLE_HEAD;
    layer->encoder = described->encoder;
    layer->precision =
        net->workload.nf4 && !layer->kind->block ? YK_PRECISION_FP32 : net->workload.precision;
    parameters.kind = layer->kind;
    parameters.trains = net->workload.lora_rank == 0 || layer->pooled;
    parameters.decodes = layer->kind->reads_tokens && number > 0;
    layer->name = yk_arena_copy_text(net->arena, described->name, strlen(described->name));
    layer->weights_owner =
        described->shares_weights_of == YK_LAYER_NONE ? number : described->shares_weights_of;
    layer->kind->list(&parameters);
    YK_TRY_NEW(net->arena, layer->parameters, parameters.count + 1);
    if (!layer->name || parameters.failed) {
        return yk_fail_out_of_memory();
    }
    memcpy(layer->parameters, parameters.items,
           (size_t)parameters.count * sizeof *layer->parameters);
    memcpy(layer->projections, parameters.projections, sizeof layer->projections);
    layer->parameter_count = parameters.count;
    layer->projection_count = parameters.projection_count;
    for (int32_t i = 0; i < layer->parameter_count; i++) {
        layer->parameters[i].fresh = layer->pooled && net->config->new_head;
    }
    lay_out(net, layer);
    return YK_OK;
}

/*
 * The input of a layer is the output of the latest layer that sends to it. If an earlier layer also
 * sends to it, that output is its memory: the encoder's output. The second layer that reads tokens
 * belongs to the decoder.
 */
static void connect(struct yk_net *net, const struct yk_model *model)
{
    bool reads = false; /* an earlier layer reads tokens */
    for (int32_t l = 0; l < net->layer_count; l++) {
        struct yk_net_layer *layer = &net->layers[l];
        layer->input = -1;
        layer->memory = -1;
        for (int32_t e = 0; e < model->edge_count; e++) {
            const struct yk_layer_edge *edge = &model->edges[e];
            if (edge->to == l) {
                layer->memory = edge->from > layer->input ? layer->input : edge->from;
                layer->input = edge->from > layer->input ? edge->from : layer->input;
            }
        }
        layer->decodes = layer->input >= 0 ? net->layers[layer->input].decodes : reads;
        reads = reads || layer->kind->reads_tokens;
    }
}

static yk_status fill(struct yk_net *net, const struct yk_model *model)
{
    YK_TRY_NEW(net->arena, net->layers, model->layer_count);
    net->layer_count = model->layer_count;
    for (int32_t l = 0; l < model->layer_count; l++) {
        YK_TRY(add_layer(net, model, l));
    }
    connect(net, model);
    return YK_OK;
}

yk_status yk_net_create(const struct yk_model *model, const struct yk_net_options *options,
                        struct yk_net **out)
{
    struct yk_net *net = NULL;
    if (model->config->experts > 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s is a mixture of experts (%s), which yoke can plan but not train yet",
                       model->config->name, model->config->architecture->model_type);
    }
    if (model->config->not_trained) {
        return yk_fail(YK_ERROR_INPUT, "%s cannot be trained yet: %s is not known",
                       model->config->name, model->config->not_trained);
    }
    YK_TRY_NEW_WITH_OWN_ARENA(net);
    net->config = model->config;
    net->workload = model->workload;
    net->options = *options;
    YK_TRY_OR_CLEAN_UP(fill(net, model), yk_net_destroy(net));
    *out = net;
    return YK_OK;
}

void yk_net_destroy(struct yk_net *net)
{
    if (net) {
        yk_arena_destroy(net->arena);
    }
}

bool yk_net_next_parameter(const struct yk_net *net, struct yk_net_parameter_cursor *at)
{
    while (at->layer < net->layer_count && at->next == net->layers[at->layer].parameter_count) {
        at->layer++;
        at->next = 0;
    }
    if (at->layer == net->layer_count) {
        return false;
    }
    at->parameter = &net->layers[at->layer].parameters[at->next++];
    return true;
}

const struct yk_parameter *yk_net_find_parameter(const struct yk_net *net, const char *name,
                                                 int32_t *layer)
{
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        if (strcmp(at.parameter->name, name) == 0) {
            if (layer) {
                *layer = at.layer;
            }
            return at.parameter;
        }
    }
    return NULL;
}
