/*
 * What MFU counts, against sums written out by hand, PyTorch's FlopCounterMode and loops over
 * matrices: 2 operations a weight and token forward, 2 for the gradient of inputs and 2 for that of
 * weights, each where it is done, and 12 × layers × heads × head size × context for attention.
 */
#include "model/config.h"
#include "model/model.h"
#include "support/group_arena.h"
#include "support/support.h"

#include <string.h>

static const struct yk_model *describe(const struct yk_model_config *config,
                                       struct yk_workload workload)
{
    const struct yk_model *model = NULL;
    assert_ok(yk_model_build(config, &workload, group_arena, &model));
    return model;
}

static const struct yk_model *builtin(const char *name, struct yk_workload workload)
{
    const struct yk_model_config *config = NULL;
    assert_ok(yk_model_config_find_builtin(name, &config));
    return describe(config, workload);
}

static const struct yk_model *from_text(const char *text, struct yk_workload workload)
{
    const struct yk_model_config *config = NULL;
    assert_ok(yk_model_config_parse(text, strlen(text), "tiny", group_arena, &config));
    return describe(config, workload);
}

static struct yk_workload of(int64_t batch, int64_t sequence, int64_t lora_rank)
{
    return (struct yk_workload){.batch = batch,
                                .sequence = sequence,
                                .precision = YK_PRECISION_BF16,
                                .lora_rank = lora_rank};
}

static void assert_flops(const struct yk_model *model, double formula, double exact)
{
    const struct yk_mfu_flops flops = yk_model_count_mfu_flops(model);
    if (flops.formula != formula || flops.exact != exact) {
        fail_msg("%.17g and %.17g are not %.17g and %.17g", flops.formula, flops.exact, formula,
                 exact);
    }
}

/*
 * Twelve blocks of 12 C² weights (qkv 3 C², out C², up and down 4 C² each) and the head's V·C,
 * which is the embedding's table: 84,934,656 + 38,597,376. Positions, biases and norms do no
 * product. 6 × 123,532,032 + 12 × 12 × 768 × 1024 = 854,438,400: the 0.86 GFLOP a token that 6 ×
 * all 124,439,808 parameters give (859,885,056), but for those 0.9 million parameters.
 */
static void gpt2_is_854_million_operations_a_token(void **state)
{
    (void)state;
    const double tokens = 16 * 1024;
    const double products = 741192192;
    assert_flops(builtin("gpt2", of(16, 1024, 0)), tokens * 854438400,
                 tokens * (products + 12.0 * 12 * 768 * 1025 / 2));
    const double published = 6 * 124439808.0 + 12.0 * 12 * 768 * 1024;
    assert_true(854438400 < published && 854438400 > 0.99 * published);
}

/*
 * PyTorch 2.8's torch.utils.flop_counter.FlopCounterMode around forward and backward of the same
 * model written out with `@` (attention as two products over all pairs, keys and values repeated
 * for the four heads), 2 × 7 tokens: aten.mm 128,352 and aten.bmm 28,224. With all but adapters of
 * rank 3 on the seven linears frozen: aten.mm 173,264, aten.bmm 28,224, the embedding's output
 * being made to require a gradient, as nn computes that of every block's input.
 */
static void a_tiny_llama_is_what_pytorch_counts(void **state)
{
    (void)state;
    static const char text[] =
        "{\"model_type\": \"llama\", \"vocab_size\": 11, \"hidden_size\": 8, "
        "\"intermediate_size\": 12, \"num_hidden_layers\": 3, \"num_attention_heads\": 4, "
        "\"num_key_value_heads\": 2}";
    const double causal = 28224 * (8 / 2.0) / 7; /* a token sees (T + 1) / 2 of T */
    assert_flops(from_text(text, of(2, 7, 0)), 128352 + 28224, 128352 + causal);
    assert_flops(from_text(text, of(2, 7, 3)), 173264 + 28224, 173264 + causal);
}

