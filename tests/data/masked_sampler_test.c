#include "support/files/scratch.h"
#include "support/files/token_files.h"
#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "data/masked_sampler.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    MOST = 600, /* tokens of a corpus, and of a sample */
    CLASS = 3,
    SEPARATOR = 4,
    MASK = 5,
    PAD = 2,
    SPECIALS = 6, /* 0 … 5, and 100 */
    SPECIAL_INSIDE = 100,
    VOCABULARY = 1000,
};

static struct yk_corpus *open_tokens(const uint16_t *tokens, int count)
{
    const struct yk_corpus_request request = {
        .path = support_write_shard("a.bin", tokens, count, count), .part = 1};
    struct yk_corpus *corpus = NULL;
    assert_ok(yk_corpus_open(&request, &corpus));
    return corpus;
}

/* Token i of the corpus is 200 + i, so that tokens say where they come from. */
static struct yk_corpus *open_counting(int count)
{
    uint16_t tokens[MOST];
    for (int i = 0; i < count; i++) {
        tokens[i] = (uint16_t)(200 + i);
    }
    return open_tokens(tokens, count);
}

static struct yk_masked_sampler_request request_of(const struct yk_corpus *corpus, int64_t sequence)
{
    return (struct yk_masked_sampler_request){
        .range = yk_corpus_full_range(corpus),
        .options = {.sequence = sequence, .seed = 3},
        .tokens = {.class_id = CLASS,
                   .separator_id = SEPARATOR,
                   .mask_id = MASK,
                   .pad_id = PAD,
                   .count = VOCABULARY,
                   .special = {0, 1, PAD, CLASS, SEPARATOR, MASK, SPECIAL_INSIDE},
                   .special_count = SPECIALS + 1},
    };
}

static struct yk_sampler *create(const struct yk_masked_sampler_request *request, bool sequential)
{
    struct yk_masked_sampler_request asked = *request;
    struct yk_sampler *sampler = NULL;
    asked.options.sequential = sequential;
    assert_ok(yk_masked_sampler_create(&asked, &sampler));
    return sampler;
}

struct fetched {
    struct yk_sample_slice slice;
    int32_t tokens[MOST];
    int32_t targets[MOST];
    int32_t lengths[4];
};

static const struct yk_sample_slice *fetch(const struct yk_sampler *sampler, int64_t first,
                                           int64_t count, struct fetched *out)
{
    out->slice = (struct yk_sample_slice){
        .tokens = out->tokens, .targets = out->targets, .lengths = out->lengths};
    assert_ok(yk_sampler_fetch_slice(sampler, first, count, &out->slice));
    assert_int_equal(out->slice.samples, count);
    assert_int_equal(out->slice.first_sample, first);
    assert_int_equal(out->slice.target_sequence, 0);
    return &out->slice;
}

/* Checks a sample of a counting corpus, what is not masked and what was: returns the place of its
 * first token. */
static int64_t check_window(const struct yk_sample_slice *slice)
{
    const int64_t end = slice->lengths[0] - 1;
    int64_t first = -1;
    int64_t counted = 0;
    assert_int_equal(slice->tokens[0], CLASS);
    assert_int_equal(slice->tokens[end], SEPARATOR);
    for (int64_t i = 1; i < end; i++) {
        const bool chosen = slice->targets[i] != YK_SAMPLER_NO_TARGET;
        const int32_t original = chosen ? slice->targets[i] : slice->tokens[i];
        first = i == 1 ? original - 200 : first;
        assert_int_equal(original, 200 + first + i - 1);
        counted += chosen;
    }
    assert_int_equal(slice->targets[0], YK_SAMPLER_NO_TARGET);
    for (int64_t i = end; i < slice->sequence; i++) {
        assert_int_equal(slice->tokens[i], i == end ? SEPARATOR : PAD);
        assert_int_equal(slice->targets[i], YK_SAMPLER_NO_TARGET);
    }
    assert_int_equal(slice->token_count, end + 1);
    assert_int_equal(slice->loss_targets, counted);
    assert_true(counted > 0);
    return first;
}

