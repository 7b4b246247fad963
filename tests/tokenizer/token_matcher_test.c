#include "support/support.h"

#include "base/random.h"
#include "tokenizer/added_tokens.h"

#include <string.h>

static void check(const char *const *names, int32_t count, const char *text, size_t from,
                  const char *expected, size_t place)
{
    struct yk_token_pattern list[16];
    struct yk_token_matcher *matcher = NULL;
    size_t begin = 0;
    for (int32_t i = 0; i < count; i++) {
        list[i] = (struct yk_token_pattern){
            .bytes = names[i], .length = strlen(names[i]), .number = 10 + i};
    }
    assert_ok(yk_token_matcher_create(list, count, &matcher));
    const struct yk_token_pattern *found =
        yk_token_matcher_find(matcher, text, strlen(text), from, &begin);
    if (expected) {
        assert_non_null(found);
        assert_string_equal(found->bytes, expected);
        assert_string_equal(names[found->number - 10], expected);
        assert_int_equal(begin, place);
    } else {
        assert_null(found);
    }
    yk_token_matcher_destroy(matcher);
}

static void the_leftmost_and_there_the_longest_is_found(void **state)
{
    (void)state;
    static const char *const names[] = {"<|end", "<|endoftext|>", "of", "<", "x<|e"};
    check(names, 5, "a<|endoftext|>b", 0, "<|endoftext|>", 1);
    check(names, 5, "a<|endoftext|b", 0, "<|end", 1);
    check(names, 5, "a<|endoftext|b", 2, "of", 6);
    check(names, 5, "x<|end", 0, "x<|e", 0);
    check(names, 5, "<", 0, "<", 0);
    check(names, 5, "abc", 0, NULL, 0);
    check(names, 5, "", 0, NULL, 0);
    check(names, 0, "abc", 0, NULL, 0);
}

/* Against trying each name at each place. */
static void any_set_finds_what_trying_all_finds(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(3);
    for (int round = 0; round < 500; round++) {
        char names[8][5] = {{0}};
        const char *pointers[8];
        char text[13] = {0};
        int32_t count = 0;
        for (int i = 0; i < 8; i++) {
            const int64_t length = 1 + yk_random_below(&random, 4);
            bool fresh = true;
            for (int64_t k = 0; k < 5; k++) {
                names[count][k] = '\0';
                if (k < length) {
                    names[count][k] = (char)('a' + yk_random_below(&random, 3));
                }
            }
            for (int32_t k = 0; k < count; k++) {
                fresh = fresh && strcmp(names[k], names[count]) != 0;
            }
            pointers[count] = names[count];
            count += fresh;
        }
        for (size_t i = 0; i + 1 < sizeof text; i++) {
            text[i] = (char)('a' + yk_random_below(&random, 4));
        }
        const char *best = NULL;
        size_t place = 0;
        for (size_t at = 0; at < strlen(text) && !best; at++) {
            for (int32_t i = 0; i < count; i++) {
                const bool fits = strncmp(text + at, names[i], strlen(names[i])) == 0;
                if (fits && (!best || strlen(names[i]) > strlen(best))) {
                    best = names[i];
                    place = at;
                }
            }
        }
        check(pointers, count, text, 0, best, place);
    }
}

static void of_equal_names_the_first_number_is_found(void **state)
{
    (void)state;
    static const struct yk_token_pattern twice[] = {{"ab", 2, 7}, {"c", 1, 1}, {"ab", 2, 2}};
    struct yk_token_matcher *matcher = NULL;
    size_t begin = 0;
    assert_ok(yk_token_matcher_create(twice, 3, &matcher));
    const struct yk_token_pattern *found = yk_token_matcher_find(matcher, "xab", 3, 0, &begin);
    assert_non_null(found);
    assert_int_equal(found->number, 2);
    yk_token_matcher_destroy(matcher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_leftmost_and_there_the_longest_is_found),
        cmocka_unit_test(any_set_finds_what_trying_all_finds),
        cmocka_unit_test(of_equal_names_the_first_number_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
