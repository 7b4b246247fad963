#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "base/random.h"
#include "data/instruction_sampler.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNT = 150,
    T = 32,
    MOST_WINDOWS = COUNT,
    BEGIN = 1,
    END = 2,
    PAD = 3,
    FIRST_WORD = 4,
};

static const char *const names[] = {"<s>", "</s>", "<pad>", NULL};

/* Instruction i is <s>, the word i, words 0 … and </s>: `prompts[i]` words of a prompt, the first
 * of them the number, and `completions[i]` of a completion, which count down to 0. */
static struct {
    struct yk_tokenizer *tokenizer;
    struct yk_instructions *instructions;
    int64_t prompts[COUNT];
    int64_t completions[COUNT];
} fixture;

static void add_words(struct yk_text *text, int64_t count)
{
    for (int64_t i = count - 1; i >= 0; i--) {
        yk_text_addf(text, "w%d ", (int)i);
    }
}

static int open_fixture(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(8);
    struct yk_text text = {0};
    fixture.tokenizer = support_word_tokenizer(names, COUNT, "<s>");
    for (int i = 0; i < COUNT; i++) {
        fixture.prompts[i] = 1 + yk_random_below(&random, 10);
        fixture.completions[i] = 1 + yk_random_below(&random, T - 12);
        if (i == 7) { /* one that fills a window: <s>, 10 + 20 words, </s> */
            fixture.prompts[i] = 10;
            fixture.completions[i] = T - 12;
        }
        yk_text_addf(&text, "{\"prompt\": \"w%d ", i);
        add_words(&text, fixture.prompts[i] - 1);
        yk_text_add(&text, "\", \"completion\": \"");
        add_words(&text, fixture.completions[i]);
        yk_text_add(&text, "\"}\n");
    }
    const struct yk_instructions_request request = {
        .path = "a.jsonl", .tokenizer = fixture.tokenizer, .longest = T};
    assert_ok(
        yk_instructions_parse(yk_text_chars(&text), text.length, &request, &fixture.instructions));
    yk_text_free(&text);
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    yk_instructions_close(fixture.instructions);
    yk_tokenizer_destroy(fixture.tokenizer);
    return 0;
}

static struct yk_sampler *create(struct yk_sampler_options sampling)
{
    struct yk_sampler *sampler = NULL;
    sampling.sequence = T;
    assert_ok(yk_instruction_sampler_create(fixture.instructions, &sampling, &sampler));
    assert_int_equal(sampler->sequence, T);
    assert_int_equal(sampler->max_slice_tokens, 0);
    return sampler;
}

/* Room for two samples. */
struct fetched {
    struct yk_sample_slice slice;
    int32_t tokens[2 * T];
    int32_t targets[2 * T];
    int32_t lengths[2];
};

static const struct yk_sample_slice *fetch(const struct yk_sampler *sampler, int64_t first,
                                           int64_t count, struct fetched *out)
{
    out->slice = (struct yk_sample_slice){
        .tokens = out->tokens, .targets = out->targets, .lengths = out->lengths};
    assert_ok(yk_sampler_fetch_slice(sampler, first, count, &out->slice));
    assert_int_equal(out->slice.samples, count);
    assert_int_equal(out->slice.sequence, T);
    assert_int_equal(out->slice.target_sequence, 0);
    assert_int_equal(out->slice.first_sample, first);
    return &out->slice;
}

/* Checks the instruction at the beginning of a row, by what it was made of; returns its number. */
static int check_instruction(const int32_t *tokens, const int32_t *targets, int64_t *count)
{
    const int number = tokens[1] - FIRST_WORD;
    const int64_t prompt = 1 + fixture.prompts[number];
    const int64_t all = prompt + fixture.completions[number] + 1;
    assert_int_equal(tokens[0], BEGIN);
    for (int64_t i = 2; i < prompt; i++) {
        assert_int_equal(tokens[i], FIRST_WORD + prompt - 1 - i);
    }
    for (int64_t i = prompt; i < all - 1; i++) {
        assert_int_equal(tokens[i], FIRST_WORD + all - 2 - i);
    }
    assert_int_equal(tokens[all - 1], END);
    for (int64_t i = 0; i < all; i++) {
        const bool bears = i + 1 >= prompt && i + 1 < all;
        assert_int_equal(targets[i], bears ? tokens[i + 1] : YK_SAMPLER_NO_TARGET);
    }
    *count = all;
    return number;
}

/* Checks all of a sample, and marks what was in it; returns how many instructions. */
static int check_sample(const struct yk_sample_slice *slice, bool *visited)
{
    int64_t at = 0;
    int64_t counted = 0;
    int instructions = 0;
    while (at < T && slice->tokens[at] != PAD) {
        int64_t count = 0;
        const int number = check_instruction(slice->tokens + at, slice->targets + at, &count);
        assert_false(visited[number]);
        visited[number] = true;
        at += count;
        counted += fixture.completions[number] + 1;
        instructions++;
    }
    assert_true(at <= T);
    assert_int_equal(slice->lengths[0], at);
    assert_int_equal(slice->token_count, at);
    assert_int_equal(slice->loss_targets, counted);
    for (; at < T; at++) {
        assert_int_equal(slice->tokens[at], PAD);
        assert_int_equal(slice->targets[at], YK_SAMPLER_NO_TARGET);
    }
    return instructions;
}

