#include "graph/json_value.h"

#include "base/number.h"
#include "base/text.h"

#include <stdio.h>

enum {
    SHOWN_COLUMNS = 60
};

yk_status yk_graph_json_locate(yk_status status, const char *list, size_t index, const char *name)
{
    if (status == YK_OK) {
        return YK_OK;
    }
    char place[400];
    if (name && *name) {
        snprintf(place, sizeof place, "%s[%zu] (\"%.*s\")", list, index,
                 (int)yk_text_prefix(name, SHOWN_COLUMNS), name);
    } else {
        snprintf(place, sizeof place, "%s[%zu]", list, index);
    }
    return yk_fail_in(status, place);
}

yk_status yk_graph_json_check_object(const struct yk_json *node, const char *const *known,
                                     size_t count)
{
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object, not %s", yk_json_kind(node));
    }
    return yk_json_check_keys(node, known, count);
}

yk_status yk_graph_json_get_list(const struct yk_json *object, const char *key,
                                 const struct yk_json **out)
{
    const struct yk_json *node = yk_json_get(object, key);
    if (node && !yk_json_is_array(node)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list, not %s", key, yk_json_kind(node));
    }
    *out = node;
    return YK_OK;
}

yk_status yk_graph_json_need_list(const struct yk_json *object, const char *key,
                                  const struct yk_json **out)
{
    YK_TRY(yk_graph_json_get_list(object, key, out));
    return *out ? YK_OK : yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
}

yk_status yk_graph_json_name(const struct yk_json *node, const char *key, const char **out)
{
    double number = 0;
    const char *name = yk_json_string(node);
    if (name && *name) {
        *out = name;
        return YK_OK;
    }
    if (name) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is empty", key);
    }
    if (!node) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
    }
    if (yk_json_number(node, &number)) {
        char digits[YK_NUMBER_SIZE];
        yk_number_format(number, digits);
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string: \"%s\", not %s", key, digits,
                       digits);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string, not %s", key, yk_json_kind(node));
}

yk_status yk_graph_json_quantity(const struct yk_json *node, const char *key, enum yk_unit unit,
                                 double *out)
{
    if (yk_json_number(node, out)) {
        return YK_OK;
    }
    const char *word = yk_json_string(node);
    if (word) {
        const yk_status status = yk_units_read(word, unit, out);
        return status == YK_OK ? YK_OK : yk_fail_in(status, key);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number, not %s", key, yk_json_kind(node));
}
