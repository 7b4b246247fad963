/*
 * Every kind of layer against finite differences: the loss is a random weighing of what the layer
 * puts out (of a head, its own), and its slope in a random direction of the input, and of each
 * parameter, is what backward says. fp32 forward, differences in double.
 */
#include "nn/layers/layer.h"

#include "base/random.h"
#include "nn/inference/inference.h"
#include "support/support.h"
#include "support/training/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 2,
    SEQUENCE = 5,
    MEMORY = 4, /* tokens that a decoder looks at */
    ROWS = SAMPLES * SEQUENCE,
    MEMORY_ROWS = SAMPLES * MEMORY,
};

static const char *const gpt =
    "{\"model_type\": \"gpt2\", \"vocab_size\": 13, \"n_positions\": 8, \"n_embd\": 12, "
    "\"n_layer\": 1, \"n_head\": 3, \"activation_function\": \"%s\", "
    "\"tie_word_embeddings\": %s, \"initializer_range\": 0.3}";

static const char *const llama =
    "{\"model_type\": \"llama\", \"vocab_size\": 13, \"hidden_size\": 12, "
    "\"intermediate_size\": 20, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, "
    "\"num_key_value_heads\": 2, \"head_dim\": 4, \"max_position_embeddings\": 8, "
    "\"attention_bias\": %s, \"mlp_bias\": %s, \"initializer_range\": 0.3}";

static const char *const bert =
    "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"vocab_size\": 13, "
    "\"hidden_size\": 12, \"intermediate_size\": 20, \"num_hidden_layers\": 1, "
    "\"num_attention_heads\": 3, \"max_position_embeddings\": 8, \"hidden_act\": \"%s\", "
    "\"tie_word_embeddings\": %s, \"initializer_range\": 0.3}";

/* Encoder and decoder have other heads and another width inside the feed-forward. */
static const char *const marian =
    "{\"model_type\": \"marian\", \"vocab_size\": 13, \"d_model\": 12, \"encoder_layers\": 1, "
    "\"decoder_layers\": 1, \"encoder_ffn_dim\": 16, \"decoder_ffn_dim\": 20, "
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 3, "
    "\"max_position_embeddings\": 8, \"activation_function\": \"%s\", "
    "\"scale_embedding\": %s, \"tie_word_embeddings\": %s, "
    "\"share_encoder_decoder_embeddings\": %s, \"init_std\": 0.3}";

#define DECODER(type)                                                                              \
    "{\"model_type\": \"" type                                                                     \
    "\", \"vocab_size\": 13, \"hidden_size\": 12, \"intermediate_size\": 20, "                     \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 4, "                    \
    "\"max_position_embeddings\": 8, \"initializer_range\": 0.3, "

#define NEOX(rotated, parallel)                                                                    \
    "{\"model_type\": \"gpt_neox\", \"vocab_size\": 13, \"hidden_size\": 12, "                     \
    "\"intermediate_size\": 20, \"num_hidden_layers\": 2, \"num_attention_heads\": 3, "            \
    "\"max_position_embeddings\": 8, \"initializer_range\": 0.3, \"rotary_pct\": " rotated         \
    ", \"use_parallel_residual\": " parallel "}"

/* Two blocks each, between embedding, norm and head. A window is shorter than the sequence. */
static const char *const decoders[] = {
    DECODER("mistral") "\"num_hidden_layers\": 2, \"sliding_window\": 3}",
    DECODER("qwen2") "\"num_hidden_layers\": 2, \"tie_word_embeddings\": true}",
    DECODER("qwen3") "\"num_hidden_layers\": 2}",
    DECODER("gemma") "\"num_hidden_layers\": 2}",
    DECODER("gemma2") "\"num_hidden_layers\": 2, \"sliding_window\": 3, "
                      "\"query_pre_attn_scalar\": 9, \"attn_logit_softcapping\": 2.0, "
                      "\"final_logit_softcapping\": 3.0}",
    DECODER("gemma3_text") "\"num_hidden_layers\": 2, \"sliding_window\": 3, "
                           "\"query_pre_attn_scalar\": 9, \"rope_theta\": 1000000.0, "
                           "\"rope_local_base_freq\": 100.0, "
                           "\"layer_types\": [\"sliding_attention\", \"full_attention\"]}",
    DECODER("phi3") "\"num_hidden_layers\": 2, \"sliding_window\": 4, "
                    "\"partial_rotary_factor\": 0.5}",
    DECODER("olmo2") "\"num_hidden_layers\": 2}",
    DECODER("granite") "\"num_hidden_layers\": 2, \"embedding_multiplier\": 3.0, "
                       "\"attention_multiplier\": 0.3, \"residual_multiplier\": 0.4, "
                       "\"logits_scaling\": 2.5}",
    DECODER("smollm3") "\"num_hidden_layers\": 2, \"no_rope_layers\": [1, 0]}",
    DECODER("starcoder2") "\"num_hidden_layers\": 2, \"sliding_window\": 3}",
    DECODER("nemotron") "\"num_hidden_layers\": 2, \"attention_bias\": true, \"mlp_bias\": true}",
    NEOX("0.5", "true"),
    NEOX("1.0", "false"),
};

