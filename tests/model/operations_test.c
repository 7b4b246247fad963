/* Operations of layers, against sums written out by hand and loops over pairs of positions. */
#include "model/config.h"
#include "model/model.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <string.h>

/* C = 8, two heads of 4, F = 32, V = 11, two blocks. */
#define TINY_GPT                                                                                   \
    "{\"model_type\": \"gpt2\", \"vocab_size\": 11, \"n_embd\": 8, \"n_layer\": 2, \"n_head\": "   \
    "2, "                                                                                          \
    "\"n_positions\": 16}"

/* C = 8, four heads of 2 with two of keys and values, F = 12, V = 11, three blocks, own head. */
#define TINY_LLAMA                                                                                 \
    "{\"model_type\": \"llama\", \"vocab_size\": 11, \"hidden_size\": 8, \"intermediate_size\": "  \
    "12, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"num_key_value_heads\": 2}"

#define TINY_MARIAN                                                                                \
    "{\"model_type\": \"marian\", \"vocab_size\": 11, \"d_model\": 8, \"encoder_layers\": 2, "     \
    "\"decoder_layers\": 3, \"encoder_ffn_dim\": 16, \"decoder_ffn_dim\": 24, "                    \
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 4}"

static const struct yk_model *describe(const char *text, struct yk_workload workload)
{
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    assert_ok(yk_model_config_parse(text, strlen(text), "tiny", group_arena, &config));
    assert_ok(yk_model_build(config, &workload, group_arena, &model));
    return model;
}

static struct yk_workload of(int64_t batch, int64_t sequence)
{
    return (struct yk_workload){
        .batch = batch, .sequence = sequence, .precision = YK_PRECISION_BF16};
}

static const struct yk_layer *layer_of(const struct yk_model *model, const char *name)
{
    for (int32_t i = 0; i < model->layer_count; i++) {
        if (strcmp(model->layers[i].name, name) == 0) {
            return &model->layers[i];
        }
    }
    fail_msg("there is no layer %s", name);
    return NULL;
}

static double total(const struct yk_model *model, enum yk_kernel_class class, bool backward)
{
    double sum = 0;
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        sum += yk_kernel_work_sum_class_operations(backward ? &layer->backward : &layer->forward,
                                                   class);
    }
    return sum;
}

