#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/attribute.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/operation.h"
#include "tokenizer/jinja/string_case.h"
#include "tokenizer/jinja/value_compare.h"
#include "tokenizer/jinja/value_text.h"

/* A test that depends on the kind of the value alone. */
#define KIND_TEST(name, expression)                                                                \
    static yk_status name(struct yk_jinja_call *call, struct yk_jinja_value *out)                  \
    {                                                                                              \
        const struct yk_jinja_value value = call->subject;                                         \
        *out = yk_jinja_value_bool(expression);                                                    \
        return YK_OK;                                                                              \
    }

KIND_TEST(is_defined, value.kind != YK_JINJA_UNDEFINED)
KIND_TEST(is_undefined, value.kind == YK_JINJA_UNDEFINED)
KIND_TEST(is_none, value.kind == YK_JINJA_NONE)
KIND_TEST(is_boolean, value.kind == YK_JINJA_BOOL)
KIND_TEST(is_true, value.kind == YK_JINJA_BOOL && value.as.boolean)
KIND_TEST(is_false, value.kind == YK_JINJA_BOOL && !value.as.boolean)
KIND_TEST(is_integer, value.kind == YK_JINJA_INT)
KIND_TEST(is_float, value.kind == YK_JINJA_FLOAT)
KIND_TEST(is_number,
          value.kind == YK_JINJA_INT || value.kind == YK_JINJA_FLOAT || value.kind == YK_JINJA_BOOL)
KIND_TEST(is_string, value.kind == YK_JINJA_STRING)
KIND_TEST(is_mapping, value.kind == YK_JINJA_DICT)
KIND_TEST(is_escaped, value.kind == YK_JINJA_STRING && value.as.string->markup)
KIND_TEST(is_iterable, yk_jinja_iterator_accepts(value))
KIND_TEST(is_sequence, value.kind == YK_JINJA_STRING || value.kind == YK_JINJA_LIST ||
                           value.kind == YK_JINJA_TUPLE || value.kind == YK_JINJA_DICT ||
                           value.kind == YK_JINJA_RANGE || value.kind == YK_JINJA_UNDEFINED)
KIND_TEST(is_callable, value.kind == YK_JINJA_CALLABLE || value.kind == YK_JINJA_LOOP ||
                           value.kind == YK_JINJA_JOINER || value.kind == YK_JINJA_UNDEFINED)

static yk_status is_same(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    bool same = false;
    YK_TRY(yk_jinja_value_compare_identity(call->run, call->subject, call->values[0], &same));
    *out = yk_jinja_value_bool(same);
    return YK_OK;
}

static yk_status has_case(struct yk_jinja_call *call, bool upper, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    bool holds = false;
    YK_TRY(yk_jinja_value_text_make(call->run, call->subject, &string));
    YK_TRY(yk_jinja_string_case_is(call->run, string, upper, &holds));
    *out = yk_jinja_value_bool(holds);
    return YK_OK;
}

static yk_status is_lower(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return has_case(call, false, out);
}

static yk_status is_upper(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return has_case(call, true, out);
}

static yk_status is_filter(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    *out = yk_jinja_value_bool(call->subject.kind == YK_JINJA_STRING &&
                               call->run->library->find_filter(call->subject.as.string->bytes,
                                                               call->subject.as.string->length));
    return YK_OK;
}

static yk_status is_test(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    *out = yk_jinja_value_bool(call->subject.kind == YK_JINJA_STRING &&
                               call->run->library->find_test(call->subject.as.string->bytes,
                                                             call->subject.as.string->length));
    return YK_OK;
}

static yk_status has_remainder(struct yk_jinja_call *call, struct yk_jinja_value divisor,
                               int64_t remainder, struct yk_jinja_value *out)
{
    struct yk_jinja_value rest = {0};
    bool equal = false;
    YK_TRY(yk_jinja_operation_apply(call->run, YK_JINJA_MODULO, call->subject, divisor, &rest));
    YK_TRY(yk_jinja_value_compare_equal(call->run, rest, yk_jinja_value_int(remainder), &equal));
    *out = yk_jinja_value_bool(equal);
    return YK_OK;
}

static yk_status is_odd(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return has_remainder(call, yk_jinja_value_int(2), 1, out);
}

