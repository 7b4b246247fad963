#include "support/files/scratch.h"
#include "support/files/token_files.h"
#include "support/support.h"

#include "data/sampler.h"

#include "data/corpus.h"

#include <stdbool.h>
#include <string.h>

enum {
    MAX = 400
};

/* A corpus whose token i is i + 1000, so that tokens say where they come from. */
static struct yk_corpus *open_counting(int count)
{
    uint16_t tokens[MAX];
    const struct yk_corpus_request request = {.path = support_scratch_path("a.bin"), .part = 1};
    struct yk_corpus *corpus = NULL;
    for (int i = 0; i < count; i++) {
        tokens[i] = (uint16_t)(1000 + i);
    }
    support_write_shard("a.bin", tokens, count, count);
    assert_ok(yk_corpus_open(&request, &corpus));
    return corpus;
}

static struct yk_sampler *create(const struct yk_corpus_range *range, int64_t sequence,
                                 uint64_t seed)
{
    struct yk_sampler *sampler = NULL;
    assert_ok(yk_window_sampler_create(
        range, &(struct yk_sampler_options){.sequence = sequence, .seed = seed}, &sampler));
    return sampler;
}

static yk_status fetch_one(const struct yk_sampler *sampler, int64_t number, int32_t *tokens,
                           int32_t *targets)
{
    int32_t length = 0;
    struct yk_sample_slice slice = {.lengths = &length};
    slice.tokens = tokens;
    slice.targets = targets;
    return yk_sampler_fetch_slice(sampler, number, 1, &slice);
}

/* Takes a sample, checks that it is a window, and returns the place of its first token. */
static int64_t fetch(const struct yk_sampler *sampler, int64_t number)
{
    int32_t tokens[MAX];
    int32_t targets[MAX];
    const int64_t T = sampler->sequence;
    assert_ok(fetch_one(sampler, number, tokens, targets));
    for (int64_t i = 0; i < T; i++) {
        assert_int_equal(tokens[i], tokens[0] + i);
        assert_int_equal(targets[i], tokens[i] + 1);
    }
    return tokens[0] - 1000;
}

static void sampler_gives_every_window_once_an_epoch(void **state)
{
    (void)state;
    for (int count = 2; count < 120; count += 7) {
        struct yk_corpus *corpus = open_counting(count);
        const struct yk_corpus_range range = yk_corpus_full_range(corpus);
        for (int64_t T = 1; T < count; T += 3) {
            struct yk_sampler *sampler = create(&range, T, 5);
            const int64_t windows = sampler->epoch_units;
            assert_true(windows > 0);
            for (int64_t epoch = 0; epoch < 3; epoch++) {
                bool visited[MAX] = {false};
                const int64_t phase = fetch(sampler, epoch * windows) % T;
                for (int64_t n = 0; n < windows; n++) {
                    const int64_t first = fetch(sampler, epoch * windows + n);
                    assert_int_equal(first % T, phase);
                    assert_in_range(first / T, 0, windows - 1);
                    assert_false(visited[first / T]);
                    visited[first / T] = true;
                }
            }
            yk_sampler_destroy(sampler);
        }
        yk_corpus_close(corpus);
    }
}

/* Fewer would waste text: with one window more, the last phase would not fit. */
static void an_epoch_has_as_many_windows_as_fit_at_every_phase(void **state)
{
    (void)state;
    for (int count = 2; count < 60; count++) {
        struct yk_corpus *corpus = open_counting(count);
        const struct yk_corpus_range range = yk_corpus_full_range(corpus);
        for (int64_t T = 1; T < count; T++) {
            struct yk_sampler *sampler = create(&range, T, 0);
            int64_t fit = 0; /* by counting */
            while (T - 1 + (fit + 1) * T + 1 <= count) {
                fit++;
            }
            assert_int_equal(sampler->epoch_units, fit > 0 ? fit : 1);
            yk_sampler_destroy(sampler);
        }
        yk_corpus_close(corpus);
    }
}

static void phases_and_orders_differ_between_epochs_and_seeds(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(400);
    const struct yk_corpus_range range = yk_corpus_full_range(corpus);
    struct yk_sampler *one = create(&range, 8, 1);
    struct yk_sampler *two = create(&range, 8, 2);
    const int64_t windows = one->epoch_units;
    bool phases[8] = {false};
    int same = 0;
    int same_seed = 0;
    for (int64_t epoch = 0; epoch < 100; epoch++) {
        phases[fetch(one, epoch * windows) % 8] = true;
        same += fetch(one, epoch * windows) / 8 == fetch(one, (epoch + 1) * windows) / 8;
        same_seed += fetch(one, epoch * windows) == fetch(two, epoch * windows);
    }
    for (int i = 0; i < 8; i++) {
        assert_true(phases[i]);
    }
    assert_true(same < 20); /* 2 of 100 expected */
    assert_true(same_seed < 20);
    yk_sampler_destroy(one);
    yk_sampler_destroy(two);
    yk_corpus_close(corpus);
}

