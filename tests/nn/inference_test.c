/* Forward runs of evaluation: what training does besides is left out. */
#include "nn/inference/inference.h"

#include "support/support.h"
#include "support/training/trainer.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLES = 3,
    SEQUENCE = 5,
    KNOWN = 11,
};

static const char json[] =
    "{\"model_type\": \"gpt2\", \"vocab_size\": 11, \"n_positions\": 8, \"n_embd\": 12, "
    "\"n_layer\": 2, \"n_head\": 3, \"initializer_range\": 0.5}";

/* −log softmax(logits)[target]. */
static double cross_entropy(const float logits[KNOWN], int32_t target)
{
    double sum = 0;
    for (int i = 0; i < KNOWN; i++) {
        sum += exp((double)logits[i]);
    }
    return log(sum) - (double)logits[target];
}

static void losses_are_cross_entropies_with_no_smoothing_or_dropout(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct trainer_request request = {
        .batch = SAMPLES,
        .sequence = SEQUENCE,
        .options = {.dropout = 0.4, .label_smoothing = 0.3, .seed = 5},
    };
    const struct yk_inference_shape shape = {.samples = SAMPLES, .sequence = SEQUENCE};
    struct yk_inference *inference = NULL;
    int32_t tokens[SAMPLES * SEQUENCE];
    int32_t targets[SAMPLES * SEQUENCE];
    int32_t lengths[SAMPLES] = {SEQUENCE, SEQUENCE, SEQUENCE};
    double expected = 0;
    struct yk_loss_sums sums = {0};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_model_config_parse(json, strlen(json), "test", arena, &request.config));
    struct trainer *trainer = trainer_open(&request);
    assert_ok(yk_parameter_store_init_parameters(trainer->store, 1, YK_PARAMETER_STORE_INIT_ALL));
    assert_ok(yk_inference_create(trainer->store, &shape, &inference));
    for (int i = 0; i < SAMPLES * SEQUENCE; i++) {
        tokens[i] = i * 7 % KNOWN;
        targets[i] = i % 4 == 3 ? -1 : i * 5 % KNOWN;
    }
    assert_ok(yk_inference_run(inference, tokens, SAMPLES, SEQUENCE));
    for (int i = 0; i < SAMPLES * SEQUENCE; i++) {
        float logits[KNOWN];
        assert_ok(yk_inference_get_logits(inference, i / SEQUENCE, i % SEQUENCE, logits));
        expected += targets[i] >= 0 ? cross_entropy(logits, targets[i]) : 0;
    }
    const struct yk_sample_slice slice = {
        .samples = SAMPLES,
        .sequence = SEQUENCE,
        .tokens = tokens,
        .lengths = lengths,
        .targets = targets,
    };
    assert_ok(yk_inference_sum_losses(inference, &slice, &sums));
    assert_true(fabs(sums.loss - expected) < 1e-5 * expected);
    yk_inference_destroy(inference);
    trainer_close(trainer);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_cross_entropies_with_no_smoothing_or_dropout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
