/* Added tokens: which part of a text each takes, white space included. */
#include "tokenizer/added_tokens.h"

#include "support/support.h"

#include <string.h>

enum {
    MAX = 2 /* tokens in a text */
};

/* From a token's first byte, or that of the white space before it, to the byte behind it. */
struct span {
    int32_t id;
    size_t begin;
    size_t end;
};

struct spans_case {
    const char *text;
    struct span spans[MAX];
};

static const char json[] =
    "[{\"id\": 0, \"content\": \"<r>\", \"normalized\": false, \"rstrip\": true},"
    "{\"id\": 1, \"content\": \"<l>\", \"normalized\": false, \"lstrip\": true},"
    "{\"id\": 2, \"content\": \"<b>\", \"normalized\": false, \"lstrip\": true, \"rstrip\": true}]";

/* As the offsets of Hugging Face's tokenizers 0.23, in bytes. */
static const struct spans_case cases[] = {
    {"<l>  <r>", {{1, 0, 3}, {0, 5, 8}}},
    {"<r>  <l>", {{0, 0, 5}, {1, 5, 8}}},
    {"a <r> \xe3\x80\x80 <l>b", {{0, 2, 10}, {1, 10, 13}}},
    {"a  <b>  <b>  b", {{2, 1, 8}, {2, 8, 13}}},
};

static void white_space_between_two_tokens_is_stripped_once(void **state)
{
    (void)state;
    struct yk_json *root = NULL;
    struct yk_token_map *map = NULL;
    struct yk_added_tokens *tokens = NULL;
    struct yk_regex_workspace *workspace = NULL;
    assert_ok(yk_json_parse(json, strlen(json), &root));
    assert_ok(yk_token_map_create(&map));
    assert_ok(yk_added_tokens_from_json(root, map, NULL, &tokens));
    assert_ok(yk_regex_workspace_create(&workspace));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_added_tokens_search search = {.text = cases[i].text,
                                                .length = strlen(cases[i].text)};
        for (int k = 0; k < MAX; k++) {
            const struct span *span = &cases[i].spans[k];
            assert_ok(yk_added_tokens_find_next(tokens, workspace, &search));
            assert_int_equal(search.id, span->id);
            assert_int_equal(search.end, span->begin);
            assert_int_equal(search.done, span->end);
        }
        assert_ok(yk_added_tokens_find_next(tokens, workspace, &search));
        assert_int_equal(search.id, -1);
        assert_int_equal(search.begin, cases[i].spans[MAX - 1].end);
        assert_int_equal(search.end, search.length);
    }
    yk_regex_workspace_destroy(workspace);
    yk_added_tokens_destroy(tokens);
    yk_token_map_destroy(map);
    yk_json_destroy(root);
}

static void a_token_too_long_for_any_text_is_refused(void **state)
{
    struct yk_json *root = NULL;
    struct yk_token_map *map = NULL;
    struct yk_added_tokens *tokens = NULL;
    struct yk_text list = {0};
    (void)state;
    yk_text_add(&list, "[{\"id\": 0, \"content\": \"");
    yk_text_add_repeated(&list, "x", 1025);
    yk_text_add(&list, "\"}]");
    assert_ok(yk_json_parse(list.bytes, list.length, &root));
    assert_ok(yk_token_map_create(&map));
    assert_fails(yk_added_tokens_from_json(root, map, NULL, &tokens), YK_ERROR_INPUT,
                 "added_tokens: \"content\" has 1025 bytes; at most 1024 are known");
    yk_token_map_destroy(map);
    yk_json_destroy(root);
    yk_text_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_between_two_tokens_is_stripped_once),
        cmocka_unit_test(a_token_too_long_for_any_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
