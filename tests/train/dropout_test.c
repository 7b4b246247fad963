/* What is dropped depends on the sample and the place alone: not on recomputation, nor on how the
 * batch is cut. */
#include "support/support.h"
#include "support/trainer.h"

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
    assert_int_equal(yk_model_config_read(config_json, strlen(config_json), "test", arena, &config),
                     YK_OK);
    struct trainer *trainer = trainer_open(&(struct trainer_wish){
        .config = config,
        .batch = BATCH,
        .sequence = SEQUENCE,
        .micro_batches = micro_batches,
        .recompute = recompute,
        .clip = true,
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8},
        .settings = {.dropout = dropout, .seed = seed},
    });
    assert_int_equal(yk_store_start(trainer->store, 1), YK_OK);
    for (int i = 0; i < BATCH * SEQUENCE; i++) {
        tokens[i] = i * 7 % 19;
    }
    for (int64_t s = 0; s < STEPS; s++) {
        trained.losses[s] = trainer_step(trainer, tokens, tokens, s * BATCH,
                                         (struct yk_step){.rate = 3e-3, .updates = s, .clip = 1})
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recomputation_drops_the_same),
        cmocka_unit_test(micro_batches_drop_the_same),
        cmocka_unit_test(another_seed_drops_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