static void every_window_comes_once_an_epoch(void **state)
{
    (void)state;
    for (int count = 1; count < 130; count += 9) {
        struct yk_corpus *corpus = open_counting(count);
        for (int64_t inside = 1; inside <= count; inside += 4) {
            const struct yk_masked_sampler_request request = request_of(corpus, inside + 2);
            struct yk_sampler *sampler = create(&request, false);
            const int64_t windows = sampler->epoch_units;
            int64_t fit = 0; /* from the last phase on, by counting */
            while (inside - 1 + (fit + 1) * inside <= count) {
                fit++;
            }
            assert_int_equal(windows, fit > 0 ? fit : 1);
            for (int64_t epoch = 0; epoch < 3; epoch++) {
                bool visited[MOST] = {false};
                int64_t phase = -1;
                for (int64_t n = 0; n < windows; n++) {
                    struct fetched fetched;
                    const int64_t first =
                        check_window(fetch(sampler, epoch * windows + n, 1, &fetched));
                    phase = phase < 0 ? first % inside : phase;
                    assert_int_equal(fetched.lengths[0], inside + 2);
                    assert_true(first + inside <= count);
                    assert_int_equal(first % inside, phase);
                    assert_false(visited[first / inside]);
                    visited[first / inside] = true;
                }
            }
            yk_sampler_destroy(sampler);
        }
        yk_corpus_close(corpus);
    }
}

/* The chance of each, and five times the spread of a binomial distribution. */
static void assert_part(int64_t found, int64_t all, double part)
{
    const double spread = sqrt((double)all * part * (1 - part));
    assert_true(fabs((double)found - (double)all * part) < 5 * spread);
}