/* Every matrix of Llama 3 8B, (in, out), as its checkpoint lists them. */
static void adapters_on_llama_count_each_matrix_of_a_checkpoint(void **state)
{
    (void)state;
    static const double matrices[][2] = {
        {4096, 4096},  {4096, 1024},  {4096, 1024},  {4096, 4096},
        {4096, 14336}, {4096, 14336}, {14336, 4096},
    };
    const double rank = 32;
    const double tokens = 5 * 512;
    double full = 6.0 * 4096 * 128256;   /* the head; the embedding is looked up in */
    double frozen = 4.0 * 4096 * 128256; /* no gradient of its weights */
    for (int layer = 0; layer < 32; layer++) {
        for (size_t m = 0; m < sizeof matrices / sizeof matrices[0]; m++) {
            const double in = matrices[m][0];
            const double out = matrices[m][1];
            full += 6 * in * out;
            frozen += 4 * in * out + 6 * (in * rank + rank * out);
        }
    }
    const double attention = 12.0 * 32 * 32 * 128 * 512;
    const double causal = 12.0 * 32 * 32 * 128 * 513 / 2;
    assert_flops(builtin("llama3-8b", of(5, 512, 0)), tokens * (full + attention),
                 tokens * (full + causal));
    assert_flops(builtin("llama3-8b", of(5, 512, 32)), tokens * (frozen + attention),
                 tokens * (frozen + causal));
    struct yk_workload nf4 = of(5, 512, 32);
    nf4.nf4 = true; /* dequantising is no product */
    assert_flops(builtin("llama3-8b", nf4), tokens * (frozen + attention),
                 tokens * (frozen + causal));
}

/* Every token looks at every other: the formula is exact. 24 blocks of 12 C², the head's transform
 * C² and its V·C, all on every token. */
static void berts_attention_is_that_of_the_formula(void **state)
{
    (void)state;
    const double C = 1024;
    const double flops =
        32.0 * 512 * (6 * (24 * 12 * C * C + C * C + 30522 * C) + 12 * 24 * C * 512);
    assert_flops(builtin("bert-large-mlm", of(32, 512, 0)), flops, flops);
}

/*
 * C = 8, V = 11: two blocks of the encoder with F = 16 on 5 tokens, three of the decoder with F =
 * 24 on 3, which make keys and values (2 C²) of the encoder's 5 tokens and look at them from
 * their 3.
 */
static void a_decoder_counts_cross_attention_by_the_sources_length(void **state)
{
    (void)state;
    static const char text[] =
        "{\"model_type\": \"marian\", \"vocab_size\": 11, \"d_model\": 8, \"encoder_layers\": 2, "
        "\"decoder_layers\": 3, \"encoder_ffn_dim\": 16, \"decoder_ffn_dim\": 24, "
        "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 4}";
    struct yk_workload workload = of(2, 5, 0);
    workload.target_sequence = 3;
    const double on_source = 2 * (4 * 64 + 2 * 8 * 16) + 3 * (2 * 64);
    const double on_target = 3 * (4 * 64 + 2 * 64 + 2 * 8 * 24) + 8 * 11;
    const double products = 2 * 6 * (5 * on_source + 3 * on_target);
    const double pairs = 2 * 5 * 5 + 3 * 3 * 5; /* both ways within the source, and across */
    const struct yk_model *model = from_text(text, workload);
    assert_flops(model, products + 2 * 12 * 8 * (pairs + 3 * 3 * 3),
                 products + 2 * 12 * 8 * (pairs + 3 * 6 /* 1 + 2 + 3 */));
    assert_int_equal(yk_model_count_all_tokens(model), 2 * (5 + 3));
}

static void what_is_computed_again_does_not_count(void **state)
{
    (void)state;
    struct yk_workload workload = of(2, 128, 0);
    const struct yk_mfu_flops plain = yk_model_count_mfu_flops(builtin("gpt2", workload));
    workload.recompute = true;
    assert_flops(builtin("gpt2", workload), plain.formula, plain.exact);
}

/* Adapters add less than the gradients of frozen weights would; and a causal model looks at fewer
 * pairs than the formula says. */
static void adapters_cost_less_than_training_all(void **state)
{
    (void)state;
    static const char *const names[] = {
        "gpt2",           "gpt2-xl",   "tinyllama-1.1b",  "llama3-70b",
        "bert-large-mlm", "bert-base", "transformer-big", "transformer-base"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct yk_mfu_flops full = yk_model_count_mfu_flops(builtin(names[i], of(2, 256, 0)));
        const struct yk_mfu_flops adapted =
            yk_model_count_mfu_flops(builtin(names[i], of(2, 256, 16)));
        assert_true(adapted.formula < full.formula && adapted.exact < full.exact);
        assert_true(adapted.formula > full.formula * 2 / 3 && full.exact <= full.formula);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_is_854_million_operations_a_token),
        cmocka_unit_test(a_tiny_llama_is_what_pytorch_counts),
        cmocka_unit_test(adapters_on_llama_count_each_matrix_of_a_checkpoint),
        cmocka_unit_test(berts_attention_is_that_of_the_formula),
        cmocka_unit_test(a_decoder_counts_cross_attention_by_the_sources_length),
        cmocka_unit_test(what_is_computed_again_does_not_count),
        cmocka_unit_test(adapters_cost_less_than_training_all),
    };
    return cmocka_run_group_tests(tests, group_arena_make, group_arena_drop);
}
