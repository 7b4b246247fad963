#include "support/files/recorded.h"

#include "support/support.h"

#include "base/file.h"

#include <string.h>

struct yk_json *recorded_read(const char *path)
{
    struct yk_text whole = {0};
    struct yk_text bytes = {0};
    struct yk_json *root = NULL;
    yk_text_addf(&whole, "%s/%s", TESTS_FOLDER, path);
    assert_ok(yk_file_read_document(yk_text_chars(&whole), &bytes));
    assert_ok(yk_json_parse(yk_text_chars(&bytes), bytes.length, &root));
    yk_text_free(&whole);
    yk_text_free(&bytes);
    return root;
}

const struct yk_json *recorded_get(const struct yk_json *node, const char *key)
{
    const struct yk_json *member = yk_json_get_member(node, key);
    assert_non_null(member);
    return member;
}

double recorded_number(const struct yk_json *node, const char *key)
{
    double value = 0;
    assert_true(yk_json_number_value(recorded_get(node, key), &value));
    return value;
}

const char *recorded_text(const struct yk_json *list, size_t index)
{
    assert_true(index < yk_json_array_count(list));
    const char *text = yk_json_string_value(yk_json_array_at(list, index));
    assert_non_null(text);
    return text;
}
