#include "support/training/small_store.h"

#include "backend/cpu/kernels/kernels.h"
#include "base/random.h"
#include "model/architecture.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_GPT(name_, tied_)                                                                    \
    {                                                                                              \
        .name = (name_), .position_kind = YK_POSITIONS_LEARNED, .vocabulary = 11, .width = 8,      \
        .positions = 6, .layers = 2, .heads = 2, .kv_heads = 2, .head_size = 4,                    \
        .feed_forward_width = 32, .tied = (tied_), .qkv_bias = true, .out_bias = true,             \
        .inner_bias = true, .transposed = true, .scaled_init = true, .residual_dropout = true,     \
        .norm_epsilon = 1e-5, .init_std = 0.02                                                     \
    }

struct yk_model_config small_gpt = SMALL_GPT("small-gpt", true);
struct yk_model_config small_gpt_free = SMALL_GPT("small-gpt-free", false);
struct yk_model_config small_llama = {
    .name = "small-llama",
    .vocabulary = 13,
    .width = 8,
    .positions = 16,
    .layers = 2,
    .heads = 2,
    .kv_heads = 1,
    .head_size = 4,
    .feed_forward_width = 24,
    .activation = YK_ACTIVATION_SILU,
    .gated = true,
    .norm = YK_NORM_RMS,
    .norm_epsilon = 1e-6,
    .init_std = 0.02,
    .rope = {.theta = 10000},
    .rotary_size = 4,
};

/* Linears of blocks are fused and interleaved. */
struct yk_model_config small_multimodal;

struct yk_model_config small_neox = {
    .name = "small-neox",
    .vocabulary = 13,
    .width = 8,
    .positions = 16,
    .layers = 2,
    .heads = 2,
    .kv_heads = 2,
    .head_size = 4,
    .feed_forward_width = 24,
    .qkv_bias = true,
    .out_bias = true,
    .inner_bias = true,
    .interleaved = true,
    .parallel = true,
    .activation = YK_ACTIVATION_GELU,
    .norm_epsilon = 1e-5,
    .init_std = 0.02,
    .rope = {.theta = 10000},
    .rotary_size = 2,
};

#define SMALL_BERT(name_, tied_)                                                                   \
    {                                                                                              \
        .name = (name_), .position_kind = YK_POSITIONS_LEARNED, .bidirectional = true,             \
        .vocabulary = 11, .width = 8, .positions = 6, .token_types = 2, .layers = 2, .heads = 2,   \
        .kv_heads = 2, .head_size = 4, .feed_forward_width = 24, .tied = (tied_),                  \
        .qkv_bias = true, .out_bias = true, .inner_bias = true, .masked_head = true,               \
        .activation = YK_ACTIVATION_GELU, .head_activation = YK_ACTIVATION_GELU,                   \
        .norm_placement = YK_NORM_AFTER_SUM, .residual_dropout = true,                             \
        .ids = YK_SPECIAL_TOKEN_IDS_NONE, .norm_epsilon = 1e-12, .init_std = 0.02                  \
    }

struct yk_model_config small_bert = SMALL_BERT("small-bert", true);
struct yk_model_config small_bert_free = SMALL_BERT("small-bert-free", false);
struct yk_model_config small_roberta = SMALL_BERT("small-roberta", true);

#define SMALL_MARIAN(name_, tied_, shared_)                                                        \
    {                                                                                              \
        .name = (name_), .position_kind = YK_POSITIONS_SINUSOIDAL, .vocabulary = 11, .width = 8,   \
        .positions = 16, .layers = 1, .encoder_layers = 2, .heads = 2, .kv_heads = 2,              \
        .head_size = 4, .encoder_heads = 4, .feed_forward_width = 24, .encoder_inner = 16,         \
        .tied = (tied_), .shared = (shared_), .activation = YK_ACTIVATION_RELU, .qkv_bias = true,  \
        .out_bias = true, .inner_bias = true, .embedding_scale = 2.8284271247461903,               \
        .norm_placement = YK_NORM_AFTER_SUM, .residual_dropout = true,                             \
        .ids = {.pad = 0, .begin = -1, .end = 1, .decoder_start = 0}, .norm_epsilon = 1e-5,        \
        .init_std = 0.02                                                                           \
    }

struct yk_model_config small_marian = SMALL_MARIAN("small-marian", true, true);
struct yk_model_config small_marian_two = SMALL_MARIAN("small-marian-two", true, false);
struct yk_model_config small_marian_free = SMALL_MARIAN("small-marian-free", false, true);

static const struct yk_architecture *find_architecture(const char *name)
{
    for (size_t i = 0; i < yk_architecture_count; i++) {
        if (strcmp(yk_architectures[i].name, name) == 0) {
            return &yk_architectures[i];
        }
    }
    abort();
}

/* A row of the table of architectures has no name that an initialiser could use. */
__attribute__((constructor)) static void set_architectures(void)
{
    small_gpt.architecture = small_gpt_free.architecture = find_architecture("gpt2");
    small_llama.architecture = find_architecture("llama");
    small_multimodal = small_llama;
    small_multimodal.architecture = find_architecture("gemma3_multimodal");
    small_neox.architecture = find_architecture("gpt_neox");
    small_roberta.architecture = find_architecture("roberta");
    small_bert.architecture = small_bert_free.architecture = find_architecture("bert");
    small_marian.architecture = small_marian_two.architecture = small_marian_free.architecture =
        find_architecture("transformer");
}

