/*
 * Steps of models with an encoder, on the executor: how the batch is cut, what is computed again
 * and how numbers are kept make no difference but for rounding. That the numbers are right is
 * oracle_test's to say.
 */
#include "support/support.h"
#include "support/training/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 6,
    SEQUENCE = 7,
    TARGET = 5,
    STEPS = 3,
    WORDS = 19,
};

static const char *const marian =
    "{\"model_type\": \"marian\", \"vocab_size\": 19, \"d_model\": 16, \"encoder_layers\": 2, "
    "\"decoder_layers\": 2, \"encoder_ffn_dim\": 24, \"decoder_ffn_dim\": 32, "
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 4, "
    "\"max_position_embeddings\": 16, \"activation_function\": \"swish\", "
    "\"scale_embedding\": true, \"init_std\": 0.1}";

static const char *const bert =
    "{\"model_type\": \"bert\", \"architectures\": [\"BertForMaskedLM\"], \"vocab_size\": 19, "
    "\"hidden_size\": 16, \"intermediate_size\": 24, \"num_hidden_layers\": 2, "
    "\"num_attention_heads\": 2, \"max_position_embeddings\": 16, \"initializer_range\": 0.1}";

struct how {
    const char *model;
    int32_t micro_batches;
    bool recompute;
    int64_t lora_rank;
    bool nf4;
    enum yk_precision precision;
    double dropout;
};

struct trained {
    double losses[STEPS];
    void *state; /* weights, gradients, moments */
    size_t bytes;
};

static void train_steps(struct trainer *trainer, bool decodes, struct trained *out)
{
    int32_t tokens[BATCH * SEQUENCE];
    int32_t lengths[BATCH];
    int32_t target_tokens[BATCH * TARGET];
    int32_t targets[BATCH * SEQUENCE];
    for (int i = 0; i < BATCH * SEQUENCE; i++) {
        tokens[i] = i * 7 % WORDS;
        targets[i] = i % 3 == 2 ? -1 : i * 5 % WORDS;
    }
    for (int i = 0; i < BATCH * TARGET; i++) {
        target_tokens[i] = i * 11 % WORDS;
    }
    for (int i = 0; i < BATCH; i++) {
        lengths[i] = i % 2 == 0 ? SEQUENCE : 1 + i;
    }
    for (int64_t s = 0; s < STEPS; s++) {
        const struct yk_sample_slice whole = {
            .samples = BATCH,
            .sequence = SEQUENCE,
            .target_sequence = decodes ? TARGET : 0,
            .first_sample = s * BATCH,
            .tokens = tokens,
            .lengths = lengths,
            .target_tokens = decodes ? target_tokens : NULL,
            .targets = targets,
        };
        out->losses[s] =
            trainer_step_on(trainer, &whole,
                            (struct yk_step_options){.lr = 3e-3, .updates = s, .clip = 1})
                .loss;
    }
}

static struct trained train(const struct how *how)
{
    struct yk_arena *arena = NULL;
    const struct yk_model_config *config = NULL;
    struct trained trained = {0};
    assert_int_equal(yk_arena_create(&arena), YK_OK);
    assert_int_equal(yk_model_config_parse(how->model, strlen(how->model), "test", arena, &config),
                     YK_OK);
    struct trainer *trainer = trainer_open(&(struct trainer_request){
        .config = config,
        .batch = BATCH,
        .sequence = SEQUENCE,
        .target_sequence = config->encoder_layers > 0 ? TARGET : 0,
        .micro_batches = how->micro_batches,
        .precision = how->precision,
        .lora_rank = how->lora_rank,
        .nf4 = how->nf4,
        .recompute = how->recompute,
        .clip = true,
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6},
        .options = {.dropout = how->dropout, .seed = 5},
    });
    assert_int_equal(
        yk_parameter_store_init_parameters(trainer->store, 1, YK_PARAMETER_STORE_INIT_ALL), YK_OK);
    train_steps(trainer, config->encoder_layers > 0, &trained);
    trained.bytes = trainer->store->bytes;
    trained.state = malloc(trained.bytes);
    assert_non_null(trained.state);
    memcpy(trained.state, trainer->store->memory, trained.bytes);
    trainer_close(trainer);
    yk_arena_destroy(arena);
    return trained;
}

static void expect_same_losses(const struct how *one, const struct how *other, double tolerance)
{
    struct trained a = train(one);
    struct trained b = train(other);
    for (int s = 0; s < STEPS; s++) {
        if (!(fabs(a.losses[s] - b.losses[s]) <= tolerance * a.losses[s])) {
            fail_msg("step %d: %.8g and %.8g", s, a.losses[s], b.losses[s]);
        }
    }
    free(a.state);
    free(b.state);
}

static void what_is_computed_again_is_the_same_to_the_bit(void **state)
{
    (void)state;
    static const struct how hows[] = {
        {.model = marian, .micro_batches = 2, .dropout = 0.2},
        {.model = marian, .micro_batches = 1, .lora_rank = 2, .nf4 = true, .dropout = 0.2},
        {.model = bert, .micro_batches = 3, .dropout = 0.2},
        {.model = bert, .micro_batches = 1, .lora_rank = 2, .precision = YK_PRECISION_BF16},
    };
    for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++) {
        struct how again = hows[i];
        again.recompute = true;
        struct trained kept = train(&hows[i]);
        struct trained computed = train(&again);
        assert_memory_equal(kept.state, computed.state, kept.bytes);
        free(kept.state);
        free(computed.state);
    }
}

/* Dropout included: it depends on a sample's number alone. */
static void a_batch_may_be_cut_into_micro_batches(void **state)
{
    (void)state;
    static const char *const models[] = {marian, bert};
    for (int i = 0; i < 2; i++) {
        const struct how whole = {.model = models[i], .micro_batches = 1, .dropout = 0.2};
        const struct how cut = {.model = models[i], .micro_batches = 3, .dropout = 0.2};
        expect_same_losses(&whole, &cut, 1e-5);
    }
}

static void sixteen_bits_next_to_nf4_are_near_fp32(void **state)
{
    (void)state;
    static const char *const models[] = {marian, bert};
    for (int i = 0; i < 2; i++) {
        const struct how wide = {.model = models[i], .lora_rank = 2, .nf4 = true};
        const struct how narrow = {
            .model = models[i], .lora_rank = 2, .nf4 = true, .precision = YK_PRECISION_BF16};
        expect_same_losses(&wide, &narrow, 1e-2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_computed_again_is_the_same_to_the_bit),
        cmocka_unit_test(a_batch_may_be_cut_into_micro_batches),
        cmocka_unit_test(sixteen_bits_next_to_nf4_are_near_fp32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