/* Resumed runs depend on it: computed apart from this code, in Python. */
static void sample_numbers_mean_the_same_for_ever(void **state)
{
    (void)state;
    static const int64_t expected[] = {2,  10, 30, 34, 6,  26, 14, 18, 22, 38, 33, 13,
                                       37, 5,  1,  17, 25, 29, 9,  21, 23, 35, 31, 19};
    struct yk_corpus *corpus = open_counting(47);
    const struct yk_corpus_range range = yk_corpus_full_range(corpus);
    struct yk_sampler *sampler = create(&range, 4, 7);
    for (int64_t n = 23; n >= 0; n--) { /* in any order */
        assert_int_equal(fetch(sampler, n), expected[n]);
    }
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

static void samples_stay_inside_their_range(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(100);
    const struct yk_corpus_range range = {.corpus = corpus, .first = 60, .count = 25};
    struct yk_sampler *sampler = create(&range, 6, 3);
    int64_t min = MAX;
    int64_t max = 0;
    for (int64_t n = 0; n < 300; n++) {
        const int64_t first = fetch(sampler, n);
        min = first < min ? first : min;
        max = first > max ? first : max;
    }
    assert_int_equal(min, 60);
    /* 3 windows from phase 5 on: the last begins at 60 + 5 + 12, and ends at 83 of 84. */
    assert_int_equal(max, 77);
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

static void a_text_just_long_enough_is_one_window(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(9);
    const struct yk_corpus_range range = yk_corpus_full_range(corpus);
    struct yk_sampler *sampler = create(&range, 8, 1);
    assert_int_equal(sampler->epoch_units, 1);
    for (int64_t n = 0; n < 20; n++) {
        assert_int_equal(fetch(sampler, n), 0);
    }
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

static void a_text_shorter_than_the_context_is_refused(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(8);
    const struct yk_corpus_range range = yk_corpus_full_range(corpus);
    const struct yk_corpus_range one = {.corpus = corpus, .count = 1};
    struct yk_sampler *sampler = NULL;
    assert_fails(yk_window_sampler_create(
                     &range, &(struct yk_sampler_options){.sequence = 8, .seed = 1}, &sampler),
                 YK_ERROR_INPUT,
                 "there are 8 tokens to train on, but a context of 8 needs at least 9; use a "
                 "longer text or a shorter context");
    assert_fails(
        yk_window_sampler_create(
            &one, &(struct yk_sampler_options){.sequence = 8, .sequential = true}, &sampler),
        YK_ERROR_INPUT,
        "there are 1 tokens to evaluate on, but at least 2 are needed; keep more of the "
        "text");
    assert_fails(
        yk_window_sampler_create(&range, &(struct yk_sampler_options){.seed = 1}, &sampler),
        YK_ERROR_INPUT, "a context of 0 tokens; it must be at least 1 token");
    yk_sampler_destroy(NULL);
    yk_corpus_close(corpus);
}

static void in_evaluation_every_token_but_the_first_bears_loss_once(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(60);
    for (int64_t count = 2; count <= 50; count++) {
        const struct yk_corpus_range range = {.corpus = corpus, .first = 5, .count = count};
        for (int64_t T = 1; T <= 12; T++) {
            struct yk_sampler *sampler = NULL;
            int32_t tokens[12];
            int32_t targets[12];
            int64_t next = 1006; /* the target that comes next */
            assert_ok(yk_window_sampler_create(
                &range, &(struct yk_sampler_options){.sequence = T, .sequential = true}, &sampler));
            for (int64_t n = 0; n < sampler->epoch_units; n++) {
                assert_ok(fetch_one(sampler, n, tokens, targets));
                for (int64_t i = 0; i < T; i++) {
                    const bool there = next < 1005 + count;
                    assert_int_equal(tokens[i], there ? next - 1 : 0);
                    assert_int_equal(targets[i], there ? next : YK_SAMPLER_NO_TARGET);
                    next += there;
                }
                assert_int_not_equal(targets[0], YK_SAMPLER_NO_TARGET);
            }
            assert_int_equal(next, 1005 + count);
            yk_sampler_destroy(sampler);
        }
    }
    yk_corpus_close(corpus);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(sampler_gives_every_window_once_an_epoch),
        in_scratch(an_epoch_has_as_many_windows_as_fit_at_every_phase),
        in_scratch(phases_and_orders_differ_between_epochs_and_seeds),
        in_scratch(sample_numbers_mean_the_same_for_ever),
        in_scratch(samples_stay_inside_their_range),
        in_scratch(a_text_just_long_enough_is_one_window),
        in_scratch(a_text_shorter_than_the_context_is_refused),
        in_scratch(in_evaluation_every_token_but_the_first_bears_loss_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
