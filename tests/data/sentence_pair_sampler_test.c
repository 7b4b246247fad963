#include "support/files/scratch.h"
#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "base/random.h"
#include "data/sampler.h"
#include "data/sentence_pairs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIRS = 500,
    MAX = 40,    /* tokens of a side */
    ROWS = 1024, /* of any piece of these tests */
    PAD = 1,
    END = 2,
    START = 3,
    FIRST_WORD = 4,
};

static const char *const names[] = {"<pad>", "</s>", "<s>", NULL};

/* A list of pairs whose first words, on both sides, are the number of the pair, and whose lengths
 * are drawn; pair i has source_lengths[i] and target_lengths[i] tokens. */
struct fixture {
    struct yk_tokenizer *tokenizer;
    struct yk_sentence_pairs *pairs;
    int64_t source_lengths[PAIRS];
    int64_t target_lengths[PAIRS];
};

static int64_t write_side(struct yk_text *text, int number, int64_t length)
{
    yk_text_addf(text, "w%d", number);
    for (int64_t i = 2; i < length; i++) {
        yk_text_addf(text, " w%d", (int)i);
    }
    yk_text_add(text, "\n");
    return length;
}

static struct fixture *open_pairs(int count)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct yk_random random = yk_random_from_seed(11);
    struct yk_text source = {0};
    struct yk_text target = {0};
    assert_non_null(fixture);
    for (int i = 0; i < count; i++) {
        const int64_t length = 2 + yk_random_below(&random, 24);
        const int64_t other = length + yk_random_below(&random, 9) - 4;
        fixture->source_lengths[i] = write_side(&source, i, length);
        fixture->target_lengths[i] = write_side(&target, i, other < 2 ? 2 : other);
    }
    fixture->tokenizer = support_word_tokenizer(names, PAIRS, NULL);
    const struct yk_sentence_pairs_request request = {
        .source_path = support_scratch_write_text("a.de", yk_text_chars(&source)),
        .target_path = support_scratch_write_text("a.en", yk_text_chars(&target)),
        .source_tokenizer = fixture->tokenizer,
        .target_tokenizer = fixture->tokenizer,
        .longest = MAX,
        .start_id = START,
    };
    assert_ok(yk_sentence_pairs_open(&request, &fixture->pairs));
    yk_text_free(&source);
    yk_text_free(&target);
    return fixture;
}

static void close_pairs(struct fixture *fixture)
{
    yk_sentence_pairs_close(fixture->pairs);
    yk_tokenizer_destroy(fixture->tokenizer);
    free(fixture);
}

/* Room for a piece. */
struct fetched {
    struct yk_sample_slice slice;
    int32_t tokens[ROWS];
    int32_t lengths[ROWS];
    int32_t target_tokens[ROWS];
    int32_t targets[ROWS];
};

static const struct yk_sample_slice *fetch(const struct yk_sampler *sampler, int64_t number,
                                           struct fetched *out)
{
    out->slice = (struct yk_sample_slice){
        .tokens = out->tokens,
        .lengths = out->lengths,
        .target_tokens = out->target_tokens,
        .targets = out->targets,
    };
    assert_ok(yk_sampler_fetch_slice(sampler, number, 1, &out->slice));
    return &out->slice;
}

static int pair_of(const struct yk_sample_slice *slice, int64_t sample)
{
    return slice->tokens[sample * slice->sequence] - FIRST_WORD;
}

/* Checks one pair of a piece, all tokens of it. */
static void check_pair(const struct fixture *fixture, const struct yk_sample_slice *slice,
                       int64_t sample)
{
    const int number = pair_of(slice, sample);
    const int64_t T = slice->sequence;
    const int64_t S = slice->target_sequence;
    const int64_t source = fixture->source_lengths[number];
    const int64_t target = fixture->target_lengths[number];
    const int32_t *tokens = slice->tokens + sample * T;
    const int32_t *target_tokens = slice->target_tokens + sample * S;
    const int32_t *targets = slice->targets + sample * S;
    assert_int_equal(slice->lengths[sample], source);
    for (int64_t i = 1; i < T; i++) {
        assert_int_equal(tokens[i], i < source - 1    ? FIRST_WORD + i + 1
                                    : i == source - 1 ? END
                                                      : PAD);
    }
    assert_int_equal(target_tokens[0], START);
    assert_int_equal(targets[0], FIRST_WORD + number);
    for (int64_t i = 1; i < S; i++) {
        const int32_t word = i == 1 ? FIRST_WORD + number : FIRST_WORD + (int32_t)i;
        assert_int_equal(target_tokens[i], i < target ? word : PAD);
        assert_int_equal(targets[i], i < target - 1    ? FIRST_WORD + i + 1
                                     : i == target - 1 ? END
                                                       : YK_SAMPLER_NO_TARGET);
    }
}

