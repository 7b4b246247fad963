#include "support/files/recorded.h"
#include "support/support.h"

#include "data/bleu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What tests/oracle/make_bleu_fixtures.py recorded of sacreBLEU. */
static const char *const cases[] = {
    "all-empty",       "both-empty",   "identical",     "languages",
    "languages-worse", "longer",       "nothing-right", "no-pairs-right",
    "no-fours-right",  "one-long",     "one-short",     "punctuation",
    "repeated",        "single-words", "some-empty",    "three-words",
};

enum {
    CASES = sizeof cases / sizeof *cases,
    HYPOTHESIS = 0,
    REFERENCE = 1,
    HYPOTHESIS_TOKENS = 2,
    REFERENCE_TOKENS = 3
};

struct corpus {
    struct yk_json *root;
    const char **hypotheses;
    const char **references;
    int64_t count;
};

static struct corpus open_case(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "data/fixtures/bleu/%s.json", name);
    struct corpus corpus = {.root = recorded_read(path)};
    const struct yk_json *sentences = recorded_get(corpus.root, "sentences");
    const size_t count = yk_json_array_count(sentences);
    assert_true(count > 0);
    corpus.hypotheses = calloc(count, sizeof *corpus.hypotheses);
    corpus.references = calloc(count, sizeof *corpus.references);
    assert_true(corpus.hypotheses && corpus.references);
    corpus.count = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        corpus.hypotheses[i] = recorded_text(yk_json_array_at(sentences, i), HYPOTHESIS);
        corpus.references[i] = recorded_text(yk_json_array_at(sentences, i), REFERENCE);
    }
    return corpus;
}

static void close_case(struct corpus *corpus)
{
    free(corpus->hypotheses);
    free(corpus->references);
    yk_json_destroy(corpus->root);
}

static void sentences_are_cut_as_sacrebleu_cuts_them(void **state)
{
    (void)state;
    struct yk_bleu_tokens tokens = {0};
    for (size_t c = 0; c < CASES; c++) {
        struct corpus corpus = open_case(cases[c]);
        const struct yk_json *sentences = recorded_get(corpus.root, "sentences");
        for (size_t i = 0; i < yk_json_array_count(sentences); i++) {
            const struct yk_json *row = yk_json_array_at(sentences, i);
            for (size_t side = HYPOTHESIS; side <= REFERENCE; side++) {
                const char *sentence = recorded_text(row, side);
                assert_ok(yk_bleu_tokens_split(sentence, strlen(sentence), &tokens));
                assert_string_equal(tokens.words.bytes,
                                    recorded_text(row, HYPOTHESIS_TOKENS + side));
                assert_int_equal(tokens.words.length, strlen(tokens.words.bytes));
            }
        }
        close_case(&corpus);
    }
    yk_bleu_tokens_free(&tokens);
}

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9)) {
        fail_msg("%.17g instead of %.17g", value, expected);
    }
}

static void assert_as_recorded(const struct yk_bleu_result *bleu, const struct yk_json *recorded)
{
    const struct yk_json *precisions = recorded_get(recorded, "precisions");
    const struct yk_json *counts = recorded_get(recorded, "counts");
    const struct yk_json *totals = recorded_get(recorded, "totals");
    struct yk_text line = {0};
    assert_close(bleu->score, recorded_number(recorded, "score"));
    assert_close(bleu->brevity_penalty, recorded_number(recorded, "bp"));
    assert_close((double)bleu->hypothesis_length, recorded_number(recorded, "sys_len"));
    assert_close((double)bleu->reference_length, recorded_number(recorded, "ref_len"));
    for (size_t n = 0; n < YK_BLEU_MAX_NGRAM; n++) {
        double value = NAN;
        assert_true(yk_json_number_value(yk_json_array_at(precisions, n), &value));
        assert_close(bleu->precisions[n], value);
        assert_true(yk_json_number_value(yk_json_array_at(counts, n), &value));
        assert_close((double)bleu->matches[n], value);
        assert_true(yk_json_number_value(yk_json_array_at(totals, n), &value));
        assert_close((double)bleu->totals[n], value);
    }
    yk_bleu_write_score_line(bleu, &line);
    assert_string_equal(yk_text_chars(&line), yk_json_string_value(recorded_get(recorded, "line")));
    yk_text_free(&line);
}

static void assert_scored_as_recorded(bool lowercase, const char *key)
{
    for (size_t c = 0; c < CASES; c++) {
        struct corpus corpus = open_case(cases[c]);
        struct yk_bleu_result bleu = {0};
        print_message("%s\n", cases[c]);
        assert_ok(
            yk_bleu_compute(corpus.hypotheses, corpus.references, corpus.count, lowercase, &bleu));
        assert_as_recorded(&bleu, recorded_get(corpus.root, key));
        close_case(&corpus);
    }
}

static void corpora_get_the_scores_sacrebleu_gives_them(void **state)
{
    (void)state;
    assert_scored_as_recorded(false, "mixed");
}

static void corpora_in_lowercase_do_too(void **state)
{
    (void)state;
    assert_scored_as_recorded(true, "lc");
}

static void signatures_are_sacrebleus(void **state)
{
    (void)state;
    for (int lowercase = 0; lowercase <= 1; lowercase++) {
        struct corpus corpus = open_case("one-short");
        struct yk_text signature = {0};
        yk_bleu_write_sacrebleu_signature(lowercase, &signature);
        const struct yk_json *recorded = recorded_get(corpus.root, lowercase ? "lc" : "mixed");
        assert_string_equal(yk_text_chars(&signature),
                            yk_json_string_value(recorded_get(recorded, "signature")));
        yk_text_free(&signature);
        close_case(&corpus);
    }
}

/* Papineni et al., section 2.1: "the" counts twice, as often as in the reference. */
static void words_match_no_more_often_than_the_reference_has_them(void **state)
{
    (void)state;
    const char *const hypothesis = "the the the the the the the";
    const char *const reference = "the cat is on the mat";
    struct yk_bleu_result bleu = {0};
    assert_ok(yk_bleu_compute(&hypothesis, &reference, 1, false, &bleu));
    assert_int_equal(bleu.matches[0], 2);
    assert_int_equal(bleu.totals[0], 7);
    assert_int_equal(bleu.matches[1], 0);
    assert_int_equal(bleu.totals[3], 4);
}

static void no_sentences_score_nothing(void **state)
{
    (void)state;
    struct yk_bleu_result bleu = {.score = 1};
    assert_ok(yk_bleu_compute(NULL, NULL, 0, false, &bleu));
    assert_close(bleu.score, 0);
    assert_close(yk_bleu_length_ratio(&bleu), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_are_cut_as_sacrebleu_cuts_them),
        cmocka_unit_test(corpora_get_the_scores_sacrebleu_gives_them),
        cmocka_unit_test(corpora_in_lowercase_do_too),
        cmocka_unit_test(signatures_are_sacrebleus),
        cmocka_unit_test(words_match_no_more_often_than_the_reference_has_them),
        cmocka_unit_test(no_sentences_score_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
