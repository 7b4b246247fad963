#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/value_compare.h"

#include <math.h>

static yk_status count_item(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    int64_t count = 0;
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    for (int64_t i = 0; i < list->count; i++) {
        bool equal = false;
        YK_TRY(yk_jinja_value_compare_equal(call->run, list->items[i], call->values[0], &equal));
        count += equal;
    }
    *out = yk_jinja_value_int(count);
    return YK_OK;
}

static yk_status find_index(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    int64_t begin = 0;
    int64_t end = INT64_MAX;
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->subject, &list));
    YK_TRY(yk_jinja_function_get_integer(call, 1, &begin));
    YK_TRY(yk_jinja_function_get_integer(call, 2, &end));
    begin = begin < -list->count ? 0 : begin < 0 ? begin + list->count : begin;
    end = end < -list->count ? 0 : end < 0 ? end + list->count : end;
    for (int64_t i = begin; i < end && i < list->count; i++) {
        bool equal = false;
        YK_TRY(yk_jinja_value_compare_equal(call->run, list->items[i], call->values[0], &equal));
        if (equal) {
            *out = yk_jinja_value_int(i);
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT, "index() of a value that is not in the list");
}

/* Values do not change: a copy is the value itself. */
static yk_status copy(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    *out = call->subject;
    return YK_OK;
}

static yk_status make_view(struct yk_jinja_call *call, enum yk_jinja_view_kind kind,
                           struct yk_jinja_value *out)
{
    struct yk_jinja_view *view = NULL;
    YK_JINJA_TRY_NEW(call->run, view, 1);
    *view = (struct yk_jinja_view){.kind = kind, .dict = call->subject.as.dict};
    *out = (struct yk_jinja_value){.kind = YK_JINJA_VIEW, .as.view = view};
    return YK_OK;
}

static yk_status keys(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return make_view(call, YK_JINJA_VIEW_KEYS, out);
}

static yk_status values(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return make_view(call, YK_JINJA_VIEW_VALUES, out);
}

static yk_status items(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return make_view(call, YK_JINJA_VIEW_ITEMS, out);
}

static yk_status get(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_value *found = NULL;
    YK_TRY(yk_jinja_dict_check_key(call->run, call->values[0]));
    YK_TRY(yk_jinja_dict_find(call->run, call->subject.as.dict, call->values[0], &found));
    *out = found                                     ? *found
           : call->values[1].kind == YK_JINJA_ABSENT ? yk_jinja_value_none()
                                                     : call->values[1];
    return YK_OK;
}

static yk_status next_of_cycler(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_cycler *cycler = call->subject.as.cycler;
    *out = cycler->items->items[cycler->position];
    cycler->position = (cycler->position + 1) % cycler->items->count;
    return YK_OK;
}

static yk_status reset_cycler(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    call->subject.as.cycler->position = 0;
    *out = yk_jinja_value_none();
    return YK_OK;
}

static yk_status is_whole(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const double number = call->subject.as.number;
    *out = yk_jinja_value_bool(isfinite(number) && number == trunc(number));
    return YK_OK;
}

/* What lists and tuples share. */
#define COUNT_METHOD                                                                               \
    {                                                                                              \
        .name = "count", .call = count_item, .parameters = {"value"}, .required = 1,               \
        .no_names = true                                                                           \
    }
#define INDEX_METHOD                                                                               \
    {                                                                                              \
        .name = "index", .call = find_index, .parameters = {"value", "start", "stop"},             \
        .required = 1, .no_names = true                                                            \
    }

static const struct yk_jinja_function list_methods[] = {
    {.name = "append", .unsafe = true},
    {.name = "clear", .unsafe = true},
    {.name = "extend", .unsafe = true},
    {.name = "insert", .unsafe = true},
    {.name = "pop", .unsafe = true},
    {.name = "remove", .unsafe = true},
    {.name = "reverse", .unsafe = true},
    {.name = "sort", .unsafe = true},
    {.name = "copy", .call = copy},
    COUNT_METHOD,
    INDEX_METHOD,
};

static const struct yk_jinja_function tuple_methods[] = {
    COUNT_METHOD,
    INDEX_METHOD,
};

static const struct yk_jinja_function dict_methods[] = {
    {.name = "clear", .unsafe = true},
    {.name = "pop", .unsafe = true},
    {.name = "popitem", .unsafe = true},
    {.name = "setdefault", .unsafe = true},
    {.name = "update", .unsafe = true},
    {.name = "copy", .call = copy},
    {.name = "keys", .call = keys},
    {.name = "values", .call = values},
    {.name = "items", .call = items},
    {.name = "get", .call = get, .parameters = {"key", "default"}, .required = 1, .no_names = true},
    {.name = "fromkeys"},
};

static const struct yk_jinja_function cycler_methods[] = {
    {.name = "next", .call = next_of_cycler},
    {.name = "reset", .call = reset_cycler},
};

static const struct yk_jinja_function range_methods[] = {
    COUNT_METHOD,
    INDEX_METHOD,
    {.name = "start", .is_value = true},
    {.name = "stop", .is_value = true},
    {.name = "step", .is_value = true},
};

/* What numbers share. */
#define NUMBER_METHODS                                                                             \
    {.name = "real", .is_value = true}, {.name = "imag", .is_value = true}, {.name = "conjugate"}, \
    {                                                                                              \
        .name = "as_integer_ratio"                                                                 \
    }

static const struct yk_jinja_function integer_methods[] = {
    NUMBER_METHODS,
    {.name = "numerator", .is_value = true},
    {.name = "denominator", .is_value = true},
    {.name = "bit_length"},
    {.name = "bit_count"},
    {.name = "to_bytes"},
    {.name = "from_bytes"},
};

static const struct yk_jinja_function float_methods[] = {
    NUMBER_METHODS,
    {.name = "is_integer", .call = is_whole},
    {.name = "hex"},
    {.name = "fromhex"},
};

const struct yk_jinja_function_table yk_jinja_list_methods = YK_JINJA_FUNCTION_TABLE(list_methods);
const struct yk_jinja_function_table yk_jinja_tuple_methods =
    YK_JINJA_FUNCTION_TABLE(tuple_methods);
const struct yk_jinja_function_table yk_jinja_dict_methods = YK_JINJA_FUNCTION_TABLE(dict_methods);
const struct yk_jinja_function_table yk_jinja_cycler_methods =
    YK_JINJA_FUNCTION_TABLE(cycler_methods);
const struct yk_jinja_function_table yk_jinja_range_methods =
    YK_JINJA_FUNCTION_TABLE(range_methods);
const struct yk_jinja_function_table yk_jinja_integer_methods =
    YK_JINJA_FUNCTION_TABLE(integer_methods);
const struct yk_jinja_function_table yk_jinja_float_methods =
    YK_JINJA_FUNCTION_TABLE(float_methods);