static void assert_number(double actual, double expected)
{
    if (actual != expected) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static void a_gpt_blocks_products_are_those_written_out(void **state)
{
    (void)state;
    const struct yk_model *model = describe(TINY_GPT, of(3, 5));
    const struct yk_layer *block = layer_of(model, "layer 0");
    const double rows = 3 * 5;
    const double qkv = 2 * rows * 8 * 24;
    const double out = 2 * rows * 8 * 8;
    const double up = 2 * rows * 8 * 32;
    const double down = 2 * rows * 32 * 8;
    assert_number(yk_kernel_work_sum_class_operations(&block->forward, YK_KERNEL_MATRIX),
                  qkv + out + up + down);
    assert_number(yk_kernel_work_sum_class_operations(&block->backward, YK_KERNEL_MATRIX),
                  2 * (qkv + out + up + down));
    const struct yk_layer *head = layer_of(model, "head");
    assert_number(yk_kernel_work_sum_class_operations(&head->forward, YK_KERNEL_MATRIX),
                  2 * rows * 8 * 11);
    assert_number(yk_kernel_work_sum_class_operations(&head->backward, YK_KERNEL_MATRIX),
                  2 * 2 * rows * 8 * 11);
}

/* Every query looks at itself and at what came before: d multiply-adds for a score and d for the
 * weighted value. */
static void causal_attention_counts_every_pair_once(void **state)
{
    (void)state;
    for (int64_t T = 1; T <= 16; T++) {
        double forward = 0;
        double backward = 0;
        for (int64_t head = 0; head < 2; head++) {
            for (int64_t query = 0; query < T; query++) {
                for (int64_t key = 0; key <= query; key++) {
                    forward += 2 * 4 + 2 * 4;
                    backward += 5 * 2 * 4; /* scores again; dV, dP, dQ, dK */
                }
            }
        }
        const struct yk_layer *block = layer_of(describe(TINY_GPT, of(3, T)), "layer 1");
        assert_number(yk_kernel_work_sum_class_operations(&block->forward, YK_KERNEL_ATTENTION),
                      3 * forward);
        assert_number(yk_kernel_work_sum_class_operations(&block->backward, YK_KERNEL_ATTENTION),
                      3 * backward);
    }
}

static void a_llama_blocks_products_are_those_written_out(void **state)
{
    (void)state;
    const struct yk_layer *block = layer_of(describe(TINY_LLAMA, of(2, 7)), "layer 2");
    const double rows = 2 * 7;
    const double q = 2 * rows * 8 * (4 * 2);
    const double kv = 2 * (2 * rows * 8 * (2 * 2));
    const double out = 2 * rows * (4 * 2) * 8;
    const double gate_up_down = 3 * (2 * rows * 8 * 12);
    assert_number(yk_kernel_work_sum_class_operations(&block->forward, YK_KERNEL_MATRIX),
                  q + kv + out + gate_up_down);
    assert_number(yk_kernel_work_sum_class_operations(&block->forward, YK_KERNEL_ATTENTION),
                  2.0 * 4 * (7 * 8 / 2.0) * 4 * 2);
}

/* Six operations a parameter and token, the rule of thumb, is exact for the products alone. */
static void products_are_two_operations_a_weight_and_token(void **state)
{
    (void)state;
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    assert_ok(yk_model_config_find_builtin("llama3-8b", &config));
    const struct yk_workload workload = of(5, 1024);
    assert_ok(yk_model_build(config, &workload, group_arena, &model));
    const double norms = (2 * 32 + 1) * 4096.0;
    const double weights = 8030261248.0 - norms - 128256.0 * 4096; /* the embedding is no product */
    assert_number(total(model, YK_KERNEL_MATRIX, false), 2 * weights * 5 * 1024);
    assert_number(total(model, YK_KERNEL_MATRIX, true), 4 * weights * 5 * 1024);
}

static void a_frozen_linear_costs_its_adapters_and_the_gradient_of_its_input(void **state)
{
    (void)state;
    struct yk_workload workload = of(2, 7);
    const struct yk_layer *plain = layer_of(describe(TINY_LLAMA, workload), "layer 0");
    workload.lora_rank = 3;
    const struct yk_model *model = describe(TINY_LLAMA, workload);
    const struct yk_layer *adapted = layer_of(model, "layer 0");
    const double rows = 2 * 7;
    const double adapters =
        3 * ((8 + 8) + (8 + 4) + (8 + 4) + (8 + 8) + (8 + 12) + (8 + 12) + (12 + 8));
    const double base = yk_kernel_work_sum_class_operations(&plain->forward, YK_KERNEL_MATRIX);
    assert_number((double)adapted->trainable, adapters);
    assert_number((double)adapted->parameters, (double)plain->parameters + adapters);
    assert_number(yk_kernel_work_sum_class_operations(&adapted->forward, YK_KERNEL_MATRIX),
                  base + 2 * rows * adapters);
    assert_number(yk_kernel_work_sum_class_operations(&adapted->backward, YK_KERNEL_MATRIX),
                  base + 4 * rows * adapters);
    const struct yk_layer *head = layer_of(model, "head");
    assert_number(yk_kernel_work_sum_class_operations(&head->backward, YK_KERNEL_MATRIX),
                  2 * rows * 8 * 11);
    assert_int_equal(head->trainable, 0);
    assert_int_equal(head->update.count, 0);
    assert_int_equal(layer_of(model, "embed")->backward.count, 0);
    assert_int_equal(layer_of(model, "embed")->saved_bytes, 0);
}

static void nf4_dequantises_each_linear_both_ways_and_leaves_the_head_in_fp32(void **state)
{
    (void)state;
    struct yk_workload workload = of(2, 7);
    workload.lora_rank = 3;
    workload.nf4 = true;
    const struct yk_model *model = describe(TINY_LLAMA, workload);
    const struct yk_layer *block = layer_of(model, "layer 0");
    const double weights = 8 * 8 + 2 * 8 * 4 + 8 * 8 + 3 * 8 * 12;
    double operations[2] = {0};
    double bytes = 0;
    for (int32_t i = 0; i < block->forward.count; i++) {
        const struct yk_kernel_work *work = &block->forward.items[i];
        operations[0] += strcmp(work->name, "dequantise") == 0 ? work->operations : 0;
        bytes += strcmp(work->name, "dequantise") == 0 ? work->bytes : 0;
    }
    for (int32_t i = 0; i < block->backward.count; i++) {
        const struct yk_kernel_work *work = &block->backward.items[i];
        operations[1] += strcmp(work->name, "dequantise") == 0 ? work->operations : 0;
    }
    assert_number(operations[0], weights);
    assert_number(operations[1], weights);
    assert_float_equal((float)bytes, (float)(weights * (0.515875 + 2)), 1e-3F);
    assert_number((double)block->quantised, weights);
    assert_int_equal(block->full_width, 2 * 8); /* its norms */
    const struct yk_layer *head = layer_of(model, "head");
    assert_int_equal(head->full_width, 8 * 11);
    assert_int_equal(head->forward.items[0].precision, YK_PRECISION_FP32);
    assert_int_equal(block->forward.items[2].precision, YK_PRECISION_BF16);
}

static void recomputation_adds_exactly_the_forward_of_blocks(void **state)
{
    (void)state;
    struct yk_workload workload = of(2, 7);
    const struct yk_model *plain = describe(TINY_LLAMA, workload);
    workload.recompute = true;
    const struct yk_model *again = describe(TINY_LLAMA, workload);
    for (int32_t i = 0; i < plain->layer_count; i++) {
        const struct yk_layer *layer = &plain->layers[i];
        const bool block = strcmp(layer->kind, "llama-block") == 0;
        for (int class = 0; class < YK_KERNEL_CLASS_COUNT; class ++) {
            const double forward =
                yk_kernel_work_sum_class_operations(&layer->forward, (enum yk_kernel_class) class);
            const double backward =
                yk_kernel_work_sum_class_operations(&layer->backward, (enum yk_kernel_class) class);
            assert_number(yk_kernel_work_sum_class_operations(&again->layers[i].backward,
                                                              (enum yk_kernel_class) class),
                          backward + (block ? forward : 0));
        }
    }
}

static void everything_but_weights_is_linear_in_the_batch(void **state)
{
    (void)state;
    const char *const texts[] = {TINY_GPT, TINY_LLAMA, TINY_MARIAN};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        const struct yk_model *one = describe(texts[t], of(1, 6));
        const struct yk_model *five = describe(texts[t], of(5, 6));
        assert_int_equal(one->parameters, five->parameters);
        for (int32_t i = 0; i < one->layer_count; i++) {
            const struct yk_layer *a = &one->layers[i];
            const struct yk_layer *b = &five->layers[i];
            assert_int_equal(5 * a->saved_bytes, b->saved_bytes);
            assert_int_equal(5 * a->workspace_bytes, b->workspace_bytes);
            for (int32_t w = 0; w < a->forward.count; w++) {
                assert_number(b->forward.items[w].operations, 5 * a->forward.items[w].operations);
                assert_true(b->forward.items[w].bytes <= 5 * a->forward.items[w].bytes);
            }
        }
        for (int32_t i = 0; i < one->edge_count; i++) {
            assert_int_equal(5 * one->edges[i].bytes, five->edges[i].bytes);
        }
    }
}