static void a_part_is_chosen_and_most_of_that_is_masked(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(500);
    const struct yk_masked_sampler_request request = request_of(corpus, 102);
    struct yk_sampler *sampler = create(&request, false);
    int64_t all = 0;
    int64_t chosen = 0;
    int64_t masked = 0;
    int64_t kept = 0;
    int64_t low = 0; /* of the random ones */
    int64_t places[100] = {0};
    for (int64_t n = 0; n < 3000; n++) {
        struct fetched fetched;
        check_window(fetch(sampler, n, 1, &fetched));
        for (int64_t i = 1; i <= 100; i++) {
            const int32_t token = fetched.tokens[i];
            const int32_t target = fetched.targets[i];
            all++;
            if (target == YK_SAMPLER_NO_TARGET) {
                continue;
            }
            chosen++;
            places[i - 1]++;
            masked += token == MASK;
            kept += token == target;
            assert_true(token == MASK || (token >= SPECIALS && token < VOCABULARY));
            assert_int_not_equal(token, SPECIAL_INSIDE);
            low += token != MASK && token != target && token < VOCABULARY / 2;
        }
    }
    const int64_t random = chosen - masked - kept;
    assert_part(chosen, all, 0.15);
    assert_part(masked, chosen, 0.8);
    /* Of 993 that may come, one is the token itself. */
    assert_part(kept, chosen, 0.1 + 0.1 / 993);
    assert_part(random, chosen, 0.1 - 0.1 / 993);
    /* 6 … 499 without 100, 493 of 993. */
    assert_part(low, random, 493.0 / 993);
    for (int i = 0; i < 100; i++) {
        assert_part(places[i], 3000, 0.15);
    }
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

static void special_tokens_are_never_chosen(void **state)
{
    (void)state;
    uint16_t tokens[90];
    for (int i = 0; i < 90; i++) {
        tokens[i] = (uint16_t)(i % 3 == 0 ? 300 : i % 3 == 1 ? SPECIAL_INSIDE : SEPARATOR);
    }
    struct yk_corpus *corpus = open_tokens(tokens, 90);
    const struct yk_masked_sampler_request request = request_of(corpus, 32);
    struct yk_sampler *sampler = create(&request, false);
    int64_t chosen = 0;
    for (int64_t n = 0; n < 3000; n++) {
        struct fetched fetched;
        const struct yk_sample_slice *slice = fetch(sampler, n, 1, &fetched);
        for (int64_t i = 0; i < 32; i++) {
            assert_true(slice->targets[i] == YK_SAMPLER_NO_TARGET || slice->targets[i] == 300);
        }
        assert_true(slice->loss_targets > 0);
        chosen += slice->loss_targets;
    }
    /* Of 10 in each sample 1.5, and one more where none was chosen. */
    const double none = pow(0.85, 10);
    assert_true(fabs((double)chosen / 3000 - 1.5 - none) < 0.1);
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

static void a_window_of_special_tokens_has_no_target(void **state)
{
    (void)state;
    const uint16_t tokens[] = {SEPARATOR, SEPARATOR, SPECIAL_INSIDE};
    struct yk_corpus *corpus = open_tokens(tokens, 3);
    const struct yk_masked_sampler_request request = request_of(corpus, 5);
    struct yk_sampler *sampler = create(&request, true);
    struct fetched fetched;
    assert_int_equal(fetch(sampler, 0, 1, &fetched)->loss_targets, 0);
    assert_int_equal(fetched.tokens[3], SPECIAL_INSIDE);
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

/* Where no token was chosen, one is, and each as often as the others. */
static void a_short_window_has_a_target(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(3);
    const struct yk_masked_sampler_request request = request_of(corpus, 5);
    struct yk_sampler *sampler = create(&request, false);
    int64_t places[3] = {0};
    int64_t masked = 0;
    int64_t all = 0;
    for (int64_t n = 0; n < 6000; n++) {
        struct fetched fetched;
        check_window(fetch(sampler, n, 1, &fetched));
        for (int64_t i = 0; i < 3; i++) {
            const bool chosen = fetched.targets[i + 1] != YK_SAMPLER_NO_TARGET;
            places[i] += chosen;
            masked += chosen && fetched.tokens[i + 1] == MASK;
            all += chosen;
        }
    }
    /* 0.15, and a third of the chance that none was chosen. */
    const double part = 0.15 + pow(0.85, 3) / 3;
    for (int i = 0; i < 3; i++) {
        assert_part(places[i], 6000, part);
    }
    assert_part(masked, all, 0.8);
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

static void each_epoch_and_seed_masks_anew(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(100);
    struct yk_masked_sampler_request request = request_of(corpus, 102); /* one window, one phase */
    struct yk_sampler *one = create(&request, false);
    request.options.seed = 4;
    struct yk_sampler *two = create(&request, false);
    for (int64_t n = 0; n < 50; n++) {
        struct fetched first;
        struct fetched second;
        fetch(one, n, 1, &first);
        fetch(one, n + 1, 1, &second);
        assert_memory_not_equal(first.targets, second.targets, 102 * sizeof(int32_t));
        fetch(two, n, 1, &second);
        assert_memory_not_equal(first.targets, second.targets, 102 * sizeof(int32_t));
    }
    yk_sampler_destroy(one);
    yk_sampler_destroy(two);
    yk_corpus_close(corpus);
}

static void a_sample_follows_from_its_number_alone(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(200);
    const struct yk_masked_sampler_request request = request_of(corpus, 20);
    struct yk_sampler *sampler = create(&request, false);
    for (int64_t n = 100; n >= 0; n -= 3) {
        struct yk_sampler *resumed = create(&request, false);
        struct fetched several;
        struct fetched one;
        fetch(sampler, n, 4, &several);
        fetch(resumed, n + 2, 1, &one);
        assert_memory_equal(several.tokens + 40, one.tokens, 20 * sizeof(int32_t));
        assert_memory_equal(several.targets + 40, one.targets, 20 * sizeof(int32_t));
        yk_sampler_destroy(resumed);
    }
    yk_sampler_destroy(sampler);
    yk_corpus_close(corpus);
}

static void in_evaluation_every_token_comes_once_and_is_masked_alike(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(61);
    for (int64_t count = 1; count <= 60; count += 3) {
        struct yk_masked_sampler_request request = request_of(corpus, 12);
        request.range.first = 1;
        request.range.count = count;
        struct yk_sampler *sampler = create(&request, true);
        request.options.seed++;
        struct yk_sampler *other = create(&request, true);
        int64_t next = 1;
        for (int64_t n = 0; n < sampler->epoch_units; n++) {
            struct fetched first;
            struct fetched second;
            assert_int_equal(check_window(fetch(sampler, n, 1, &first)), next);
            next += first.lengths[0] - 2;
            fetch(other, n + other->epoch_units, 1, &second);
            assert_memory_equal(first.tokens, second.tokens, 12 * sizeof(int32_t));
            assert_memory_equal(first.targets, second.targets, 12 * sizeof(int32_t));
        }
        assert_int_equal(next, 1 + count);
        yk_sampler_destroy(sampler);
        yk_sampler_destroy(other);
    }
    yk_corpus_close(corpus);
}

static void what_cannot_be_sampled_is_refused(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_counting(7);
    struct yk_masked_sampler_request request = request_of(corpus, 10);
    struct yk_sampler *sampler = NULL;
    assert_fails(yk_masked_sampler_create(&request, &sampler), YK_ERROR_INPUT,
                 "there are 7 tokens to train on, but a context of 10 needs at least 8; use a "
                 "longer text or a shorter context");
    request.options.sequence = 2;
    assert_fails(yk_masked_sampler_create(&request, &sampler), YK_ERROR_INPUT,
                 "a context of 2 tokens; it must be at least 3, of which two frame the text");
    request.options.sequence = 10;
    request.range.count = 0;
    request.options.sequential = true;
    assert_fails(yk_masked_sampler_create(&request, &sampler), YK_ERROR_INPUT,
                 "there are 0 tokens to evaluate on, but a context of 10 needs at least 1; use a "
                 "longer text or a shorter context");
    assert_null(sampler);
    yk_corpus_close(corpus);
}

static void tokens_are_found_in_a_tokenizer(void **state)
{
    (void)state;
    static const char *const bert[] = {"[MASK]", "[PAD]", "[SEP]", "[CLS]", NULL};
    static const char *const maskless[] = {"[PAD]", "[SEP]", "[CLS]", NULL};
    struct yk_tokenizer *tokenizer = support_word_tokenizer(bert, 30, NULL);
    struct yk_masked_sampler_token_ids tokens = {0};
    assert_ok(yk_masked_sampler_find_token_ids(tokenizer, &tokens));
    assert_int_equal(tokens.mask_id, 1);
    assert_int_equal(tokens.pad_id, 2);
    assert_int_equal(tokens.separator_id, 3);
    assert_int_equal(tokens.class_id, 4);
    assert_int_equal(tokens.count, 35);
    assert_int_equal(tokens.special_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tokens.special[i], i);
    }
    yk_tokenizer_destroy(tokenizer);
    tokenizer = support_word_tokenizer(maskless, 30, NULL);
    assert_fails(yk_masked_sampler_find_token_ids(tokenizer, &tokens), YK_ERROR_INPUT,
                 "the tokenizer has no token [MASK], which masked training needs; use one that was "
                 "made for BERT");
    yk_tokenizer_destroy(tokenizer);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(every_window_comes_once_an_epoch),
        in_scratch(a_part_is_chosen_and_most_of_that_is_masked),
        in_scratch(special_tokens_are_never_chosen),
        in_scratch(a_window_of_special_tokens_has_no_target),
        in_scratch(a_short_window_has_a_target),
        in_scratch(each_epoch_and_seed_masks_anew),
        in_scratch(a_sample_follows_from_its_number_alone),
        in_scratch(in_evaluation_every_token_comes_once_and_is_masked_alike),
        in_scratch(what_cannot_be_sampled_is_refused),
        cmocka_unit_test(tokens_are_found_in_a_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