static const char *const roberta =
    "{\"model_type\": \"roberta\", \"architectures\": [\"RobertaForMaskedLM\"], "
    "\"vocab_size\": 13, \"hidden_size\": 12, \"intermediate_size\": 20, "
    "\"num_hidden_layers\": 1, \"num_attention_heads\": 3, \"max_position_embeddings\": 9, "
    "\"type_vocab_size\": 1, \"pad_token_id\": 1, \"hidden_act\": \"gelu\", "
    "\"initializer_range\": 0.3}";

struct bench {
    struct yk_arena *arena; /* the config's */
    struct trainer *trainer;
    int32_t layer;
    struct yk_layer_memory_sizes cache;
    float *input;    /* (ROWS, C) */
    float *output;   /* (ROWS, C); of a head the loss alone counts */
    float *weighing; /* (ROWS, C) what outputs are multiplied with */
    float *input_gradient;
    float *output_gradient;
    char *saved;
    char *workspace;
    double *loss;
    struct yk_position_tables tables;
    void *positions; /* memory of the tables */
    float *memory;   /* (MEMORY_ROWS, C) */
    float *memory_gradient;
    bool adds;      /* to the memory's gradient */
    bool frozen;    /* nothing before the layer is trained */
    bool recompute; /* what backward needs is made once more */
    int32_t lengths[SAMPLES];
    int32_t tokens[ROWS];
    int32_t targets[ROWS];
};

static void *allocate(struct bench *bench, size_t bytes)
{
    void *memory = NULL;
    const struct yk_device_context *context = &bench->trainer->context;
    assert_int_equal(context->backend->allocate(context->device, bytes + 64, &memory), YK_OK);
    return memory;
}

static void draw(struct yk_random *random, float *out, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)(2 * yk_random_uniform(random) - 1);
    }
}

static bool is_head(const struct bench *bench)
{
    return bench->layer + 1 == bench->trainer->net->layer_count;
}

/* Biases, norms and adapters away from where they start, so that each has an effect. */
static void fill_layer(struct bench *bench, int32_t layer, struct yk_random *random)
{
    const struct yk_net *net = bench->trainer->net;
    for (int32_t i = 0; i < net->layers[layer].parameter_count; i++) {
        const struct yk_parameter *parameter = &net->layers[layer].parameters[i];
        float *numbers = calloc((size_t)parameter->count, sizeof *numbers);
        assert_non_null(numbers);
        draw(random, numbers, parameter->count);
        for (int64_t k = 0; k < parameter->count; k++) {
            numbers[k] =
                numbers[k] * 0.4F + (parameter->init == YK_PARAMETER_INIT_ONE ? 1.0F : 0.0F);
        }
        assert_int_equal(
            yk_parameter_store_write_values(bench->trainer->store, layer, parameter, numbers),
            YK_OK);
        free(numbers);
    }
}

static const struct yk_batch_shape batch = {
    .samples = SAMPLES, .sequence = SEQUENCE, .memory = MEMORY};

