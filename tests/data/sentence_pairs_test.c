#include "support/files/scratch.h"
#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "data/sentence_pairs.h"

#include <string.h>

/* [UNK] 0, <pad> 1, </s> 2, <s> 3, w0 4, w1 5 … */
static const char *const names[] = {"<pad>", "</s>", "<s>", NULL};
/* [UNK] 0, </s> 1, w0 2 …: another, without padding. */
static const char *const other_names[] = {"</s>", NULL};

static struct yk_tokenizer *words;

static int open_words(void **state)
{
    words = support_word_tokenizer(names, 20, NULL);
    return support_scratch_make(state);
}

static int close_words(void **state)
{
    yk_tokenizer_destroy(words);
    return support_scratch_drop(state);
}

static struct yk_sentence_pairs_request request_of(const char *source, const char *target)
{
    return (struct yk_sentence_pairs_request){
        .source_path = support_scratch_write_text("a.de", source),
        .target_path = support_scratch_write_text("a.en", target),
        .source_tokenizer = words,
        .target_tokenizer = words,
        .longest = 6,
        .start_id = 1,
    };
}

static struct yk_sentence_pairs *open_list(const struct yk_sentence_pairs_request *request)
{
    struct yk_sentence_pairs *pairs = NULL;
    assert_ok(yk_sentence_pairs_open(request, &pairs));
    return pairs;
}

#define assert_ids(given, given_count, ...)                                                        \
    do {                                                                                           \
        const int32_t expected_[] = {__VA_ARGS__};                                                 \
        assert_int_equal((given_count), sizeof expected_ / sizeof expected_[0]);                   \
        assert_memory_equal((given), expected_, sizeof expected_);                                 \
    } while (0)

static void both_sides_are_the_tokens_of_their_line_and_an_end(void **state)
{
    (void)state;
    const struct yk_sentence_pairs_request request =
        request_of("w0 w1\nw2\n", "w3 w4 w5\r\nw9 what w0");
    struct yk_sentence_pairs *pairs = open_list(&request);
    assert_int_equal(pairs->count, 2);
    const struct yk_sentence_pair first = yk_sentence_pairs_at(pairs, 0);
    assert_ids(first.source, first.source_count, 4, 5, 2);
    assert_ids(first.target, first.target_count, 7, 8, 9, 2);
    assert_int_equal(first.line, 1);
    const struct yk_sentence_pair second = yk_sentence_pairs_at(pairs, 1);
    assert_ids(second.source, second.source_count, 6, 2);
    assert_ids(second.target, second.target_count, 13, 0, 4, 2);
    assert_int_equal(pairs->start_id, 1);
    assert_int_equal(pairs->source_padding_id, 1);
    yk_sentence_pairs_close(pairs);
}

static void each_side_may_have_a_tokenizer_of_its_own(void **state)
{
    (void)state;
    struct yk_tokenizer *other = support_word_tokenizer(other_names, 20, "</s>");
    struct yk_sentence_pairs_request request = request_of("w0 w1\n", "w0 w1\n");
    request.target_tokenizer = other;
    struct yk_sentence_pairs *pairs = open_list(&request);
    const struct yk_sentence_pair pair = yk_sentence_pairs_at(pairs, 0);
    assert_ids(pair.source, pair.source_count, 4, 5, 2);
    assert_ids(pair.target, pair.target_count, 2, 3, 1);
    assert_int_equal(pairs->source_padding_id, 1);
    assert_int_equal(pairs->target_padding_id, 0);
    yk_sentence_pairs_close(pairs);
    yk_tokenizer_destroy(other);
}

static void totals_are_of_both_sides_with_their_ends(void **state)
{
    (void)state;
    struct yk_text text = {0};
    struct yk_sentence_pairs_request request =
        request_of("w0 w1\nw2\n\nw0\n", "w3\nw9 w1 w0\nw1\nw0\n");
    request.skip_faulty = true;
    struct yk_sentence_pairs *pairs = open_list(&request);
    const struct yk_sentence_pair_totals totals = yk_sentence_pairs_compute_totals(pairs);
    assert_int_equal(totals.pairs, 3);
    assert_int_equal(totals.skipped, 1);
    assert_int_equal(totals.source_tokens, 3 + 2 + 2);
    assert_int_equal(totals.target_tokens, 2 + 4 + 2);
    assert_int_equal(totals.longest_source, 3);
    assert_int_equal(totals.longest_target, 4);
    yk_sentence_pairs_describe(pairs, &text);
    assert_string_equal(yk_text_chars(&text), "3 pairs, 7 + 8 tokens, 1 left out");
    yk_text_free(&text);
    yk_sentence_pairs_close(pairs);
}

