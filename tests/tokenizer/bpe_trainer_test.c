#include "support/support.h"

#include "base/text.h"
#include "tokenizer/formats/bpe_file.h"
#include "tokenizer/pre_tokenizer.h"

#include <string.h>

/* clang-format off */
struct sample {
    const char *style;
    int32_t token_count;
    int32_t min_times;
    const char *const *specials;
    int32_t special_count;
    const char *text;
    const char *tokens; /* by id, one a line */
    const char *merges; /* one a line */
};

/* Hugging Face's BpeTrainer. */
static const struct sample samples[] = {
#include "bpe_trainer_cases.inc"
};
/* clang-format on */

static yk_status count_word(void *counts, const struct yk_aligned_segment *word)
{
    return yk_word_counts_add(counts, word->bytes, word->length);
}

static struct yk_word_counts *count_words(const char *style, const char *text)
{
    struct yk_json *json = NULL;
    struct yk_pre_tokenizer *words = NULL;
    struct yk_pre_tokenizer_workspace workspace = {0};
    struct yk_word_counts *counts = NULL;
    const struct yk_aligned_segment segment = {.bytes = text, .length = strlen(text)};
    assert_ok(yk_bpe_file_create_pre_tokenizer(yk_bpe_file_find_preset(style), &json));
    assert_ok(yk_pre_tokenizer_from_json(json, YK_BYTE_LEVEL_WORDS_AS_BYTES, &words));
    assert_ok(yk_regex_workspace_create(&workspace.regex));
    assert_ok(yk_word_counts_create(&counts));
    assert_ok(yk_pre_tokenizer_split(words, &workspace, &segment, count_word, counts));
    yk_regex_workspace_destroy(workspace.regex);
    yk_pre_tokenizer_workspace_free(&workspace);
    yk_pre_tokenizer_destroy(words);
    yk_json_destroy(json);
    return counts;
}

static const char *token_of(const struct yk_bpe_trainer_result *result, int32_t id)
{
    size_t length = 0;
    return yk_token_map_get_token(result->tokens, id, &length);
}

static void check(const struct sample *sample)
{
    struct yk_word_counts *counts = count_words(sample->style, sample->text);
    const struct yk_bpe_trainer_options lesson = {
        .words = counts,
        .specials = sample->specials,
        .special_count = sample->special_count,
        .token_count = sample->token_count,
        .min_times = sample->min_times,
    };
    struct yk_bpe_trainer_result result = {0};
    struct yk_text tokens = {0};
    struct yk_text merges = {0};
    assert_ok(yk_bpe_trainer_train(&lesson, &result));
    for (int32_t id = 0; id < yk_token_map_id_limit(result.tokens); id++) {
        yk_text_addf(&tokens, "%s\n", token_of(&result, id));
    }
    for (int32_t i = 0; i < result.rule_count; i++) {
        yk_text_addf(&merges, "%s %s\n", token_of(&result, result.rules[i].left),
                     token_of(&result, result.rules[i].right));
    }
    assert_string_equal(yk_text_chars(&tokens), sample->tokens);
    assert_string_equal(yk_text_chars(&merges), sample->merges);
    yk_text_free(&tokens);
    yk_text_free(&merges);
    yk_bpe_trainer_result_free(&result);
    yk_word_counts_destroy(counts);
}

static void tokens_and_merges_are_those_that_hugging_face_learns(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        check(&samples[i]);
    }
}

static void learn_banana(const char *const *specials, int32_t special_count, int32_t token_count,
                         int64_t min_times, yk_status expected, const char *message)
{
    struct yk_word_counts *counts = NULL;
    struct yk_bpe_trainer_result result = {0};
    assert_ok(yk_word_counts_create(&counts));
    assert_ok(yk_word_counts_add(counts, "banana", 6));
    const struct yk_bpe_trainer_options lesson = {
        .words = counts,
        .specials = specials,
        .special_count = special_count,
        .token_count = token_count,
        .min_times = min_times,
    };
    assert_int_equal(yk_bpe_trainer_train(&lesson, &result), expected);
    if (expected != YK_OK) {
        assert_string_equal(yk_status_message(), message);
        assert_null(result.tokens);
    }
    yk_bpe_trainer_result_free(&result);
    yk_word_counts_destroy(counts);
}

static void impossible_lessons_are_refused(void **state)
{
    (void)state;
    static const char *const twice[] = {"<s>", "<s>"};
    static const char *const nameless[] = {""};
    learn_banana(twice, 2, 300, 0, YK_ERROR_INPUT, "the special token <s> is there twice");
    learn_banana(nameless, 1, 300, 0, YK_ERROR_INPUT, "a special token without a name");
    learn_banana(twice, 1, 256, 0, YK_ERROR_INPUT,
                 "256 tokens; there must be 257 to 4194304: one for each of the 256 bytes, 1 "
                 "special ones, and what is learned");
    learn_banana(twice, 1, 257, 0, YK_OK, NULL);
}

static void from_a_text_with_no_pairs_nothing_is_learned(void **state)
{
    (void)state;
    struct yk_word_counts *counts = NULL;
    struct yk_bpe_trainer_result result = {0};
    assert_ok(yk_word_counts_create(&counts));
    const struct yk_bpe_trainer_options lesson = {.words = counts, .token_count = 1000};
    assert_ok(yk_bpe_trainer_train(&lesson, &result));
    assert_int_equal(yk_token_map_count(result.tokens), 256);
    assert_int_equal(result.rule_count, 0);
    yk_bpe_trainer_result_free(&result);
    yk_word_counts_destroy(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_and_merges_are_those_that_hugging_face_learns),
        cmocka_unit_test(impossible_lessons_are_refused),
        cmocka_unit_test(from_a_text_with_no_pairs_nothing_is_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