static void open_bench(struct bench *bench, const char *json, const struct trainer_request *with,
                       int32_t layer)
{
    struct trainer_request request = *with;
    struct yk_random random = yk_random_from_seed(7);
    assert_int_equal(yk_arena_create(&bench->arena), YK_OK);
    assert_int_equal(
        yk_model_config_parse(json, strlen(json), "test", bench->arena, &request.config), YK_OK);
    request.batch = SAMPLES;
    request.sequence = SEQUENCE;
    request.optimizer = (struct yk_optimizer_options){.kind = YK_OPTIMIZER_ADAMW};
    bench->trainer = trainer_open(&request);
    bench->layer = layer;
    const struct yk_net *net = bench->trainer->net;
    const size_t stream = ROWS * (size_t)request.config->width * sizeof(float);
    net->layers[layer].kind->measure(net, layer, &batch, &bench->cache);
    bench->input = allocate(bench, stream);
    bench->output = allocate(bench, stream);
    bench->weighing = allocate(bench, stream);
    bench->input_gradient = allocate(bench, stream);
    bench->output_gradient = allocate(bench, stream);
    bench->saved = allocate(bench, bench->cache.saved_bytes);
    bench->workspace = allocate(bench, bench->cache.forward_bytes + bench->cache.backward_bytes);
    bench->loss = allocate(bench, sizeof(double));
    struct yk_bump_allocator counted = {0};
    yk_position_tables_allocate(net, SEQUENCE, &counted, &bench->tables);
    struct yk_bump_allocator tables = {.base = allocate(bench, counted.used)};
    bench->positions = tables.base;
    yk_position_tables_allocate(net, SEQUENCE, &tables, &bench->tables);
    assert_int_equal(yk_position_tables_fill(bench->trainer->store, SEQUENCE, &bench->tables),
                     YK_OK);
    bench->memory = allocate(bench, stream);
    bench->memory_gradient = allocate(bench, stream);
    draw(&random, bench->memory, MEMORY_ROWS * request.config->width);
    bench->lengths[0] = MEMORY; /* less than the sequence, too */
    bench->lengths[1] = 2;
    draw(&random, bench->input, ROWS * request.config->width);
    draw(&random, bench->weighing, ROWS * request.config->width);
    for (int i = 0; i < ROWS; i++) {
        bench->tokens[i] = (int32_t)yk_random_below(&random, 13);
        bench->targets[i] = i % 4 == 3 ? -1 : (int32_t)yk_random_below(&random, 13);
    }
    fill_layer(bench, layer, &random);
    if (net->layers[layer].weights_owner != layer) {
        fill_layer(bench, net->layers[layer].weights_owner, &random);
    }
}

static void close_bench(struct bench *bench)
{
    const struct yk_device_context *context = &bench->trainer->context;
    void *const memories[] = {
        bench->input,           bench->output, bench->weighing,       bench->input_gradient,
        bench->output_gradient, bench->saved,  bench->workspace,      bench->loss,
        bench->positions,       bench->memory, bench->memory_gradient};
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++) {
        context->backend->free(context->device, memories[i]);
    }
    trainer_close(bench->trainer);
    yk_arena_destroy(bench->arena);
}

static struct yk_layer_pass pass_of(struct bench *bench)
{
    return (struct yk_layer_pass){
        .net = bench->trainer->net,
        .store = bench->trainer->store,
        .lane = bench->trainer->context.lane,
        .layer = bench->layer,
        .batch = batch,
        .first_sample = 100,
        .training = true,
        .tokens = bench->tokens,
        .targets = bench->targets,
        .lengths = bench->lengths,
        .position_tables = bench->tables,
        .loss_factor = 1,
        .loss = bench->loss,
        .input = bench->input,
        .output = bench->output,
        .saved = bench->saved,
        .workspace = bench->workspace,
        .output_gradient = bench->output_gradient,
        .input_gradient = bench->input_gradient,
        .memory = bench->memory,
        .memory_gradient = bench->memory_gradient,
        .memory_added = bench->adds,
        .input_frozen = bench->frozen,
    };
}

static double forward(struct bench *bench)
{
    const struct yk_layer_pass pass = pass_of(bench);
    const struct yk_device_context *context = &bench->trainer->context;
    const int64_t count = ROWS * bench->trainer->net->config->width;
    double loss = 0;
    *bench->loss = 0;
    bench->trainer->net->layers[bench->layer].kind->forward(&pass);
    assert_int_equal(context->backend->lane_synchronize(context->lane), YK_OK);
    if (is_head(bench)) {
        return *bench->loss;
    }
    for (int64_t i = 0; i < count; i++) {
        loss += (double)bench->output[i] * (double)bench->weighing[i];
    }
    return loss;
}

static void backward(struct bench *bench)
{
    const struct yk_layer_pass pass = pass_of(bench);
    const struct yk_device_context *context = &bench->trainer->context;
    const size_t stream = ROWS * (size_t)bench->trainer->net->config->width * sizeof(float);
    memcpy(bench->output_gradient, bench->weighing, stream);
    for (int32_t l = 0; l < bench->trainer->net->layer_count; l++) {
        if (bench->trainer->net->layers[l].trained > 0) {
            memset(bench->trainer->store->layers[l].gradients, 0,
                   (size_t)bench->trainer->net->layers[l].trained * sizeof(float));
        }
    }
    (void)forward(bench);
    if (bench->recompute) {
        struct yk_layer_pass again = pass;
        again.output = NULL;
        memset(bench->saved, 0xff, bench->cache.saved_bytes); /* not numbers */
        bench->trainer->net->layers[bench->layer].kind->forward(&again);
    }
    bench->trainer->net->layers[bench->layer].kind->backward(&pass);
    assert_int_equal(context->backend->lane_synchronize(context->lane), YK_OK);
}