/* Source 5 and target 3 tokens: the decoder attends causally to 3·4/2 pairs and to 3·5. */
static void the_encoders_output_goes_to_every_block_of_the_decoder(void **state)
{
    (void)state;
    struct yk_workload workload = of(2, 5);
    workload.target_sequence = 3;
    const struct yk_model *model = describe(TINY_MARIAN, workload);
    const struct yk_layer *decoder = layer_of(model, "decoder 1");
    assert_number(yk_kernel_work_sum_class_operations(&decoder->forward, YK_KERNEL_ATTENTION),
                  2.0 * 4 * 4 * 2 * (3 * 4 / 2.0 + 3 * 5));
    const double self = 2.0 * 6 * (8 * 24 + 8 * 8);
    const double cross = 2.0 * 6 * (8 * 8 + 8 * 8) + 2.0 * 10 * (8 * 16);
    assert_number(yk_kernel_work_sum_class_operations(&decoder->forward, YK_KERNEL_MATRIX),
                  self + cross + 2.0 * 6 * (2 * 8 * 24));
    const struct yk_layer *encoder = layer_of(model, "encoder 0");
    assert_number(yk_kernel_work_sum_class_operations(&encoder->forward, YK_KERNEL_ATTENTION),
                  2.0 * 4 * 2 * 4 * (5 * 5));
    static const struct yk_layer_edge edges[] = {
        {0, 1, 160}, {1, 2, 160}, {2, 4, 160}, {3, 4, 96}, {2, 5, 160},
        {4, 5, 96},  {2, 6, 160}, {5, 6, 96},  {6, 7, 96},
    };
    assert_int_equal(model->edge_count, sizeof edges / sizeof edges[0]);
    assert_memory_equal(model->edges, edges, sizeof edges);
    assert_int_equal(layer_of(model, "decoder embed")->shares_weights_of, 0);
    assert_int_equal(layer_of(model, "head")->shares_weights_of, 0);
    assert_int_equal(yk_model_count_loss_tokens(model), 2 * 3);
}

static void an_update_touches_each_trained_parameter_once(void **state)
{
    (void)state;
    const struct yk_model *model = describe(TINY_GPT, of(1, 4));
    double bytes = 0;
    for (int32_t i = 0; i < model->layer_count; i++) {
        for (int32_t w = 0; w < model->layers[i].update.count; w++) {
            bytes += model->layers[i].update.items[w].bytes;
        }
    }
    assert_number(bytes, 28.0 * (double)model->parameters);
    assert_int_equal(layer_of(model, "head")->update.count, 0); /* tied: at the embedding */
}