static yk_status is_even(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return has_remainder(call, yk_jinja_value_int(2), 0, out);
}

static yk_status is_divisible(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return has_remainder(call, call->values[0], 0, out);
}

static yk_status is_in(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    bool found = false;
    YK_TRY(yk_jinja_attribute_contains(call->run, call->values[0], call->subject, &found));
    *out = yk_jinja_value_bool(found);
    return YK_OK;
}

static yk_status is_equal(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    bool equal = false;
    YK_TRY(yk_jinja_value_compare_equal(call->run, call->subject, call->values[0], &equal));
    *out = yk_jinja_value_bool(equal);
    return YK_OK;
}

static yk_status is_unequal(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    YK_TRY(is_equal(call, out));
    *out = yk_jinja_value_bool(!out->as.boolean);
    return YK_OK;
}

static yk_status is_ordered(struct yk_jinja_call *call, enum yk_jinja_order order,
                            struct yk_jinja_value *out)
{
    bool holds = false;
    YK_TRY(yk_jinja_value_compare_order(call->run, call->subject, call->values[0], order, &holds));
    *out = yk_jinja_value_bool(holds);
    return YK_OK;
}

static yk_status is_less(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return is_ordered(call, YK_JINJA_LESS, out);
}

static yk_status is_at_most(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return is_ordered(call, YK_JINJA_LESS_OR_EQUAL, out);
}

static yk_status is_greater(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return is_ordered(call, YK_JINJA_GREATER, out);
}

static yk_status is_not_less(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return is_ordered(call, YK_JINJA_GREATER_OR_EQUAL, out);
}

static const struct yk_jinja_function tests[] = {
    {.name = "defined", .call = is_defined},
    {.name = "undefined", .call = is_undefined},
    {.name = "none", .call = is_none},
    {.name = "boolean", .call = is_boolean},
    {.name = "true", .call = is_true},
    {.name = "false", .call = is_false},
    {.name = "integer", .call = is_integer},
    {.name = "float", .call = is_float},
    {.name = "number", .call = is_number},
    {.name = "string", .call = is_string},
    {.name = "mapping", .call = is_mapping},
    {.name = "sequence", .call = is_sequence},
    {.name = "iterable", .call = is_iterable},
    {.name = "callable", .call = is_callable},
    {.name = "escaped", .call = is_escaped},
    {.name = "lower", .call = is_lower},
    {.name = "upper", .call = is_upper},
    {.name = "filter", .call = is_filter},
    {.name = "test", .call = is_test},
    {.name = "odd", .call = is_odd},
    {.name = "even", .call = is_even},
    {.name = "divisibleby", .call = is_divisible, .parameters = {"num"}, .required = 1},
    {.name = "sameas", .call = is_same, .parameters = {"other"}, .required = 1},
    {.name = "in", .call = is_in, .parameters = {"seq"}, .required = 1},
    {.name = "==", .call = is_equal, .parameters = {"other"}, .required = 1},
    {.name = "eq", .call = is_equal, .parameters = {"other"}, .required = 1},
    {.name = "equalto", .call = is_equal, .parameters = {"other"}, .required = 1},
    {.name = "!=", .call = is_unequal, .parameters = {"other"}, .required = 1},
    {.name = "ne", .call = is_unequal, .parameters = {"other"}, .required = 1},
    {.name = "<", .call = is_less, .parameters = {"other"}, .required = 1},
    {.name = "lt", .call = is_less, .parameters = {"other"}, .required = 1},
    {.name = "lessthan", .call = is_less, .parameters = {"other"}, .required = 1},
    {.name = "<=", .call = is_at_most, .parameters = {"other"}, .required = 1},
    {.name = "le", .call = is_at_most, .parameters = {"other"}, .required = 1},
    {.name = ">", .call = is_greater, .parameters = {"other"}, .required = 1},
    {.name = "gt", .call = is_greater, .parameters = {"other"}, .required = 1},
    {.name = "greaterthan", .call = is_greater, .parameters = {"other"}, .required = 1},
    {.name = ">=", .call = is_not_less, .parameters = {"other"}, .required = 1},
    {.name = "ge", .call = is_not_less, .parameters = {"other"}, .required = 1},
};

const struct yk_jinja_function_table yk_jinja_tests = YK_JINJA_FUNCTION_TABLE(tests);