static void faulty_lines_are_refused_by_their_number(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        const char *target;
        const char *message; /* behind the path */
    } cases[] = {
        {"w0\nw1\n", "w0\n",
         "a.de has 2 lines, but %s/a.en has 1; each line of one must translate the same line of "
         "the "
         "other"},
        {"w0\n \t\nw0\n", "w0\nw0\nw0\n",
         "a.de:2: an empty line; write its sentence, or leave such lines out by --faulty skip"},
        {"w0\nw0\nw0\n", "w0\nw0\n\n",
         "a.en:3: an empty line; write its sentence, or leave such lines out by --faulty skip"},
        {"w0 w1 w2 w3 w4\nw0 w1 w2 w3 w4 w5\n", "w0\nw0\n",
         "a.de:2: 7 tokens, but there may be 6 at most; shorten it, or leave such lines out by "
         "--faulty skip"},
        {"w0\nw1\xff\n", "w0\nw0\n", "a.de:2:3: byte 0xff is not UTF-8; convert the text first"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_sentence_pairs *pairs = NULL;
        struct yk_text message = {0};
        const struct yk_sentence_pairs_request request =
            request_of(cases[i].source, cases[i].target);
        const char *folder = support_scratch_folder();
        const char *second = strstr(cases[i].message, "%s");
        yk_text_addf(&message, "%s/", folder);
        if (second) {
            yk_text_add_bytes(&message, cases[i].message, (size_t)(second - cases[i].message));
            yk_text_addf(&message, "%s%s", folder, second + 2);
        } else {
            yk_text_add(&message, cases[i].message);
        }
        assert_fails(yk_sentence_pairs_open(&request, &pairs), YK_ERROR_INPUT,
                     yk_text_chars(&message));
        assert_null(pairs);
        yk_text_free(&message);
    }
}

static void faulty_pairs_are_left_out_where_it_is_wished(void **state)
{
    (void)state;
    struct yk_sentence_pairs_request request = request_of("w0\n\nw2\nw3 w3 w3 w3 w3 w3\nw4\nw5\n",
                                                          "w0\nw1\n  \nw3\nw4 w4 w4 w4 w4 w4\nw5");
    request.skip_faulty = true;
    struct yk_sentence_pairs *pairs = open_list(&request);
    assert_int_equal(pairs->count, 2);
    assert_int_equal(yk_sentence_pairs_compute_totals(pairs).skipped, 4);
    const struct yk_sentence_pair last = yk_sentence_pairs_at(pairs, 1);
    assert_ids(last.source, last.source_count, 9, 2);
    assert_ids(last.target, last.target_count, 9, 2);
    assert_int_equal(last.line, 6);
    yk_sentence_pairs_close(pairs);
}

static void a_list_with_no_pair_is_refused(void **state)
{
    (void)state;
    struct yk_sentence_pairs *pairs = NULL;
    struct yk_text message = {0};
    struct yk_sentence_pairs_request request = request_of("\n\n", "w0\nw0\n");
    request.skip_faulty = true;
    yk_text_addf(&message, "%s and %s hold no pair to learn from: of 2 lines, 2 are faulty",
                 request.source_path, request.target_path);
    assert_fails(yk_sentence_pairs_open(&request, &pairs), YK_ERROR_INPUT, yk_text_chars(&message));
    yk_text_free(&message);
    request = request_of("", "");
    yk_text_addf(&message, "%s and %s hold no pair to learn from: of 0 lines, 0 are faulty",
                 request.source_path, request.target_path);
    assert_fails(yk_sentence_pairs_open(&request, &pairs), YK_ERROR_INPUT, yk_text_chars(&message));
    yk_text_free(&message);
    yk_sentence_pairs_close(NULL);
}

static void a_part_with_no_pair_is_named_by_its_lines(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        double from;
        double until;
        const char *what;
    } cases[] = {
        {"\n\n\nw0\n", 0, 0.75, "learn from in lines 1 to 3 of 4: 3 are faulty"},
        {"w0\nw0\n\n\n", 0.5, 0, "test with in lines 3 to 4 of 4: 2 are faulty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_sentence_pairs *pairs = NULL;
        struct yk_text message = {0};
        struct yk_sentence_pairs_request request = request_of(cases[i].source, "w0\nw0\nw0\nw0\n");
        request.skip_faulty = true;
        request.from = cases[i].from;
        request.until = cases[i].until;
        yk_text_addf(&message, "%s and %s hold no pair to %s", request.source_path,
                     request.target_path, cases[i].what);
        assert_fails(yk_sentence_pairs_open(&request, &pairs), YK_ERROR_INPUT,
                     yk_text_chars(&message));
        assert_null(pairs);
        yk_text_free(&message);
    }
}

/* Characters have no end token. */
static void a_tokenizer_with_no_end_is_refused(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    struct yk_tokenizer *endless = support_word_tokenizer(none, 3, NULL);
    struct yk_sentence_pairs *pairs = NULL;
    struct yk_text message = {0};
    struct yk_sentence_pairs_request request = request_of("w0\n", "w0\n");
    request.target_tokenizer = endless;
    yk_text_addf(&message,
                 "%s: the tokenizer has no token that ends a sentence, such as \"</s>\"; use one "
                 "that has",
                 request.target_path);
    assert_fails(yk_sentence_pairs_open(&request, &pairs), YK_ERROR_INPUT, yk_text_chars(&message));
    yk_text_free(&message);
    yk_tokenizer_destroy(endless);
}

#define in_scratch(test) cmocka_unit_test_setup_teardown(test, open_words, close_words)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(both_sides_are_the_tokens_of_their_line_and_an_end),
        in_scratch(each_side_may_have_a_tokenizer_of_its_own),
        in_scratch(totals_are_of_both_sides_with_their_ends),
        in_scratch(faulty_lines_are_refused_by_their_number),
        in_scratch(faulty_pairs_are_left_out_where_it_is_wished),
        in_scratch(a_list_with_no_pair_is_refused),
        in_scratch(a_part_with_no_pair_is_named_by_its_lines),
        in_scratch(a_tokenizer_with_no_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