static void layers_of_different_times_have_different_shapes(void **state)
{
    (void)state;
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    struct yk_workload workload = of(1, 16);
    workload.lora_rank = 32;
    workload.nf4 = true;
    assert_ok(yk_model_config_find_builtin("llama3-8b", &config));
    assert_ok(yk_model_build(config, &workload, group_arena, &model));
    assert_string_equal(layer_of(model, "layer 31")->shape,
                        "llama-block C4096 F14336 H32 KV8 D128 lora32 nf4 bf16");
    assert_string_equal(layer_of(model, "head")->shape, "head C4096 V128256 frozen fp32");
}

/* A profile knows layers by their shape and T, the source's length. */
static void a_decoders_shapes_have_the_targets_length_where_it_is_not_t(void **state)
{
    (void)state;
    struct yk_workload workload = of(2, 5);
    const struct yk_model *same = describe(TINY_MARIAN, workload);
    workload.target_sequence = 3;
    const struct yk_model *shorter = describe(TINY_MARIAN, workload);
    workload.target_sequence = 4;
    const struct yk_model *longer = describe(TINY_MARIAN, workload);
    assert_string_equal(layer_of(same, "decoder 0")->shape, "decoder-block C8 F24 H4 bf16");
    assert_string_equal(layer_of(shorter, "decoder 0")->shape,
                        "decoder-block C8 F24 H4 target3 bf16");
    static const char *const names[] = {"decoder embed", "decoder 0", "decoder 2", "head"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *shape = layer_of(shorter, names[i])->shape;
        assert_string_not_equal(shape, layer_of(same, names[i])->shape);
        assert_string_not_equal(shape, layer_of(longer, names[i])->shape);
    }
    assert_string_equal(layer_of(shorter, "encoder embed")->shape,
                        layer_of(same, "encoder embed")->shape);
    assert_string_equal(layer_of(shorter, "encoder 0")->shape, layer_of(same, "encoder 0")->shape);
}

/* The update of a tied head is the embedding's; two tables are looked up in where one has learned
 * positions. */
static void shapes_have_what_is_tied_and_looked_up(void **state)
{
    (void)state;
    const struct yk_model *gpt = describe(TINY_GPT, of(1, 4));
    const struct yk_model *llama = describe(TINY_LLAMA, of(1, 4));
    assert_string_equal(layer_of(gpt, "embed")->shape, "embed V11 C8 P16 bf16");
    assert_string_equal(layer_of(llama, "embed")->shape, "embed V11 C8 bf16");
    assert_string_equal(layer_of(gpt, "head")->shape, "head C8 V11 tied bf16");
    assert_string_equal(layer_of(llama, "head")->shape, "head C8 V11 bf16");
}

static void every_precision_moves_the_bytes_of_its_numbers(void **state)
{
    (void)state;
    struct yk_workload workload = of(2, 4);
    const struct yk_model *half = describe(TINY_GPT, workload);
    workload.precision = YK_PRECISION_TF32;
    const struct yk_model *full = describe(TINY_GPT, workload);
    assert_int_equal(full->edges[0].bytes, 2 * half->edges[0].bytes);
    const struct yk_kernel_work *product = &layer_of(full, "layer 0")->forward.items[1];
    assert_string_equal(product->name, "qkv");
    assert_int_equal(product->precision, YK_PRECISION_TF32);
    assert_number(product->bytes, 4.0 * (8 * (8 + 24) + 8 * 24));
    assert_int_equal(layer_of(full, "layer 0")->forward.items[0].precision, YK_PRECISION_FP32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpt_blocks_products_are_those_written_out),
        cmocka_unit_test(causal_attention_counts_every_pair_once),
        cmocka_unit_test(a_llama_blocks_products_are_those_written_out),
        cmocka_unit_test(products_are_two_operations_a_weight_and_token),
        cmocka_unit_test(a_frozen_linear_costs_its_adapters_and_the_gradient_of_its_input),
        cmocka_unit_test(nf4_dequantises_each_linear_both_ways_and_leaves_the_head_in_fp32),
        cmocka_unit_test(recomputation_adds_exactly_the_forward_of_blocks),
        cmocka_unit_test(everything_but_weights_is_linear_in_the_batch),
        cmocka_unit_test(the_encoders_output_goes_to_every_block_of_the_decoder),
        cmocka_unit_test(an_update_touches_each_trained_parameter_once),
        cmocka_unit_test(layers_of_different_times_have_different_shapes),
        cmocka_unit_test(a_decoders_shapes_have_the_targets_length_where_it_is_not_t),
        cmocka_unit_test(shapes_have_what_is_tied_and_looked_up),
        cmocka_unit_test(every_precision_moves_the_bytes_of_its_numbers),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
