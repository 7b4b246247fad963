#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/loop.h"

static const struct yk_jinja_function *find_filter(const char *name, size_t length)
{
    static const struct yk_jinja_function_table *const tables[] = {
        &yk_jinja_text_filters,
        &yk_jinja_sequence_filters,
        &yk_jinja_order_filters,
        &yk_jinja_number_filters,
    };
    const struct yk_jinja_function *found = NULL;
    for (size_t i = 0; !found && i < sizeof tables / sizeof tables[0]; i++) {
        found = yk_jinja_function_find(tables[i], name, length);
    }
    return found;
}

static const struct yk_jinja_function *find_test(const char *name, size_t length)
{
    return yk_jinja_function_find(&yk_jinja_tests, name, length);
}

static const struct yk_jinja_function *find_method(enum yk_jinja_kind kind, const char *name,
                                                   size_t length)
{
    static const struct yk_jinja_function_table *const tables[YK_JINJA_KIND_COUNT] = {
        [YK_JINJA_STRING] = &yk_jinja_string_methods, [YK_JINJA_LIST] = &yk_jinja_list_methods,
        [YK_JINJA_TUPLE] = &yk_jinja_tuple_methods,   [YK_JINJA_DICT] = &yk_jinja_dict_methods,
        [YK_JINJA_RANGE] = &yk_jinja_range_methods,   [YK_JINJA_CYCLER] = &yk_jinja_cycler_methods,
        [YK_JINJA_LOOP] = &yk_jinja_loop_methods,     [YK_JINJA_FLOAT] = &yk_jinja_float_methods,
        [YK_JINJA_INT] = &yk_jinja_integer_methods,   [YK_JINJA_BOOL] = &yk_jinja_integer_methods,
    };
    return tables[kind] ? yk_jinja_function_find(tables[kind], name, length) : NULL;
}

const struct yk_jinja_library yk_jinja_library = {
    .find_filter = find_filter,
    .find_test = find_test,
    .find_method = find_method,
};