/* The slope between two points on either side of where `numbers` are. */
static double slope_at(struct bench *bench, float *numbers, const float *direction, int64_t count,
                       double distance)
{
    float *before = calloc((size_t)count, sizeof *before);
    double losses[2];
    assert_non_null(before);
    memcpy(before, numbers, (size_t)count * sizeof *before);
    for (int way = 0; way < 2; way++) {
        for (int64_t i = 0; i < count; i++) {
            numbers[i] = before[i] + (float)((way ? -distance : distance) * (double)direction[i]);
        }
        losses[way] = forward(bench);
    }
    memcpy(numbers, before, (size_t)count * sizeof *before);
    free(before);
    return (losses[0] - losses[1]) / (2 * distance);
}

/*
 * Moves `numbers` along a random direction both ways, and compares the slope with the gradient.
 * ReLU may bend between the two points, so nearer ones are tried where they disagree; the nearer,
 * the more of their difference is rounding.
 */
static void expect_slope(struct bench *bench, const char *what, float *numbers,
                         const float *gradient, int64_t count, uint64_t seed)
{
    static const double distances[] = {5e-3, 1e-3, 2e-4};
    const double rounding = 2e-6;
    struct yk_random random = yk_random_from_seed(seed);
    float *direction = calloc((size_t)count, sizeof *direction);
    double expected = 0;
    double norm = 0;
    double found = 0;
    bool near = false;
    assert_non_null(direction);
    draw(&random, direction, count);
    for (int64_t i = 0; i < count; i++) {
        expected += (double)gradient[i] * (double)direction[i];
        norm += (double)gradient[i] * (double)gradient[i];
    }
    for (size_t d = 0; !near && d < sizeof distances / sizeof distances[0]; d++) {
        const double tolerance = 2e-3 * (sqrt(norm) + fabs(expected)) + rounding / distances[d];
        found = slope_at(bench, numbers, direction, count, distances[d]);
        near = fabs(found - expected) <= tolerance;
    }
    if (!near) {
        fail_msg("%s: slope %.6g, backward says %.6g", what, found, expected);
    }
    free(direction);
}

static void check_input(struct bench *bench, const char *what, float *numbers,
                        const float *gradient, int64_t count)
{
    float *found = calloc((size_t)count, sizeof *found);
    assert_non_null(found);
    backward(bench);
    memcpy(found, gradient, (size_t)count * sizeof *found);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        expect_slope(bench, what, numbers, found, count, seed);
    }
    free(found);
}

static void check_parameters(struct bench *bench, int32_t layer)
{
    const struct yk_net *net = bench->trainer->net;
    for (int32_t i = 0; i < net->layers[layer].parameter_count; i++) {
        const struct yk_parameter *parameter = &net->layers[layer].parameters[i];
        if (!parameter->trained) {
            continue;
        }
        float *weights =
            (float *)(void *)(bench->trainer->store->layers[layer].weights + parameter->offset);
        backward(bench);
        int64_t count = 0;
        const float *gradient = trainer_gradient(bench->trainer, parameter->name, &count);
        expect_slope(bench, parameter->name, weights, gradient, count, 11);
    }
}

/* What a decoder's gradient of what it looks at is added to stays there. */
static void check_adding(struct bench *bench)
{
    const int64_t count = MEMORY_ROWS * bench->trainer->net->config->width;
    float *before = calloc((size_t)count, sizeof *before);
    assert_non_null(before);
    backward(bench);
    memcpy(before, bench->memory_gradient, (size_t)count * sizeof *before);
    bench->adds = true;
    backward(bench);
    bench->adds = false;
    for (int64_t i = 0; i < count; i++) {
        assert_true(fabsf(bench->memory_gradient[i] - 2 * before[i]) <= 1e-5F);
    }
    free(before);
}

/* If nothing before a layer is trained, its own gradients keep their bits. With adapters, a block
 * does not compute the gradient of its input then. */
