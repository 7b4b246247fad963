/* Bytes saved between forward and backward, against lists of the tensors written out by hand. */
#include "model/config.h"
#include "model/model.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <string.h>

/* C = 8, two heads, F = 32. */
#define GPT_SIZES                                                                                  \
    "\"model_type\": \"gpt2\", \"vocab_size\": 11, \"n_embd\": 8, \"n_layer\": 2, \"n_head\": 2, " \
    "\"n_positions\": 16}"
#define TINY_GPT "{" GPT_SIZES

/* C = 8, four heads of 2 with two of keys and values, F = 12. */
#define TINY_LLAMA                                                                                 \
    "{\"model_type\": \"llama\", \"vocab_size\": 11, \"hidden_size\": 8, \"intermediate_size\": "  \
    "12, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"num_key_value_heads\": 2}"

#define BERT_SIZES                                                                                 \
    "\"architectures\": [\"BertForMaskedLM\"], \"vocab_size\": 11, \"hidden_size\": 8, "           \
    "\"intermediate_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "            \
    "\"max_position_embeddings\": 16}"
#define TINY_BERT "{" BERT_SIZES

#define MARIAN_SIZES                                                                               \
    "\"model_type\": \"marian\", \"vocab_size\": 11, \"d_model\": 8, \"encoder_layers\": 2, "      \
    "\"decoder_layers\": 3, \"encoder_ffn_dim\": 16, \"decoder_ffn_dim\": 24, "                    \
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 4}"
#define TINY_MARIAN "{\"activation_function\": \"relu\", " MARIAN_SIZES

enum {
    B = 3,
    T = 5,
    TOKENS = B * T,
    LOGITS = 16, /* of 11 tokens, from one row to the next */
};

static struct yk_workload bf16(void)
{
    return (struct yk_workload){.batch = B, .sequence = T, .precision = YK_PRECISION_BF16};
}

static const struct yk_model *describe(const char *text, struct yk_workload workload)
{
    const struct yk_model_config *config = NULL;
    const struct yk_model *model = NULL;
    assert_ok(yk_model_config_parse(text, strlen(text), "tiny", group_arena, &config));
    assert_ok(yk_model_build(config, &workload, group_arena, &model));
    return model;
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

/* Numbers a token of each tensor, and bytes a token of those always in fp32. */
struct tensor {
    const char *what;
    int numbers;
    int fp32_bytes;
};

static int64_t sum(const struct tensor *tensors, size_t count, int size)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += tensors[i].numbers * size + tensors[i].fp32_bytes;
    }
    return bytes * TOKENS;
}

static const struct tensor gpt_block[] = {
    {"input", 8, 0},           {"mean and deviation", 0, 8}, {"norm's output", 8, 0},
    {"q, k, v", 24, 0},        {"attention's output", 8, 0}, {"log-sum-exp of 2 heads", 0, 2 * 4},
    {"second residual", 8, 0}, {"mean and deviation", 0, 8}, {"second norm's output", 8, 0},
    {"before GELU", 32, 0},    {"after GELU", 32, 0},
};

