#include "support/support.h"

#include "tokenizer/token_map.h"

#include <stdio.h>
#include <string.h>

static struct yk_token_map *create(void)
{
    struct yk_token_map *map = NULL;
    assert_ok(yk_token_map_create(&map));
    return map;
}

static void add(struct yk_token_map *map, const char *token, int64_t id)
{
    assert_ok(yk_token_map_add(map, token, strlen(token), id));
}

static void tokens_and_ids_find_each_other(void **state)
{
    (void)state;
    struct yk_token_map *map = create();
    size_t length = 0;
    add(map, "the", 2);
    add(map, "", 0);
    assert_ok(yk_token_map_add(map, "a\0b", 3, 5));
    assert_int_equal(yk_token_map_find_id(map, "the", 3), 2);
    assert_int_equal(yk_token_map_find_id(map, "them", 4), -1);
    assert_int_equal(yk_token_map_find_id(map, "th", 2), -1);
    assert_int_equal(yk_token_map_find_id(map, "", 0), 0);
    assert_int_equal(yk_token_map_find_id(map, "a\0b", 3), 5);
    assert_int_equal(yk_token_map_find_id(map, "a\0c", 3), -1);
    assert_string_equal(yk_token_map_get_token(map, 2, &length), "the");
    assert_int_equal(length, 3);
    assert_null(yk_token_map_get_token(map, 1, &length));
    assert_null(yk_token_map_get_token(map, -1, &length));
    assert_null(yk_token_map_get_token(map, 6, &length));
    assert_int_equal(yk_token_map_id_limit(map), 6);
    assert_int_equal(yk_token_map_count(map), 3);
    yk_token_map_destroy(map);
}

static void an_empty_map_holds_nothing(void **state)
{
    (void)state;
    struct yk_token_map *map = create();
    assert_int_equal(yk_token_map_find_id(map, "", 0), -1);
    assert_int_equal(yk_token_map_id_limit(map), 0);
    yk_token_map_destroy(map);
    yk_token_map_destroy(NULL);
}

static void many_tokens_are_all_found(void **state)
{
    (void)state;
    enum {
        COUNT = 20000
    };
    struct yk_token_map *map = create();
    char word[16];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(word, sizeof word, "w%d", i);
        add(map, word, COUNT - 1 - i);
    }
    for (int i = 0; i < COUNT; i++) {
        size_t length = 0;
        (void)snprintf(word, sizeof word, "w%d", i);
        assert_int_equal(yk_token_map_find_id(map, word, strlen(word)), COUNT - 1 - i);
        assert_string_equal(yk_token_map_get_token(map, COUNT - 1 - i, &length), word);
        assert_int_equal(length, strlen(word));
    }
    yk_token_map_destroy(map);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct yk_token_map *map = create();
    add(map, "a", 7);
    assert_fails(yk_token_map_add(map, "a", 1, 8), YK_ERROR_INPUT,
                 "the token \"a\" stands there twice");
    assert_fails(yk_token_map_add(map, "b", 1, 7), YK_ERROR_INPUT,
                 "\"a\" and \"b\" have the same id, 7");
    assert_fails(yk_token_map_add(map, "b", 1, -1), YK_ERROR_INPUT,
                 "the id of \"b\" is -1, where 0 to 4194303 are allowed");
    assert_fails(yk_token_map_add(map, "b", 1, YK_TOKEN_MAP_MAX_TOKENS), YK_ERROR_INPUT,
                 "the id of \"b\" is 4194304, where 0 to 4194303 are allowed");
    add(map, "b", YK_TOKEN_MAP_MAX_TOKENS - 1);
    assert_int_equal(yk_token_map_id_limit(map), YK_TOKEN_MAP_MAX_TOKENS);
    assert_int_equal(yk_token_map_count(map), 2);
    yk_token_map_destroy(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_and_ids_find_each_other),
        cmocka_unit_test(an_empty_map_holds_nothing),
        cmocka_unit_test(many_tokens_are_all_found),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
