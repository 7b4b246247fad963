/*
 * The recorded cases hold together: what one part of a file says follows from the others. Whoever
 * fails here has a broken fixture or reader and need not look into nn.
 */
#include "support/training/training_case.h"

#include "backend/ops.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* Sums of fp32 numbers that PyTorch took in fp32. */
static const double NEAR_ENOUGH = 2e-6;

static void assert_near(double given, double expected, double tolerance, const char *name)
{
    if (!(fabs(given - expected) <= tolerance * fabs(expected))) {
        print_error("%s: %.9g, recorded %.9g\n", name, given, expected);
        fail();
    }
}

/* −log of the softmax for every class, and of the label; label smoothing after Szegedy et al. 2016.
 */
static double loss_of_row(const float *logits, int64_t V, int32_t label, double smoothing)
{
    double largest = -INFINITY;
    double sum = 0;
    double mean = 0;
    for (int64_t v = 0; v < V; v++) {
        largest = fmax(largest, (double)logits[v]);
    }
    for (int64_t v = 0; v < V; v++) {
        sum += exp((double)logits[v] - largest);
        mean += (double)logits[v] / (double)V;
    }
    const double normaliser = largest + log(sum);
    return (1 - smoothing) * (normaliser - (double)logits[label]) + smoothing * (normaliser - mean);
}

static void first_loss_follows_from_the_logits(void **state)
{
    (void)state;
    for (int i = 0; training_case_names[i]; i++) {
        struct training_case *c = training_case_open(training_case_names[i]);
        const int64_t V = yk_model_config_target_vocabulary_size(c->config);
        const struct yk_sample_slice slice = training_case_slice(c, 0);
        const int32_t *targets = slice.targets;
        double loss = 0;
        for (int64_t row = 0; row < training_case_rows(c); row++) {
            if (targets[row] >= 0) {
                loss += loss_of_row(c->logits + row * V, V, targets[row], c->options.smoothing);
            }
        }
        loss /= (double)slice.loss_targets;
        assert_near(loss, (double)c->losses[0], NEAR_ENOUGH, c->name);
        training_case_close(c);
    }
}

static void first_norm_follows_from_the_gradients(void **state)
{
    (void)state;
    for (int i = 0; training_case_names[i]; i++) {
        struct training_case *c = training_case_open(training_case_names[i]);
        double squares = 0;
        const char *name = NULL;
        for (int32_t k = 0; (name = training_case_name(c, "gradients", k)); k++) {
            const struct training_tensor *tensor = training_case_find(c, "gradients", name);
            const float *gradient = training_case_floats(c, "gradients", name, tensor->count);
            for (int64_t j = 0; j < tensor->count; j++) {
                squares += (double)gradient[j] * (double)gradient[j];
            }
        }
        assert_near(sqrt(squares), (double)c->norms[0], NEAR_ENOUGH, c->name);
        training_case_close(c);
    }
}

/* Names of adapters are PEFT's, and only they are trained where there are any, and the head of a
 * classifier. */
static void trained_parameters_have_a_start_and_an_end(void **state)
{
    (void)state;
    for (int i = 0; training_case_names[i]; i++) {
        struct training_case *c = training_case_open(training_case_names[i]);
        const char *name = NULL;
        int32_t count = 0;
        for (; (name = training_case_name(c, "gradients", count)); count++) {
            const int64_t numbers = training_case_find(c, "gradients", name)->count;
            const float *start = training_case_start(c, name, numbers);
            const float *end = training_case_floats(c, "final", name, numbers);
            assert_true(training_case_apart(end, start, numbers) > 1e-4 ||
                        training_case_is_still(c, name));
            const bool head = c->config->classifier && strstr(name, "classifier.") == name;
            assert_int_equal(c->options.lora_rank > 0 && !head, strstr(name, ".lora_") != NULL);
        }
        assert_true(count > 0);
        assert_null(c->config->not_trained);
        assert_null(training_case_name(c, "final", count));
        assert_int_equal(c->options.lora_rank > 0, c->adapter_text != NULL);
        training_case_close(c);
    }
}

static double scale_of_block(const float *numbers)
{
    float scale = 0;
    for (int i = 0; i < YK_NF4_BLOCK_SIZE; i++) {
        const float magnitude = fabsf(numbers[i]);
        scale = magnitude > scale ? magnitude : scale;
    }
    return (double)scale;
}

/* With the 256 values of scales unknown here, a block is right up to a factor: all of its numbers
 * are the same multiple of their values. */
static void codes_stand_for_the_weights(void **state)
{
    (void)state;
    static const double values[16] = {
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    };
    static const char *const weight = "model.layers.1.self_attn.k_proj.weight";
    struct training_case *c = training_case_open("llama-nf4");
    const struct training_tensor *codes =
        training_case_find(c, "nf4", "model.layers.1.self_attn.k_proj.weight.codes");
    assert_true(codes && codes->bytes);
    const int64_t count = codes->count * 2;
    const float *numbers = training_case_floats(c, "weights", weight, count);
    const float *original = training_case_start(c, weight, count);
    for (int64_t first = 0; first < count; first += YK_NF4_BLOCK_SIZE) {
        const double scale = scale_of_block(numbers + first);
        for (int64_t i = first; i < first + YK_NF4_BLOCK_SIZE; i++) {
            const int code = i % 2 == 0 ? codes->bytes[i / 2] >> 4 : codes->bytes[i / 2] & 15;
            assert_true(fabs((double)numbers[i] - values[code] * scale) <= 1e-6 * scale);
            /* Half of the widest gap, and what 8 bits lose of the scale. */
            assert_true(fabs((double)numbers[i] - (double)original[i]) <= 0.17 * scale);
        }
    }
    training_case_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_loss_follows_from_the_logits),
        cmocka_unit_test(first_norm_follows_from_the_gradients),
        cmocka_unit_test(trained_parameters_have_a_start_and_an_end),
        cmocka_unit_test(codes_stand_for_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