static yk_status allocate(struct yk_backend_device *device, size_t bytes, void **out)
{
    (void)device;
    *out = calloc(bytes > 0 ? bytes : 1, 1);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static void give_back(struct yk_backend_device *device, void *memory)
{
    (void)device;
    free(memory);
}

static yk_status finish(struct yk_backend_lane *lane)
{
    (void)lane;
    return YK_OK;
}

static void copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes)
{
    (void)lane;
    memcpy(to, from, bytes);
}

static void cast(struct yk_backend_lane *lane, const struct yk_cast_op *op)
{
    (void)lane;
    yk_cpu_elementwise_cast(1, op);
}

static void quantise(struct yk_backend_lane *lane, const struct yk_quantise_op *op)
{
    (void)lane;
    yk_cpu_nf4_quantise(1, op);
}

static void dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op)
{
    (void)lane;
    yk_cpu_nf4_dequantise(1, op);
}

static const struct yk_backend at_once = {
    .name = "at once",
    .abi = YK_BACKEND_ABI,
    .allocate = allocate,
    .free = give_back,
    .lane_synchronize = finish,
    .copy = copy,
    .cast = cast,
    .quantise = quantise,
    .dequantise = dequantise,
};

struct small_store small_store_open(const struct small_store_request *request)
{
    struct small_store small = {0};
    const struct yk_model *model = NULL;
    const struct yk_device_context context = {.backend = &at_once};
    const struct yk_net_options options = {.lora_alpha = request->lora_alpha};
    const struct yk_workload workload = {
        .batch = 3,
        .sequence = 5,
        .precision = request->precision,
        .lora_rank = request->lora_rank,
        .nf4 = request->nf4,
    };
    assert_ok(yk_arena_create(&small.arena));
    assert_ok(yk_model_build(request->config, &workload, small.arena, &model));
    assert_ok(yk_net_create(model, &options, &small.net));
    assert_ok(
        yk_parameter_store_create(small.net, &context, request->optimizer, NULL, &small.store));
    return small;
}

void small_store_close(struct small_store *small)
{
    yk_parameter_store_destroy(small->store);
    yk_net_destroy(small->net);
    yk_arena_destroy(small->arena);
    *small = (struct small_store){0};
}

static void draw(struct yk_random *random, float *out, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)(yk_random_uniform(random) - 0.5);
    }
}

void small_store_fill(const struct small_store *small, uint64_t seed)
{
    struct yk_random random = yk_random_from_seed(seed);
    for (int32_t l = 0; l < small->net->layer_count; l++) {
        const struct yk_net_layer *layer = &small->net->layers[l];
        const struct yk_parameter_store_layer *kept = &small->store->layers[l];
        for (int32_t i = 0; i < layer->parameter_count; i++) {
            const struct yk_parameter *parameter = &layer->parameters[i];
            float *numbers =
                yk_arena_allocate(small->arena, (size_t)parameter->count, sizeof *numbers);
            assert_non_null(numbers);
            draw(&random, numbers, parameter->count);
            assert_ok(yk_parameter_store_write_values(small->store, l, parameter, numbers));
        }
        if (kept->moment1) {
            draw(&random, kept->moment1, layer->trained);
        }
        if (kept->moment2) {
            draw(&random, kept->moment2, layer->trained);
        }
    }
}

static bool differs(const void *a, const void *b, size_t bytes)
{
    return a && b ? memcmp(a, b, bytes) != 0 : a != b;
}

const char *small_store_difference(const struct small_store *a, const struct small_store *b,
                                   bool state)
{
    for (int32_t l = 0; l < a->net->layer_count; l++) {
        const struct yk_parameter_store_layer *left = &a->store->layers[l];
        const struct yk_parameter_store_layer *right = &b->store->layers[l];
        for (int32_t i = 0; i < a->net->layers[l].parameter_count; i++) {
            const struct yk_parameter *parameter = &a->net->layers[l].parameters[i];
            if (memcmp(left->weights + parameter->offset, right->weights + parameter->offset,
                       yk_net_parameter_bytes(a->net, parameter)) != 0) {
                return parameter->name;
            }
        }
        const size_t bytes = (size_t)a->net->layers[l].trained * sizeof(float);
        if (state && (differs(left->master, right->master, bytes) ||
                      differs(left->moment1, right->moment1, bytes) ||
                      differs(left->moment2, right->moment2, bytes))) {
            return "the optimizer's state";
        }
    }
    return NULL;
}

const float *small_store_numbers(const struct small_store *small, const char *name)
{
    int32_t layer = 0;
    const struct yk_parameter *parameter = yk_net_find_parameter(small->net, name, &layer);
    assert_non_null(parameter);
    float *numbers = yk_arena_allocate(small->arena, (size_t)parameter->count, sizeof *numbers);
    assert_non_null(numbers);
    assert_ok(yk_parameter_store_read_values(small->store, layer, parameter, numbers));
    return numbers;
}