static const struct tensor llama_block[] = {
    {"input", 8, 0},
    {"root of mean square", 0, 4},
    {"norm's output", 8, 0},
    {"q", 8, 0},
    {"k and v", 2 * 4, 0},
    {"attention's output", 8, 0},
    {"log-sum-exp", 0, 4 * 4},
    {"second residual", 8, 0},
    {"root of mean square", 0, 4},
    {"norm's output", 8, 0},
    {"gate and up", 2 * 12, 0},
    {"their product", 12, 0},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void a_gpt_block_saves_the_tensors_of_the_list(void **state)
{
    (void)state;
    struct yk_workload workload = bf16();
    assert_int_equal(layer_of(describe(TINY_GPT, workload), "layer 0")->saved_bytes,
                     sum(gpt_block, COUNT(gpt_block), 2));
    workload.precision = YK_PRECISION_FP32;
    assert_int_equal(layer_of(describe(TINY_GPT, workload), "layer 0")->saved_bytes,
                     sum(gpt_block, COUNT(gpt_block), 4));
}

static void a_llama_block_saves_the_tensors_of_the_list(void **state)
{
    (void)state;
    assert_int_equal(layer_of(describe(TINY_LLAMA, bf16()), "layer 2")->saved_bytes,
                     sum(llama_block, COUNT(llama_block), 2));
}

/* x·A of q, k, v, out, gate, up and down. */
static void adapters_add_their_inner_products(void **state)
{
    (void)state;
    struct yk_workload workload = bf16();
    workload.lora_rank = 3;
    assert_int_equal(layer_of(describe(TINY_LLAMA, workload), "layer 0")->saved_bytes,
                     sum(llama_block, COUNT(llama_block), 2) + INT64_C(2) * TOKENS * 7 * 3);
}

static void recomputing_blocks_save_their_input_and_work_on_the_rest(void **state)
{
    (void)state;
    struct yk_workload workload = bf16();
    const struct yk_model *plain = describe(TINY_LLAMA, workload);
    workload.recompute = true;
    const struct yk_model *again = describe(TINY_LLAMA, workload);
    const struct yk_layer *before = layer_of(plain, "layer 1");
    const struct yk_layer *after = layer_of(again, "layer 1");
    assert_int_equal(after->saved_bytes, 2 * TOKENS * 8);
    assert_int_equal(after->workspace_bytes - before->workspace_bytes,
                     before->saved_bytes - after->saved_bytes);
    assert_int_equal(layer_of(again, "head")->saved_bytes, layer_of(plain, "head")->saved_bytes);
}

/* In numbers of two bytes, rows begin at multiples of 16 bytes, and of 128 where they are long. */
static void rows_of_logits_begin_where_matrix_units_want_them(void **state)
{
    (void)state;
    assert_int_equal(yk_model_config_logit_row_stride(11), LOGITS);
    assert_int_equal(yk_model_config_logit_row_stride(64), 64);
    assert_int_equal(yk_model_config_logit_row_stride(65), 72);
    assert_int_equal(yk_model_config_logit_row_stride(37000), 37056);
    assert_int_equal(yk_model_config_logit_row_stride(50257), 50304);
    assert_int_equal(yk_model_config_logit_row_stride(128256), 128256);
}

/* Its input, for the gradient of its weights, and the logits, which become their gradient. */
static void a_head_saves_its_logits(void **state)
{
    (void)state;
    struct yk_workload workload = bf16();
    assert_int_equal(layer_of(describe(TINY_LLAMA, workload), "head")->saved_bytes,
                     2 * TOKENS * (8 + LOGITS));
    workload.lora_rank = 3;
    assert_int_equal(layer_of(describe(TINY_LLAMA, workload), "head")->saved_bytes,
                     2 * TOKENS * LOGITS);
    workload.nf4 = true;
    assert_int_equal(layer_of(describe(TINY_LLAMA, workload), "head")->saved_bytes,
                     4 * TOKENS * LOGITS);
}

static void the_last_norm_saves_its_input_and_statistics(void **state)
{
    (void)state;
    assert_int_equal(layer_of(describe(TINY_GPT, bf16()), "norm")->saved_bytes,
                     TOKENS * (2 * 8 + 8));
    assert_int_equal(layer_of(describe(TINY_LLAMA, bf16()), "norm")->saved_bytes,
                     TOKENS * (2 * 8 + 4));
}

static void a_post_norm_block_saves_the_sums_before_its_norms(void **state)
{
    (void)state;
    static const struct tensor block[] = {
        {"input", 8, 0},         {"q, k, v", 24, 0},           {"attention's output", 8, 0},
        {"log-sum-exp", 0, 8},   {"first sum", 8, 0},          {"mean and deviation", 0, 8},
        {"norm's output", 8, 0}, {"before GELU", 32, 0},       {"after GELU", 32, 0},
        {"second sum", 8, 0},    {"mean and deviation", 0, 8},
    };
    static const struct tensor head[] = {
        {"input", 8, 0},         {"before GELU", 8, 0},
        {"after GELU", 8, 0},    {"mean and deviation", 0, 8},
        {"norm's output", 8, 0}, {"logits", LOGITS, 0},
    };
    const struct yk_model *model = describe(TINY_BERT, bf16());
    assert_int_equal(layer_of(model, "layer 0")->saved_bytes, sum(block, COUNT(block), 2));
    assert_int_equal(layer_of(model, "head")->saved_bytes, sum(head, COUNT(head), 2));
}

/* ReLU needs its output alone, which the linear after it keeps as its input. */
static void a_decoder_block_keeps_what_the_encoder_sent(void **state)
{
    (void)state;
    static const struct tensor block[] = {
        {"input", 8, 0},
        {"q, k, v", 24, 0},
        {"attention's output", 8, 0},
        {"log-sum-exp", 0, 16},
        {"first sum", 8, 0},
        {"mean and deviation", 0, 8},
        {"norm's output", 8, 0},
        {"cross q", 8, 0},
        {"encoder's output", 8, 0},
        {"cross k, v", 16, 0},
        {"attention's output", 8, 0},
        {"log-sum-exp", 0, 16},
        {"second sum", 8, 0},
        {"mean and deviation", 0, 8},
        {"norm's output", 8, 0},
        {"after ReLU", 24, 0},
        {"third sum", 8, 0},
        {"mean and deviation", 0, 8},
    };
    struct yk_workload workload = bf16();
    assert_int_equal(layer_of(describe(TINY_MARIAN, workload), "decoder 0")->saved_bytes,
                     sum(block, COUNT(block), 2));
    workload.recompute = true;
    assert_int_equal(layer_of(describe(TINY_MARIAN, workload), "decoder 0")->saved_bytes,
                     2 * TOKENS * (8 + 8));
}

static int64_t saved_by(const char *text, const char *layer)
{
    return layer_of(describe(text, bf16()), layer)->saved_bytes;
}

/* Before the activation: 24 numbers a token in the decoder, 16 in the encoder. opus-mt has swish,
 * and the framework takes gelu where nothing is said. */
static void all_activations_but_relu_keep_their_input(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{" MARIAN_SIZES,
        "{\"activation_function\": null, " MARIAN_SIZES,
        "{\"activation_function\": \"gelu\", " MARIAN_SIZES,
        "{\"activation_function\": \"swish\", " MARIAN_SIZES,
        "{\"activation_function\": \"silu\", " MARIAN_SIZES,
        "{\"activation_function\": \"of tomorrow\", " MARIAN_SIZES,
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(saved_by(texts[i], "decoder 0"),
                         saved_by(TINY_MARIAN, "decoder 0") + INT64_C(2) * TOKENS * 24);
        assert_int_equal(saved_by(texts[i], "encoder 0"),
                         saved_by(TINY_MARIAN, "encoder 0") + INT64_C(2) * TOKENS * 16);
    }
}

static void relu_saves_less_in_gpt2_and_bert_as_well(void **state)
{
    (void)state;
    assert_int_equal(saved_by("{\"activation_function\": \"relu\", " GPT_SIZES, "layer 0"),
                     saved_by(TINY_GPT, "layer 0") - INT64_C(2) * TOKENS * 32);
    static const char bert[] = "{\"hidden_act\": \"relu\", " BERT_SIZES;
    assert_int_equal(saved_by(bert, "layer 0"),
                     saved_by(TINY_BERT, "layer 0") - INT64_C(2) * TOKENS * 32);
    assert_int_equal(saved_by(bert, "head"), saved_by(TINY_BERT, "head") - INT64_C(2) * TOKENS * 8);
}

/* "Attention Is All You Need", 3.3: max(0, xW1 + b1)W2 + b2. */
static void the_built_in_transformer_has_relu(void **state)
{
    (void)state;
    const struct yk_model_config *config = NULL;
    assert_ok(yk_model_config_find_builtin("transformer-base", &config));
    assert_true(config->activation == YK_ACTIVATION_RELU);
    assert_ok(yk_model_config_find_builtin("transformer-big", &config));
    assert_true(config->activation == YK_ACTIVATION_RELU);
    assert_ok(yk_model_config_find_builtin("gpt2", &config));
    assert_false(config->activation == YK_ACTIVATION_RELU);
}

/* The feed-forward's linears: gradients of 32 + 32 numbers a token at once; NF4 adds two weights.
 */
static void the_widest_part_sets_the_workspace(void **state)
{
    (void)state;
    struct yk_workload workload = bf16();
    assert_int_equal(layer_of(describe(TINY_GPT, workload), "layer 0")->workspace_bytes,
                     2 * TOKENS * (32 + 32)); /* before and after GELU */
    workload.lora_rank = 1;
    workload.nf4 = true;
    workload.batch = 1;
    workload.sequence = 1;
    assert_int_equal(layer_of(describe(TINY_GPT, workload), "layer 0")->workspace_bytes,
                     2 * (32 + 32 + 2 * 8 * 32));
    workload = bf16();
    assert_int_equal(layer_of(describe(TINY_GPT, workload), "head")->workspace_bytes,
                     2 * TOKENS * 8); /* the logits' gradient takes their own place */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpt_block_saves_the_tensors_of_the_list),
        cmocka_unit_test(a_llama_block_saves_the_tensors_of_the_list),
        cmocka_unit_test(adapters_add_their_inner_products),
        cmocka_unit_test(recomputing_blocks_save_their_input_and_work_on_the_rest),
        cmocka_unit_test(rows_of_logits_begin_where_matrix_units_want_them),
        cmocka_unit_test(a_head_saves_its_logits),
        cmocka_unit_test(the_last_norm_saves_its_input_and_statistics),
        cmocka_unit_test(a_post_norm_block_saves_the_sums_before_its_norms),
        cmocka_unit_test(a_decoder_block_keeps_what_the_encoder_sent),
        cmocka_unit_test(all_activations_but_relu_keep_their_input),
        cmocka_unit_test(relu_saves_less_in_gpt2_and_bert_as_well),
        cmocka_unit_test(the_built_in_transformer_has_relu),
        cmocka_unit_test(the_widest_part_sets_the_workspace),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