/* T and S are those of the longest, and what is counted is there. */
static void check_slice(const struct fixture *fixture, const struct yk_sample_slice *slice,
                        int64_t rows)
{
    int64_t T = 0;
    int64_t S = 0;
    int64_t sources = 0;
    int64_t targets = 0;
    assert_true(slice->samples > 0);
    for (int64_t i = 0; i < slice->samples; i++) {
        const int number = pair_of(slice, i);
        const int64_t source = fixture->source_lengths[number];
        const int64_t target = fixture->target_lengths[number];
        T = source > T ? source : T;
        S = target > S ? target : S;
        sources += source;
        targets += target;
        check_pair(fixture, slice, i);
    }
    assert_int_equal(slice->sequence, T);
    assert_int_equal(slice->target_sequence, S);
    assert_true(slice->samples * T <= rows && slice->samples * S <= rows);
    assert_int_equal(slice->token_count, sources + targets);
    assert_int_equal(slice->loss_targets, targets);
}

static void every_pair_comes_once_an_epoch_in_slices_that_fit(void **state)
{
    (void)state;
    static const int64_t rows[] = {30, 64, 200, ROWS};
    struct fixture *fixture = open_pairs(PAIRS);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct yk_sampler *sampler = NULL;
        struct fetched fetched;
        assert_ok(yk_sentence_pair_sampler_create(
            fixture->pairs, &(struct yk_sampler_options){.slice_rows = rows[r], .seed = 5},
            &sampler));
        assert_int_equal(yk_sampler_max_slice_tokens(sampler, 1), rows[r]);
        for (int64_t epoch = 0; epoch < 3; epoch++) {
            bool visited[PAIRS] = {false};
            bool numbers[PAIRS] = {false};
            int64_t count = 0;
            for (int64_t n = 0; n < sampler->epoch_units; n++) {
                const struct yk_sample_slice *slice =
                    fetch(sampler, epoch * sampler->epoch_units + n, &fetched);
                check_slice(fixture, slice, rows[r]);
                for (int64_t i = 0; i < slice->samples; i++) {
                    const int64_t number = slice->first_sample + i - epoch * PAIRS;
                    assert_in_range(number, 0, PAIRS - 1);
                    assert_false(numbers[number]);
                    numbers[number] = true;
                    assert_false(visited[pair_of(slice, i)]);
                    visited[pair_of(slice, i)] = true;
                }
                count += slice->samples;
            }
            assert_int_equal(count, PAIRS);
        }
        yk_sampler_destroy(sampler);
    }
    close_pairs(fixture);
}

/* A piece has nearly as many pairs as if there were nothing but the lengths in it. */
static void slices_are_full_but_for_few(void **state)
{
    (void)state;
    struct fixture *fixture = open_pairs(PAIRS);
    struct yk_sampler *sampler = NULL;
    struct fetched fetched;
    int64_t longer_sides = 0;
    int64_t rows = 0;
    int64_t present = 0;
    assert_ok(yk_sentence_pair_sampler_create(
        fixture->pairs, &(struct yk_sampler_options){.slice_rows = 256, .seed = 5}, &sampler));
    for (int i = 0; i < PAIRS; i++) {
        const int64_t source = fixture->source_lengths[i];
        const int64_t target = fixture->target_lengths[i];
        longer_sides += source > target ? source : target;
    }
    const int64_t min_slices = (longer_sides + 255) / 256;
    assert_in_range(sampler->epoch_units, min_slices, min_slices + min_slices / 6);
    for (int64_t n = 0; n < sampler->epoch_units; n++) {
        const struct yk_sample_slice *slice = fetch(sampler, n, &fetched);
        rows += slice->samples * (slice->sequence + slice->target_sequence);
        present += slice->token_count;
    }
    const double padding = 1 - (double)present / (double)rows;
    assert_true(padding > 0 && padding < 0.15);
    yk_sampler_destroy(sampler);
    close_pairs(fixture);
}

static void slices_and_order_differ_between_epochs_and_seeds(void **state)
{
    (void)state;
    struct fixture *fixture = open_pairs(PAIRS);
    struct yk_sampler *samplers[2] = {NULL};
    struct fetched one;
    struct fetched two;
    int same_pair = 0;
    int same_slice = 0;
    int same_neighbours = 0;
    assert_ok(yk_sentence_pair_sampler_create(
        fixture->pairs, &(struct yk_sampler_options){.slice_rows = 128, .seed = 1}, &samplers[0]));
    assert_ok(yk_sentence_pair_sampler_create(
        fixture->pairs, &(struct yk_sampler_options){.slice_rows = 128, .seed = 2}, &samplers[1]));
    const int64_t slices = samplers[0]->epoch_units;
    assert_int_equal(samplers[1]->epoch_units, slices);
    for (int64_t n = 0; n < slices; n++) {
        const struct yk_sample_slice *first = fetch(samplers[0], n, &one);
        const struct yk_sample_slice *next = fetch(samplers[0], slices + n, &two);
        same_slice += first->first_sample + PAIRS == next->first_sample;
        next = fetch(samplers[1], n, &two);
        same_pair += pair_of(first, 0) == pair_of(next, 0);
        /* The piece of the same places in the next epoch. */
        for (int64_t m = 0; m < slices; m++) {
            next = fetch(samplers[0], slices + m, &two);
            if (next->first_sample == first->first_sample + PAIRS) {
                same_neighbours += pair_of(first, 0) == pair_of(next, 0);
            }
        }
    }
    assert_true(slices > 40);
    assert_true(same_slice < 8); /* 1 expected */
    assert_true(same_pair < 8);
    assert_true(same_neighbours < slices / 2);
    yk_sampler_destroy(samplers[0]);
    yk_sampler_destroy(samplers[1]);
    close_pairs(fixture);
}

