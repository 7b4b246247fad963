/* Splits whose scores are equal but for rounding. The expected tokens are those of Hugging Face's
 * tokenizers 0.23.3 for these two scores, which are T5's. */
#include "support/support.h"

#include "tokenizer/tokenizer_encoder.h"

#include <string.h>

static const char file[] =
    "{\"version\": \"1.0\", \"added_tokens\": [], \"normalizer\": null, \"pre_tokenizer\": null, "
    "\"post_processor\": null, \"decoder\": null, \"model\": {\"type\": \"Unigram\", \"unk_id\": "
    "0, "
    "\"vocab\": [[\"<unk>\", 0.0], [\"-\", -5.129043102264404], [\"---\", -12.130167007446289]]}}";

static void check(struct yk_tokenizer_encoder *encoder, const char *text, const char *expected)
{
    struct yk_token_ids ids = {0};
    assert_ok(yk_tokenizer_encoder_encode(encoder, text, strlen(text), "text",
                                          YK_ADD_SPECIAL_TOKENS_NO, &ids));
    assert_int_equal(ids.count, strlen(expected));
    for (int64_t i = 0; i < ids.count; i++) {
        assert_int_equal(ids.items[i], expected[i] - '0');
    }
    yk_token_ids_free(&ids);
}

static void equal_scores_are_rounded_as_in_tokenizers(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_tokenizer_encoder *encoder = NULL;
    assert_ok(yk_tokenizer_parse(file, strlen(file), "tokenizer.json", &tokenizer));
    assert_ok(yk_tokenizer_encoder_create(tokenizer, &encoder));
    check(encoder, "----", "12");
    check(encoder, "-----", "112");
    check(encoder, "-------", "221");
    check(encoder, "--------", "1122");
    check(encoder, "----------", "2212");
    check(encoder, "-----------", "22121");
    check(encoder, "-----------------", "2212122");
    check(encoder, "-------------------", "2212222");
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_scores_are_rounded_as_in_tokenizers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
