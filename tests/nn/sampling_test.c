/* Drawing tokens: probabilities computed by hand, frequencies against them. */
#include "nn/inference/sampling.h"

#include "support/support.h"

#include <math.h>

enum {
    DRAWS = 20000,
    KNOWN = 5,
};

/* Probabilities 0.4, 0.1, 0.3, 0.15, 0.05 as logits, up to a constant. */
static const double probabilities[KNOWN] = {0.4, 0.1, 0.3, 0.15, 0.05};

static void fill_logits(float logits[KNOWN], double temperature)
{
    for (int i = 0; i < KNOWN; i++) {
        logits[i] = (float)(temperature * log(probabilities[i]) + 7);
    }
}

static int32_t draw(const float *logits, const struct yk_sampling_options *options,
                    struct yk_random *random)
{
    struct yk_sampling_candidate scratch[KNOWN];
    int32_t token = -1;
    assert_int_equal(yk_sampling_draw_token(logits, KNOWN, options, random, scratch, &token),
                     YK_OK);
    assert_in_range(token, 0, KNOWN - 1);
    return token;
}

/* The frequency of each token among many draws. */
static void count_draws(const struct yk_sampling_options *options, double frequencies[KNOWN])
{
    struct yk_random random = yk_random_from_seed(11);
    float logits[KNOWN];
    fill_logits(logits, options->temperature);
    for (int i = 0; i < KNOWN; i++) {
        frequencies[i] = 0;
    }
    for (int i = 0; i < DRAWS; i++) {
        frequencies[draw(logits, options, &random)] += 1.0 / DRAWS;
    }
}

/* Five standard deviations of a frequency among so many draws are at most 0.018. */
static void assert_frequencies(const double frequencies[KNOWN], const double expected[KNOWN])
{
    for (int i = 0; i < KNOWN; i++) {
        if (expected[i] == 0) {
            assert_true(frequencies[i] == 0);
        }
        assert_true(fabs(frequencies[i] - expected[i]) < 0.018);
    }
}

static void tokens_come_as_often_as_they_are_likely(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 1, .top_p = 1};
    double frequencies[KNOWN];
    count_draws(&options, frequencies);
    assert_frequencies(frequencies, probabilities);
}

static void temperature_divides_the_logits(void **state)
{
    (void)state;
    /* The logits were multiplied by the temperature before. */
    const struct yk_sampling_options options = {.temperature = 2.5, .top_p = 1};
    double frequencies[KNOWN];
    count_draws(&options, frequencies);
    assert_frequencies(frequencies, probabilities);
}

static void temperature_zero_picks_the_most_likely(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 0, .top_p = 1};
    struct yk_random random = yk_random_from_seed(1);
    const float logits[KNOWN] = {-1, 3, 2, 3, 0};
    assert_int_equal(draw(logits, &options, &random), 1);
}

static void top_k_leaves_the_most_likely_ones(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 1, .top_k = 2, .top_p = 1};
    const double expected[KNOWN] = {0.4 / 0.7, 0, 0.3 / 0.7, 0, 0};
    double frequencies[KNOWN];
    count_draws(&options, frequencies);
    assert_frequencies(frequencies, expected);
}

static void top_k_breaks_ties_by_token(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 1, .top_k = 1, .top_p = 1};
    struct yk_random random = yk_random_from_seed(1);
    const float logits[KNOWN] = {0, 0, 0, 0, 0};
    for (int i = 0; i < 20; i++) {
        assert_int_equal(draw(logits, &options, &random), 0);
    }
}

static void top_p_leaves_the_fewest_that_are_likely_enough(void **state)
{
    (void)state;
    /* 0.4 + 0.3 is not yet 0.75; with 0.15 it is. */
    const struct yk_sampling_options options = {.temperature = 1, .top_p = 0.75};
    const double expected[KNOWN] = {0.4 / 0.85, 0, 0.3 / 0.85, 0.15 / 0.85, 0};
    double frequencies[KNOWN];
    count_draws(&options, frequencies);
    assert_frequencies(frequencies, expected);
}

static void top_p_counts_what_top_k_has_left(void **state)
{
    (void)state;
    /* Of 0.4 and 0.3, the first alone is 0.571 of all. */
    const struct yk_sampling_options options = {.temperature = 1, .top_k = 2, .top_p = 0.5};
    const double expected[KNOWN] = {1, 0, 0, 0, 0};
    double frequencies[KNOWN];
    count_draws(&options, frequencies);
    assert_frequencies(frequencies, expected);
}

static void the_smallest_top_p_leaves_one(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 1, .top_p = 1e-9};
    const double expected[KNOWN] = {1, 0, 0, 0, 0};
    double frequencies[KNOWN];
    count_draws(&options, frequencies);
    assert_frequencies(frequencies, expected);
}

static void tokens_that_are_ruled_out_never_come(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 1, .top_p = 1};
    struct yk_random random = yk_random_from_seed(5);
    const float logits[KNOWN] = {-INFINITY, 1, -INFINITY, 1, -INFINITY};
    int draws[KNOWN] = {0};
    for (int i = 0; i < 200; i++) {
        draws[draw(logits, &options, &random)]++;
    }
    assert_int_equal(draws[1] + draws[3], 200);
    assert_true(draws[1] > 0 && draws[3] > 0);
}

static void one_seed_gives_one_sequence(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 1, .top_p = 1};
    struct yk_random a = yk_random_from_seed(9);
    struct yk_random b = yk_random_from_seed(9);
    float logits[KNOWN];
    fill_logits(logits, 1);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(draw(logits, &options, &a), draw(logits, &options, &b));
    }
}

static void logits_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    const struct yk_sampling_options options = {.temperature = 0, .top_p = 1};
    const float bad[][3] = {{0, NAN, 1}, {0, INFINITY, 1}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct yk_random random = yk_random_from_seed(1);
        struct yk_sampling_candidate scratch[3];
        int32_t token = -1;
        assert_int_equal(yk_sampling_draw_token(bad[i], 3, &options, &random, scratch, &token),
                         YK_ERROR_NUMBERS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_come_as_often_as_they_are_likely),
        cmocka_unit_test(temperature_divides_the_logits),
        cmocka_unit_test(temperature_zero_picks_the_most_likely),
        cmocka_unit_test(top_k_leaves_the_most_likely_ones),
        cmocka_unit_test(top_k_breaks_ties_by_token),
        cmocka_unit_test(top_p_leaves_the_fewest_that_are_likely_enough),
        cmocka_unit_test(top_p_counts_what_top_k_has_left),
        cmocka_unit_test(the_smallest_top_p_leaves_one),
        cmocka_unit_test(tokens_that_are_ruled_out_never_come),
        cmocka_unit_test(one_seed_gives_one_sequence),
        cmocka_unit_test(logits_that_are_no_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
