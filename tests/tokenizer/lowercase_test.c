#include "support/files/recorded.h"
#include "support/support.h"

#include "base/text.h"
#include "tokenizer/unicode.h"

#include <string.h>

/* Recorded by tests/oracle/make_bleu_fixtures.py. */
static void texts_become_what_python_makes_of_them(void **state)
{
    (void)state;
    struct yk_json *root = recorded_read("data/fixtures/bleu/lowercase.json");
    const struct yk_json *texts = recorded_get(root, "texts");
    assert_true(yk_json_array_count(texts) > 0);
    for (size_t i = 0; i < yk_json_array_count(texts); i++) {
        const char *text = recorded_text(yk_json_array_at(texts, i), 0);
        struct yk_text small = {0};
        yk_unicode_lowercase_text(text, strlen(text), &small);
        assert_string_equal(yk_text_chars(&small), recorded_text(yk_json_array_at(texts, i), 1));
        yk_text_free(&small);
    }
    yk_json_destroy(root);
}

static void bytes_that_are_no_utf8_stay(void **state)
{
    (void)state;
    struct yk_text small = {0};
    yk_unicode_lowercase_text("A\xff\xc3", 3, &small);
    assert_string_equal(yk_text_chars(&small), "a\xff\xc3");
    yk_text_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_what_python_makes_of_them),
        cmocka_unit_test(bytes_that_are_no_utf8_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
