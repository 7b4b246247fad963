#include "support/support.h"

#include "base/random.h"
#include "base/text.h"
#include "tokenizer/models/unigram.h"

#include <math.h>
#include <string.h>

enum {
    MAX_TOKENS = 12,
    MAX_LETTERS = 9
};

struct model {
    struct yk_json *json;
    struct yk_token_map *map;
    struct yk_unigram *unigram;
    struct yk_unigram_workspace workspace;
};

static yk_status open_model(const char *json, struct model *out)
{
    *out = (struct model){0};
    assert_ok(yk_json_parse(json, strlen(json), &out->json));
    assert_ok(yk_token_map_create(&out->map));
    const struct yk_json *list = yk_json_get_member(out->json, "vocab");
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const char *token = yk_json_string_value(yk_json_array_at(yk_json_array_at(list, i), 0));
        assert_ok(yk_token_map_add(out->map, token, strlen(token), (int64_t)i));
    }
    return yk_unigram_from_json(out->json, out->map, &out->unigram);
}

static void close_model(struct model *model)
{
    yk_unigram_destroy(model->unigram);
    yk_unigram_workspace_free(&model->workspace);
    yk_token_map_destroy(model->map);
    yk_json_destroy(model->json);
}

static void check(struct model *model, const char *word, const int32_t *expected, int64_t count)
{
    struct yk_token_ids ids = {0};
    struct yk_token_spans spans = {0};
    assert_ok(
        yk_unigram_encode(model->unigram, &model->workspace, word, strlen(word), &ids, &spans));
    assert_int_equal(ids.count, count);
    assert_int_equal(spans.count, count);
    assert_memory_equal(ids.items, expected, (size_t)count * sizeof *expected);
    yk_token_ids_free(&ids);
    yk_token_spans_free(&spans);
}

/* models.Unigram(vocab, 0, byte_fallback).tokenize("…") of Hugging Face's tokenizers 0.23. */
static void unknown_characters_are_one_token_or_bytes(void **state)
{
    (void)state;
    static const char vocabulary[] =
        "[[\"<unk>\", 0], [\"a\", -1], [\"b\", -1], [\"ab\", -1.5], [\"<0xC3>\", -9], "
        "[\"<0xA9>\", -9], [\"<0x78>\", -9]]";
    struct yk_text json = {0};
    struct model model;
    yk_text_addf(&json, "{\"unk_id\": 0, \"vocab\": %s}", vocabulary);
    assert_ok(open_model(json.bytes, &model));
    check(&model, "ab", (int32_t[]){3}, 1);
    check(&model, "aba", (int32_t[]){3, 1}, 2);
    check(&model, "xyaz", (int32_t[]){0, 1, 0}, 3);
    close_model(&model);
    json.length = 0;
    yk_text_addf(&json, "{\"unk_id\": 0, \"byte_fallback\": true, \"vocab\": %s}", vocabulary);
    assert_ok(open_model(json.bytes, &model));
    check(&model, "a\xc3\xa9xb", (int32_t[]){1, 4, 5, 6, 2}, 5);
    check(&model, "a\xc3\xa9zb", (int32_t[]){1, 0, 2}, 3); /* z has no token */
    close_model(&model);
    json.length = 0;
    yk_text_addf(&json, "{\"unk_id\": null, \"vocab\": %s}", vocabulary);
    assert_ok(open_model(json.bytes, &model));
    struct yk_token_ids ids = {0};
    assert_fails(yk_unigram_encode(model.unigram, &model.workspace, "axb", 3, &ids, NULL),
                 YK_ERROR_INPUT,
                 "the vocabulary has no token for \"x\" and no \"unk_id\" for unknown characters");
    yk_token_ids_free(&ids);
    close_model(&model);
    yk_text_free(&json);
}