static void check_frozen_input(struct bench *bench)
{
    const struct yk_net_layer *layer = &bench->trainer->net->layers[bench->layer];
    const float *gradients = (const float *)bench->trainer->store->layers[bench->layer].gradients;
    const size_t bytes = (size_t)layer->trained * sizeof(float);
    const size_t width = (size_t)bench->trainer->net->config->width;
    const size_t stream = ROWS * width * sizeof(float);
    const size_t memory = layer->memory >= 0 ? MEMORY_ROWS * width * sizeof(float) : 0;
    char *before = calloc(1, stream + bytes + memory);
    assert_non_null(before);
    backward(bench);
    memcpy(before, bench->input_gradient, stream);
    if (memory > 0) {
        memcpy(before + stream + bytes, bench->memory_gradient, memory);
    }
    if (bytes > 0) {
        memcpy(before + stream, gradients, bytes);
    }
    memset(bench->input_gradient, 0, stream);
    bench->frozen = true;
    backward(bench);
    bench->frozen = false;
    const bool left_out = layer->kind->block && bench->trainer->net->workload.lora_rank > 0;
    assert_int_equal(memcmp(before, bench->input_gradient, stream) != 0, left_out);
    assert_true(bytes == 0 || memcmp(before + stream, gradients, bytes) == 0);
    assert_true(memory == 0 ||
                memcmp(before + stream + bytes, bench->memory_gradient, memory) == 0);
    free(before);
}

static void check_layer(const char *json, const struct trainer_request *request, int32_t layer)
{
    struct bench bench = {0};
    open_bench(&bench, json, request, layer);
    const struct yk_net *net = bench.trainer->net;
    const struct yk_net_layer *at = &net->layers[layer];
    const int64_t C = net->config->width;
    bench.recompute = request->recompute && at->kind->block;
    if (!at->kind->reads_tokens) {
        check_input(&bench, "input", bench.input, bench.input_gradient, ROWS * C);
        check_frozen_input(&bench);
    }
    if (at->memory >= 0) {
        check_input(&bench, "memory", bench.memory, bench.memory_gradient, MEMORY_ROWS * C);
        check_adding(&bench);
    }
    check_parameters(&bench, layer);
    if (at->weights_owner != layer) {
        check_parameters(&bench, at->weights_owner);
    }
    close_bench(&bench);
}

static void check_gpt(const char *activation, bool tied, const struct trainer_request *request)
{
    char json[512];
    (void)snprintf(json, sizeof json, gpt, activation, tied ? "true" : "false");
    for (int32_t layer = 0; layer < 4; layer++) {
        check_layer(json, request, layer);
    }
}

static void check_llama(bool bias, const struct trainer_request *request)
{
    char json[512];
    (void)snprintf(json, sizeof json, llama, bias ? "true" : "false", bias ? "true" : "false");
    for (int32_t layer = 0; layer < 4; layer++) {
        check_layer(json, request, layer);
    }
}

static void check_bert(const char *activation, bool tied, const struct trainer_request *request)
{
    char json[512];
    (void)snprintf(json, sizeof json, bert, activation, tied ? "true" : "false");
    for (int32_t layer = 0; layer < 3; layer++) {
        check_layer(json, request, layer);
    }
}

static void check_marian(const char *activation, bool scaled, bool tied, bool shared,
                         const struct trainer_request *request)
{
    char json[768];
    (void)snprintf(json, sizeof json, marian, activation, scaled ? "true" : "false",
                   tied ? "true" : "false", shared ? "true" : "false");
    for (int32_t layer = 0; layer < 5; layer++) {
        check_layer(json, request, layer);
    }
}

static void check_decoders(const struct trainer_request *request)
{
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        for (int32_t layer = 0; layer < 5; layer++) {
            check_layer(decoders[i], request, layer);
        }
    }
}

static void layers_of_todays_decoders_go_back_as_they_came(void **state)
{
    (void)state;
    check_decoders(&(struct trainer_request){0});
}

static void layers_of_todays_decoders_with_dropout_and_recomputation_do_too(void **state)
{
    (void)state;
    check_decoders(&(struct trainer_request){.recompute = true, .options = {.dropout = 0.2}});
}

static void adapters_of_todays_decoders_do_too_on_nf4(void **state)
{
    (void)state;
    check_decoders(&(struct trainer_request){
        .lora_rank = 2, .nf4 = true, .recompute = true, .options = {.lora_alpha = 4}});
}

static void layers_of_roberta_go_back_as_they_came(void **state)
{
    (void)state;
    for (int32_t layer = 0; layer < 3; layer++) {
        check_layer(roberta, &(struct trainer_request){0}, layer);
    }
}