/* A resumed run and other ranks make a sampler of their own and begin somewhere. */
static void a_slice_follows_from_its_number_alone(void **state)
{
    (void)state;
    struct fixture *fixture = open_pairs(120);
    struct yk_sampler *first = NULL;
    struct yk_sampler *second = NULL;
    struct fetched one;
    struct fetched two;
    assert_ok(yk_sentence_pair_sampler_create(
        fixture->pairs, &(struct yk_sampler_options){.slice_rows = 100, .seed = 9}, &first));
    assert_ok(yk_sentence_pair_sampler_create(
        fixture->pairs, &(struct yk_sampler_options){.slice_rows = 100, .seed = 9}, &second));
    for (int64_t n = 0; n < 3 * first->epoch_units; n++) {
        fetch(first, n, &one);
    }
    for (int64_t n = 3 * first->epoch_units - 1; n >= 0; n -= 2) {
        const struct yk_sample_slice *a = fetch(first, n, &one);
        const struct yk_sample_slice *b = fetch(second, n, &two);
        assert_int_equal(a->samples, b->samples);
        assert_int_equal(a->first_sample, b->first_sample);
        for (int64_t i = 0; i < a->samples; i++) {
            assert_int_equal(pair_of(a, i), pair_of(b, i));
        }
    }
    yk_sampler_destroy(first);
    yk_sampler_destroy(second);
    close_pairs(fixture);
}

static void in_evaluation_pairs_come_by_length_then_number(void **state)
{
    (void)state;
    struct fixture *fixture = open_pairs(PAIRS);
    struct yk_sampler *sampler = NULL;
    struct fetched fetched;
    int64_t last = -1; /* length, then number */
    int64_t count = 0;
    assert_ok(yk_sentence_pair_sampler_create(
        fixture->pairs, &(struct yk_sampler_options){.slice_rows = 90, .sequential = true},
        &sampler));
    for (int64_t n = 0; n < sampler->epoch_units; n++) {
        const struct yk_sample_slice *slice = fetch(sampler, n, &fetched);
        check_slice(fixture, slice, 90);
        assert_int_equal(slice->first_sample, count);
        for (int64_t i = 0; i < slice->samples; i++) {
            const int number = pair_of(slice, i);
            const int64_t source = fixture->source_lengths[number];
            const int64_t target = fixture->target_lengths[number];
            const int64_t key = (source > target ? source : target) * PAIRS + number;
            assert_true(key > last);
            last = key;
        }
        count += slice->samples;
    }
    assert_int_equal(count, PAIRS);
    yk_sampler_destroy(sampler);
    close_pairs(fixture);
}

static void a_slice_too_small_for_the_longest_is_refused(void **state)
{
    (void)state;
    struct fixture *fixture = open_pairs(PAIRS);
    struct yk_sampler *sampler = NULL;
    struct yk_text message = {0};
    const struct yk_sentence_pair_totals totals = yk_sentence_pairs_compute_totals(fixture->pairs);
    const int64_t longest = totals.longest_target;
    assert_true(longest > totals.longest_source);
    yk_text_addf(&message,
                 "a micro-batch has room for %d tokens, but the longest sentence has %d; give it "
                 "more room, or leave longer sentences out",
                 (int)longest - 1, (int)longest);
    assert_fails(yk_sentence_pair_sampler_create(
                     fixture->pairs,
                     &(struct yk_sampler_options){.slice_rows = longest - 1, .seed = 0}, &sampler),
                 YK_ERROR_INPUT, yk_text_chars(&message));
    assert_ok(yk_sentence_pair_sampler_create(
        fixture->pairs, &(struct yk_sampler_options){.slice_rows = longest, .seed = 0}, &sampler));
    yk_sampler_destroy(sampler);
    yk_text_free(&message);
    close_pairs(fixture);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(every_pair_comes_once_an_epoch_in_slices_that_fit),
        in_scratch(slices_are_full_but_for_few),
        in_scratch(slices_and_order_differ_between_epochs_and_seeds),
        in_scratch(a_slice_follows_from_its_number_alone),
        in_scratch(in_evaluation_pairs_come_by_length_then_number),
        in_scratch(a_slice_too_small_for_the_longest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