/* The largest sum of scores of all ways to split a word. */
static double best_of_all(const char tokens[][4], const double *scores, int count, const char *word)
{
    double best = *word ? -INFINITY : 0;
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(tokens[i]);
        if (strncmp(word, tokens[i], length) == 0) {
            best = fmax(best, scores[i] + best_of_all(tokens, scores, count, word + length));
        }
    }
    return best;
}

static void no_other_tokens_have_a_larger_sum(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(11);
    for (int round = 0; round < 300; round++) {
        char tokens[MAX_TOKENS][4] = {"a", "b", "c"};
        double scores[MAX_TOKENS];
        struct yk_text json = {0};
        struct model model;
        int count = 3;
        while (count < MAX_TOKENS) {
            char token[4] = {0};
            bool fresh = true;
            const int64_t length = 2 + yk_random_below(&random, 2);
            for (int64_t k = 0; k < length; k++) {
                token[k] = (char)('a' + yk_random_below(&random, 3));
            }
            for (int k = 0; k < count; k++) {
                fresh = fresh && strcmp(tokens[k], token) != 0;
            }
            if (fresh) {
                memcpy(tokens[count++], token, sizeof token);
            }
        }
        yk_text_add(&json, "{\"unk_id\": null, \"vocab\": [");
        for (int i = 0; i < count; i++) {
            scores[i] = -(double)(1 + yk_random_below(&random, 64)) / 8;
            yk_text_addf(&json, "%s[\"%s\", %.3f]", i > 0 ? ", " : "", tokens[i], scores[i]);
        }
        yk_text_add(&json, "]}");
        assert_ok(open_model(json.bytes, &model));
        char word[MAX_LETTERS + 1] = {0};
        for (int i = 0; i < MAX_LETTERS; i++) {
            word[i] = (char)('a' + yk_random_below(&random, 3));
        }
        struct yk_token_ids ids = {0};
        assert_ok(
            yk_unigram_encode(model.unigram, &model.workspace, word, MAX_LETTERS, &ids, NULL));
        double sum = 0;
        struct yk_text joined = {0};
        for (int64_t i = 0; i < ids.count; i++) {
            sum += scores[ids.items[i]];
            yk_text_add(&joined, tokens[ids.items[i]]);
        }
        assert_string_equal(joined.bytes, word);
        assert_true(sum == best_of_all(tokens, scores, count, word)); /* eighths are exact */
        yk_text_free(&joined);
        yk_token_ids_free(&ids);
        close_model(&model);
        yk_text_free(&json);
    }
}

static void refuse(const char *json, const char *message)
{
    struct model model;
    assert_fails(open_model(json, &model), YK_ERROR_INPUT, message);
    assert_null(model.unigram);
    close_model(&model);
}

static void broken_models_are_refused(void **state)
{
    (void)state;
    refuse("{\"vocab\": [[\"a\", 0], [\"b\"]]}",
           "vocab[1] has no score; it must be a list of a token and a number");
    refuse("{\"vocab\": [[\"a\", \"1\"]]}",
           "vocab[0] has no score; it must be a list of a token and a number");
    refuse("{\"vocab\": [[\"a\", 0]], \"unk_id\": 1}",
           "\"unk_id\" must be a whole number from 0 to 0");
    refuse("{\"vocab\": [[\"a\", 0]], \"unk_id\": -1}",
           "\"unk_id\" must be a whole number from 0 to 0");
}

static void a_token_too_long_for_any_text_is_refused(void **state)
{
    struct yk_text json = {0};
    (void)state;
    yk_text_add(&json, "{\"vocab\": [[\"");
    yk_text_add_repeated(&json, "x", 1025);
    yk_text_add(&json, "\", 0]]}");
    refuse(json.bytes, "the token \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xe2\x80\xa6\" has 1025 "
                       "bytes; at most 1024 are known");
    yk_text_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_characters_are_one_token_or_bytes),
        cmocka_unit_test(no_other_tokens_have_a_larger_sum),
        cmocka_unit_test(broken_models_are_refused),
        cmocka_unit_test(a_token_too_long_for_any_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