static void gpt_layers_go_back_as_they_came(void **state)
{
    (void)state;
    check_gpt("gelu_new", false, &(struct trainer_request){0});
    check_gpt("gelu", true, &(struct trainer_request){0});
}

static void gpt_layers_with_dropout_and_smoothing_do_too(void **state)
{
    (void)state;
    check_gpt("gelu_new", false,
              &(struct trainer_request){.options = {.dropout = 0.3, .label_smoothing = 0.1}});
}

static void gpt_adapters_do_too(void **state)
{
    (void)state;
    check_gpt("gelu_new", false,
              &(struct trainer_request){.lora_rank = 3, .options = {.lora_alpha = 5}});
}

static void llama_layers_go_back_as_they_came(void **state)
{
    (void)state;
    check_llama(false, &(struct trainer_request){0});
    check_llama(true, &(struct trainer_request){.options = {.dropout = 0.2}});
}

static void llama_adapters_do_too_on_plain_weights_and_nf4(void **state)
{
    (void)state;
    check_llama(false, &(struct trainer_request){.lora_rank = 2, .options = {.lora_alpha = 4}});
    check_llama(false, &(struct trainer_request){
                           .lora_rank = 2, .nf4 = true, .options = {.lora_alpha = 4}});
}

static void bert_layers_go_back_as_they_came(void **state)
{
    (void)state;
    check_bert("gelu", true, &(struct trainer_request){0});
    check_bert("relu", false, &(struct trainer_request){.recompute = true});
}

static void bert_layers_with_dropout_do_too(void **state)
{
    (void)state;
    check_bert("gelu_new", true,
               &(struct trainer_request){.recompute = true, .options = {.dropout = 0.2}});
}

static void bert_adapters_do_too_on_plain_weights_and_nf4(void **state)
{
    (void)state;
    check_bert("gelu", true,
               &(struct trainer_request){.lora_rank = 2, .options = {.lora_alpha = 4}});
    check_bert("gelu", false,
               &(struct trainer_request){.lora_rank = 2,
                                         .nf4 = true,
                                         .recompute = true,
                                         .options = {.dropout = 0.2, .lora_alpha = 4}});
}

static void encoders_and_decoders_go_back_as_they_came(void **state)
{
    (void)state;
    check_marian("swish", true, true, true, &(struct trainer_request){0});
    check_marian("gelu", false, true, false, &(struct trainer_request){.recompute = true});
    check_marian("relu", true, false, true, &(struct trainer_request){0});
}

static void encoders_and_decoders_with_dropout_and_smoothing_do_too(void **state)
{
    (void)state;
    check_marian("relu", true, true, true,
                 &(struct trainer_request){.recompute = true,
                                           .options = {.dropout = 0.2, .label_smoothing = 0.1}});
}

static void their_adapters_do_too_on_plain_weights_and_nf4(void **state)
{
    (void)state;
    check_marian("swish", false, true, true,
                 &(struct trainer_request){.lora_rank = 2, .options = {.lora_alpha = 4}});
    check_marian("gelu", true, false, false,
                 &(struct trainer_request){.lora_rank = 2,
                                           .nf4 = true,
                                           .recompute = true,
                                           .options = {.dropout = 0.2, .lora_alpha = 4}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_todays_decoders_go_back_as_they_came),
        cmocka_unit_test(layers_of_todays_decoders_with_dropout_and_recomputation_do_too),
        cmocka_unit_test(adapters_of_todays_decoders_do_too_on_nf4),
        cmocka_unit_test(layers_of_roberta_go_back_as_they_came),
        cmocka_unit_test(gpt_layers_go_back_as_they_came),
        cmocka_unit_test(gpt_layers_with_dropout_and_smoothing_do_too),
        cmocka_unit_test(gpt_adapters_do_too),
        cmocka_unit_test(llama_layers_go_back_as_they_came),
        cmocka_unit_test(llama_adapters_do_too_on_plain_weights_and_nf4),
        cmocka_unit_test(bert_layers_go_back_as_they_came),
        cmocka_unit_test(bert_layers_with_dropout_do_too),
        cmocka_unit_test(bert_adapters_do_too_on_plain_weights_and_nf4),
        cmocka_unit_test(encoders_and_decoders_go_back_as_they_came),
        cmocka_unit_test(encoders_and_decoders_with_dropout_and_smoothing_do_too),
        cmocka_unit_test(their_adapters_do_too_on_plain_weights_and_nf4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