static void every_instruction_comes_once_an_epoch(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        struct yk_sampler *sampler =
            create((struct yk_sampler_options){.seed = 4, .packed = packed > 0});
        for (int64_t epoch = 0; epoch < 3; epoch++) {
            bool visited[COUNT] = {false};
            int count = 0;
            struct fetched fetched;
            for (int64_t n = 0; n < sampler->epoch_units; n++) {
                const int found = check_sample(
                    fetch(sampler, epoch * sampler->epoch_units + n, 1, &fetched), visited);
                assert_true(found > 0 && (packed || found == 1));
                count += found;
            }
            assert_int_equal(count, COUNT);
        }
        yk_sampler_destroy(sampler);
    }
}

static void packing_leaves_little_to_fill(void **state)
{
    (void)state;
    struct yk_sampler *one = create((struct yk_sampler_options){0});
    struct yk_sampler *packed = create((struct yk_sampler_options){.packed = true});
    int64_t tokens = 0;
    for (int i = 0; i < COUNT; i++) {
        tokens += 2 + fixture.prompts[i] + fixture.completions[i];
    }
    assert_int_equal(one->epoch_units, COUNT);
    /* At most 11/9 of the fewest possible, and one. */
    assert_true(packed->epoch_units <= (tokens + T - 1) / T * 11 / 9 + 1);
    yk_sampler_destroy(one);
    yk_sampler_destroy(packed);
}

static void orders_differ_between_epochs_and_seeds(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        struct yk_sampler *one =
            create((struct yk_sampler_options){.seed = 1, .packed = packed > 0});
        struct yk_sampler *two =
            create((struct yk_sampler_options){.seed = 2, .packed = packed > 0});
        const int64_t windows = one->epoch_units;
        int same_epoch = 0;
        int same_seed = 0;
        for (int64_t n = 0; n < windows; n++) {
            struct fetched first;
            struct fetched second;
            fetch(one, n, 1, &first);
            fetch(one, windows + n, 1, &second);
            same_epoch += memcmp(first.tokens, second.tokens, T * sizeof(int32_t)) == 0;
            fetch(two, n, 1, &second);
            same_seed += memcmp(first.tokens, second.tokens, T * sizeof(int32_t)) == 0;
        }
        assert_true(same_epoch < 10); /* 1 expected */
        assert_true(same_seed < 10);
        yk_sampler_destroy(one);
        yk_sampler_destroy(two);
    }
}

static void a_sample_follows_from_its_number_alone(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        const struct yk_sampler_options sampling = {.seed = 6, .packed = packed > 0};
        struct yk_sampler *sampler = create(sampling);
        for (int64_t n = 3 * sampler->epoch_units; n > 0; n -= 7) {
            struct yk_sampler *resumed = create(sampling);
            struct fetched pair;
            struct fetched one;
            fetch(sampler, n, 2, &pair);
            fetch(resumed, n + 1, 1, &one);
            assert_memory_equal(pair.tokens + T, one.tokens, sizeof one.tokens / 2);
            assert_memory_equal(pair.targets + T, one.targets, sizeof one.targets / 2);
            assert_int_equal(pair.lengths[1], one.lengths[0]);
            yk_sampler_destroy(resumed);
        }
        yk_sampler_destroy(sampler);
    }
}

static void in_evaluation_instructions_come_in_order(void **state)
{
    (void)state;
    struct yk_sampler *sampler = create((struct yk_sampler_options){.sequential = true});
    for (int64_t n = 0; n < INT64_C(2) * COUNT; n++) {
        struct fetched fetched;
        fetch(sampler, n, 1, &fetched);
        assert_int_equal(fetched.tokens[1] - FIRST_WORD, n % COUNT);
    }
    yk_sampler_destroy(sampler);
}

static void a_context_shorter_than_the_longest_is_refused(void **state)
{
    (void)state;
    struct yk_sampler *sampler = NULL;
    struct yk_sampler_options sampling = {.sequence = 30, .packed = true};
    assert_fails(yk_instruction_sampler_create(fixture.instructions, &sampling, &sampler),
                 YK_ERROR_INPUT,
                 "a context of 30 tokens, but the longest instruction has 32; use a longer "
                 "context, or leave longer instructions out");
    assert_null(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_comes_once_an_epoch),
        cmocka_unit_test(packing_leaves_little_to_fill),
        cmocka_unit_test(orders_differ_between_epochs_and_seeds),
        cmocka_unit_test(a_sample_follows_from_its_number_alone),
        cmocka_unit_test(in_evaluation_instructions_come_in_order),
        cmocka_unit_test(a_context_shorter_than_the_longest_is_refused),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
