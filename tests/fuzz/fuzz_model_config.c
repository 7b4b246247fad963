/*
 * Fuzz target of the reader of config.json. A config that is accepted must keep the promises of
 * config.h, and what it describes those of model.h, under every kind of workload; and written
 * again, it is accepted again.
 */
#include "fuzz/fuzz.h"

#include "model/architecture.h"
#include "model/config.h"
#include "model/model.h"

static void check_config(const struct yk_model_config *config)
{
    fuzz_expect(config->vocabulary > 0 && config->width > 0 && config->layers > 0 &&
                    config->heads > 0 && config->kv_heads > 0 && config->head_size > 0 &&
                    config->feed_forward_width > 0 && config->positions > 0,
                "sizes are positive");
    fuzz_expect(config->heads % config->kv_heads == 0, "heads of keys divide heads");
    fuzz_expect((config->encoder_layers > 0) ==
                    (config->encoder_heads > 0 && config->encoder_inner > 0),
                "an encoder is whole or not there");
}

static void check_model(const struct yk_model *model)
{
    int64_t parameters = 0;
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        fuzz_expect(layer->parameters >= 0 && layer->trainable >= 0 && layer->saved_bytes >= 0 &&
                        layer->workspace_bytes >= 0,
                    "counts are not negative");
        fuzz_expect(layer->trainable + layer->quantised + layer->full_width <= layer->parameters,
                    "kinds of parameters are parts of all");
        fuzz_expect(layer->shares_weights_of < i, "weights are shared with an earlier layer");
        for (int32_t w = 0; w < layer->backward.count; w++) {
            fuzz_expect(layer->backward.items[w].operations >= 0 &&
                            layer->backward.items[w].bytes > 0,
                        "work is positive");
        }
        parameters += layer->parameters;
    }
    fuzz_expect(parameters == model->parameters, "the total is the sum");
    for (int32_t i = 0; i < model->edge_count; i++) {
        const struct yk_layer_edge *edge = &model->edges[i];
        fuzz_expect(edge->from >= 0 && edge->from < edge->to && edge->to < model->layer_count,
                    "edges go forward");
        fuzz_expect(i == 0 || model->edges[i - 1].to <= edge->to, "edges are sorted");
    }
}

static void check_written(const struct yk_model_config *config, struct yk_arena *arena)
{
    const struct yk_model_config *again = NULL;
    struct yk_text text = {0};
    if (yk_model_config_to_json(config, YK_PRECISION_FP32, &text) == YK_OK) {
        fuzz_expect(yk_model_config_parse(yk_text_chars(&text), text.length, "again", arena,
                                          &again) == YK_OK,
                    "what was written is read");
        fuzz_expect(again->architecture == config->architecture &&
                        again->vocabulary == config->vocabulary && again->width == config->width &&
                        again->layers == config->layers && again->tied == config->tied &&
                        again->activation == config->activation &&
                        again->window == config->window &&
                        again->rotary_size == config->rotary_size &&
                        again->ids.pad == config->ids.pad && again->ids.end == config->ids.end,
                    "a config comes back");
    }
    yk_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct yk_workload workloads[] = {
        {.batch = 1, .sequence = 1},
        {.batch = 7, .sequence = 1 << 20, .precision = YK_PRECISION_FP16, .recompute = true},
        {.batch = 2, .sequence = 8, .lora_rank = 1 << 20, .nf4 = true},
    };
    struct yk_arena *arena = NULL;
    const struct yk_model_config *config = NULL;
    if (yk_arena_create(&arena) != YK_OK) {
        return 0;
    }
    if (yk_model_config_parse((const char *)data, size, "fuzz", arena, &config) == YK_OK) {
        fuzz_accept();
        check_config(config);
        check_written(config, arena);
        for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
            const struct yk_model *model = NULL;
            if (yk_model_build(config, &workloads[i], arena, &model) == YK_OK) {
                check_model(model);
            }
        }
    }
    yk_arena_destroy(arena);
    return 0;
}
