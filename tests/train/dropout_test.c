/* What is dropped depends on the sample and the place alone: not on recomputation, nor on how the
 * batch is cut. No two places share what is drawn. */
#include "support/support.h"
#include "support/training/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 4,
    SEQUENCE = 8,
    STEPS = 5,
};

static const char *const config_json =
    "{\"model_type\": \"gpt2\", \"vocab_size\": 19, \"n_positions\": 8, \"n_embd\": 24, "
    "\"n_layer\": 2, \"n_head\": 3}";

struct trained {
    double losses[STEPS];
    void *state; /* weights, gradients, moments */
    size_t bytes;
};

static struct trained train(bool recompute, int32_t micro_batches, double dropout, uint64_t seed)
{
    struct yk_arena *arena = NULL;
    const struct yk_model_config *config = NULL;
    struct trained trained = {0};
    int32_t tokens[BATCH * SEQUENCE];
    assert_int_equal(yk_arena_create(&arena), YK_OK);
    assert_int_equal(
        yk_model_config_parse(config_json, strlen(config_json), "test", arena, &config), YK_OK);
    struct trainer *trainer = trainer_open(&(struct trainer_request){
        .config = config,
        .batch = BATCH,
        .sequence = SEQUENCE,
        .micro_batches = micro_batches,
        .recompute = recompute,
        .clip = true,
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8},
        .options = {.dropout = dropout, .seed = seed},
    });
    assert_int_equal(
        yk_parameter_store_init_parameters(trainer->store, 1, YK_PARAMETER_STORE_INIT_ALL), YK_OK);
    for (int i = 0; i < BATCH * SEQUENCE; i++) {
        tokens[i] = i * 7 % 19;
    }
    for (int64_t s = 0; s < STEPS; s++) {
        trained.losses[s] =
            trainer_step(trainer, tokens, tokens, s * BATCH,
                         (struct yk_step_options){.lr = 3e-3, .updates = s, .clip = 1})
                .loss;
    }
    trained.bytes = trainer->store->bytes;
    trained.state = malloc(trained.bytes);
    assert_non_null(trained.state);
    memcpy(trained.state, trainer->store->memory, trained.bytes);
    trainer_close(trainer);
    yk_arena_destroy(arena);
    return trained;
}

static void recomputation_drops_the_same(void **state)
{
    (void)state;
    struct trained plain = train(false, 1, 0.3, 5);
    struct trained again = train(true, 1, 0.3, 5);
    assert_memory_equal(plain.state, again.state, plain.bytes);
    free(plain.state);
    free(again.state);
}

static void micro_batches_drop_the_same(void **state)
{
    (void)state;
    struct trained whole = train(false, 1, 0.3, 5);
    struct trained cut = train(false, 4, 0.3, 5);
    for (int s = 0; s < STEPS; s++) {
        assert_true(fabs(whole.losses[s] - cut.losses[s]) < 1e-5 * whole.losses[s]);
    }
    free(whole.state);
    free(cut.state);
}

static void another_seed_drops_others(void **state)
{
    (void)state;
    struct trained one = train(false, 1, 0.3, 5);
    struct trained other = train(false, 1, 0.3, 6);
    struct trained none = train(false, 1, 0, 5);
    assert_true(fabs(one.losses[0] - other.losses[0]) > 1e-4);
    assert_true(fabs(one.losses[0] - none.losses[0]) > 1e-4);
    free(one.state);
    free(other.state);
    free(none.state);
}

/* The backend of the CPU, but for what is dropped: how often each place of dropout comes. */
enum {
    MAX_SITES = 128,
    ENCODER_LAYERS = 2,
    DECODER_LAYERS = 3,
};

static int visits[MAX_SITES];

static void visit(const struct yk_dropout_options *dropout)
{
    assert_true(dropout->rate > 0);
    assert_in_range(dropout->site, 0, MAX_SITES - 1);
    visits[dropout->site]++;
}

static void watch_attend(struct yk_backend_lane *lane, const struct yk_attention_op *op)
{
    visit(&op->dropout);
    yk_backend_cpu.attention(lane, op);
}

static void watch_attend_back(struct yk_backend_lane *lane,
                              const struct yk_attention_backward_op *op)
{
    visit(&op->forward.dropout);
    yk_backend_cpu.attention_backward(lane, op);
}

static void watch_drop(struct yk_backend_lane *lane, const struct yk_dropout_op *op)
{
    visit(&op->dropout);
    yk_backend_cpu.dropout(lane, op);
}

static const char *const marian_json =
    "{\"model_type\": \"marian\", \"vocab_size\": 19, \"d_model\": 12, \"encoder_layers\": 2, "
    "\"decoder_layers\": 3, \"encoder_ffn_dim\": 16, \"decoder_ffn_dim\": 16, "
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 2, "
    "\"max_position_embeddings\": 8, \"activation_function\": \"relu\"}";

/*
 * Both embeddings are dropped from (Vaswani et al. 2017, 5.4), and in each layer the weights of an
 * attention, what it adds and what the feed-forward adds. Each of those draws for itself, and
 * backward draws as forward did.
 */
static void every_place_of_an_encoder_and_decoder_drops_for_itself(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    const struct yk_model_config *config = NULL;
    int32_t tokens[BATCH * SEQUENCE];
    struct yk_backend watched = yk_backend_cpu;
    int projections = 0;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_model_config_parse(marian_json, strlen(marian_json), "test", arena, &config));
    struct trainer *trainer = trainer_open(&(struct trainer_request){
        .config = config,
        .batch = BATCH,
        .sequence = SEQUENCE,
        .optimizer = {.kind = YK_OPTIMIZER_SGD},
        .options = {.dropout = 0.3, .seed = 5},
    });
    assert_ok(yk_parameter_store_init_parameters(trainer->store, 1, YK_PARAMETER_STORE_INIT_ALL));
    watched.attention = watch_attend;
    watched.attention_backward = watch_attend_back;
    watched.dropout = watch_drop;
    trainer->store->context.backend = &watched;
    for (int i = 0; i < BATCH * SEQUENCE; i++) {
        tokens[i] = i * 7 % 19;
    }
    memset(visits, 0, sizeof visits);
    const struct yk_sample_slice whole = {
        .samples = BATCH,
        .sequence = SEQUENCE,
        .target_sequence = SEQUENCE,
        .tokens = tokens,
        .lengths = trainer->lengths,
        .target_tokens = tokens,
        .targets = tokens,
    };
    (void)trainer_step_on(trainer, &whole, (struct yk_step_options){.lr = 1e-3});
    for (int i = 0; i < MAX_SITES; i++) {
        assert_true(visits[i] == 0 || visits[i] == 2);
        projections += visits[i] > 0;
    }
    assert_int_equal(projections, 2 + 3 * ENCODER_LAYERS + 5 * DECODER_LAYERS);
    trainer->store->context.backend = &yk_backend_cpu;
    trainer_close(trainer);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recomputation_drops_the_same),
        cmocka_unit_test(micro_batches_drop_the_same),
        cmocka_unit_test(another_seed_drops_others),
        cmocka_unit_test(every_place_of_an_encoder_and_decoder_drops_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
