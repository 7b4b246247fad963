#include "tokenizer/jinja/operation.h"

#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/string_format.h"
#include "tokenizer/jinja/value_text.h"

#include <math.h>

static const char *const signs[YK_JINJA_OPERATOR_COUNT] = {
    [YK_JINJA_ADD] = "+",    [YK_JINJA_SUBTRACT] = "-",      [YK_JINJA_MULTIPLY] = "*",
    [YK_JINJA_DIVIDE] = "/", [YK_JINJA_FLOOR_DIVIDE] = "//", [YK_JINJA_MODULO] = "%",
    [YK_JINJA_POWER] = "**",
};

static yk_status fail_types(enum yk_jinja_operator operator, struct yk_jinja_value left,
                            struct yk_jinja_value right)
{
    if (left.kind == YK_JINJA_UNDEFINED || right.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(left.kind == YK_JINJA_UNDEFINED ? left : right);
    }
    return yk_fail(YK_ERROR_INPUT, "%s cannot be applied to values of the types %s and %s",
                   signs[operator], yk_jinja_value_type_name(left),
                   yk_jinja_value_type_name(right));
}

static yk_status fail_overflow(void)
{
    return yk_fail(YK_ERROR_INPUT, "an integer is too large: integers have 64 bits here");
}

static yk_status fail_zero(void)
{
    return yk_fail(YK_ERROR_INPUT, "a division by zero");
}

static yk_status raise_integer(int64_t base, int64_t exponent, int64_t *out)
{
    int64_t power = 1;
    while (exponent > 0) {
        if ((exponent & 1) && __builtin_mul_overflow(power, base, &power)) {
            return fail_overflow();
        }
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
            return fail_overflow();
        }
    }
    *out = power;
    return YK_OK;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* The remainder has the sign of the divisor. */
static int64_t floor_remainder(int64_t a, int64_t b)
{
    const int64_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static yk_status apply_to_integers(enum yk_jinja_operator operator, int64_t a, int64_t b,
                                   struct yk_jinja_value *out)
{
    int64_t result = 0;
    bool overflow = false;
    switch (operator) {
    case YK_JINJA_ADD:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
    case YK_JINJA_SUBTRACT:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
    case YK_JINJA_MULTIPLY:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
    case YK_JINJA_POWER:
        YK_TRY(raise_integer(a, b, &result));
        break;
    default:
        if (b == 0) {
            return fail_zero();
        }
        if (operator== YK_JINJA_MODULO) {
            result = floor_remainder(a, b);
            break;
        }
        overflow = a == INT64_MIN && b == -1;
        result = overflow ? 0 : floor_divide(a, b);
    }
    if (overflow) {
        return fail_overflow();
    }
    *out = yk_jinja_value_int(result);
    return YK_OK;
}

static double floor_modulo(double a, double b)
{
    const double rest = fmod(a, b);
    if (rest == 0) {
        return copysign(0, b);
    }
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* In Python's order, which decides how large quotients are rounded. */
static double floor_quotient(double a, double b)
{
    const double rest = fmod(a, b);
    const bool is_below = rest != 0 && (rest < 0) != (b < 0);
    const double quotient = (a - rest) / b - (is_below ? 1 : 0);
    if (quotient == 0) {
        return copysign(0, a / b);
    }
    const double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static yk_status apply_to_floats(enum yk_jinja_operator operator, double a, double b,
                                 struct yk_jinja_value *out)
{
    double result = 0;
    const bool divides = operator== YK_JINJA_DIVIDE || operator== YK_JINJA_FLOOR_DIVIDE ||
    operator== YK_JINJA_MODULO;
    if (b == 0 && divides) {
        return fail_zero();
    }
    switch (operator) {
    case YK_JINJA_ADD:
        result = a + b;
        break;
    case YK_JINJA_SUBTRACT:
        result = a - b;
        break;
    case YK_JINJA_MULTIPLY:
        result = a * b;
        break;
    case YK_JINJA_DIVIDE:
        result = a / b;
        break;
    case YK_JINJA_FLOOR_DIVIDE:
        result = floor_quotient(a, b);
        break;
    case YK_JINJA_MODULO:
        result = floor_modulo(a, b);
        break;
    default:
        result = pow(a, b);
        if (!isfinite(result) && isfinite(a) && isfinite(b)) {
            return a == 0 ? fail_zero()
                          : yk_fail(YK_ERROR_INPUT, "the result of ** is too large or not real");
        }
    }
    *out = yk_jinja_value_float(result);
    return YK_OK;
}

static yk_status add_lists(struct yk_jinja_run *run, struct yk_jinja_value left,
                           struct yk_jinja_value right, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *a = left.as.list;
    const struct yk_jinja_list *b = right.as.list;
    struct yk_jinja_value *items = NULL;
    YK_TRY(yk_jinja_value_new_list(run, left.kind, a->count + b->count, &items, out));
    if (a->count > 0) {
        memcpy(items, a->items, (size_t)a->count * sizeof *items);
    }
    if (b->count > 0) {
        memcpy(items + a->count, b->items, (size_t)b->count * sizeof *items);
    }
    return yk_jinja_run_step(run, (a->count + b->count) / 4);
}

static yk_status repeat_list(struct yk_jinja_run *run, struct yk_jinja_value list, int64_t times,
                             struct yk_jinja_value *out)
{
    const struct yk_jinja_list *a = list.as.list;
    struct yk_jinja_value *items = NULL;
    int64_t count = 0;
    if (__builtin_mul_overflow(a->count, times > 0 ? times : 0, &count)) {
        count = INT64_MAX / (int64_t)sizeof *items;
    }
    YK_TRY(yk_jinja_value_new_list(run, list.kind, count, &items, out));
    YK_TRY(yk_jinja_run_step(run, count));
    for (int64_t i = 0; i < count; i++) {
        items[i] = a->items[i % a->count];
    }
    return YK_OK;
}

static bool is_list(enum yk_jinja_kind kind)
{
    return kind == YK_JINJA_LIST || kind == YK_JINJA_TUPLE;
}

/* Returns what a byte is escaped as, or NULL. */
static const char *escape_of(char byte)
{
    static const char *const escapes[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&#34;", ['\''] = "&#39;",
    };
    const unsigned char index = (unsigned char)byte;
    return index < sizeof escapes / sizeof *escapes ? escapes[index] : NULL;
}

yk_status yk_jinja_operation_escape(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                    struct yk_jinja_value *out)
{
    size_t length = string->length;
    char *bytes = NULL;
    *out = yk_jinja_value_string(string);
    if (string->markup) {
        return YK_OK;
    }
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * 8));
    for (size_t i = 0; i < string->length; i++) {
        const char *escape = escape_of(string->bytes[i]);
        length += escape ? strlen(escape) - 1 : 0;
    }
    YK_TRY(yk_jinja_value_reserve_string(run, length, &bytes, out));
    for (size_t i = 0; i < string->length; i++) {
        const char *escape = escape_of(string->bytes[i]);
        const size_t added = escape ? strlen(escape) : 1;
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): strings have lengths */
        memcpy(bytes, escape ? escape : string->bytes + i, added);
        bytes += added;
    }
    ((struct yk_jinja_string *)out->as.string)->markup = true;
    return YK_OK;
}

/* If one of the strings is marked as safe HTML, the other one is escaped. */
static yk_status add_strings(struct yk_jinja_run *run, struct yk_jinja_value left,
                             struct yk_jinja_value right, struct yk_jinja_value *out)
{
    const bool markup = left.as.string->markup || right.as.string->markup;
    if (markup) {
        YK_TRY(yk_jinja_operation_escape(run, left.as.string, &left));
        YK_TRY(yk_jinja_operation_escape(run, right.as.string, &right));
    }
    YK_TRY(yk_jinja_value_concatenate(run, left.as.string, right.as.string, out));
    ((struct yk_jinja_string *)out->as.string)->markup = markup;
    return YK_OK;
}

static yk_status apply_to_others(struct yk_jinja_run *run, enum yk_jinja_operator operator,
                                 struct yk_jinja_value left, struct yk_jinja_value right,
                                 struct yk_jinja_value *out)
{
    int64_t times = 0;
    if (operator== YK_JINJA_ADD && left.kind == right.kind && left.kind == YK_JINJA_STRING) {
        return add_strings(run, left, right, out);
    }
    if (operator== YK_JINJA_ADD && left.kind == right.kind && is_list(left.kind)) {
        return add_lists(run, left, right, out);
    }
    if (operator== YK_JINJA_MODULO && left.kind == YK_JINJA_STRING) {
        return yk_jinja_string_format_percent(run, left.as.string, right, out);
    }
    if (operator== YK_JINJA_MULTIPLY) {
        const bool swapped = yk_jinja_value_get_integer(left, &times);
        const struct yk_jinja_value repeated = swapped ? right : left;
        if (swapped || yk_jinja_value_get_integer(right, &times)) {
            if (repeated.kind == YK_JINJA_STRING) {
                return yk_jinja_string_repeat(run, repeated.as.string, times, out);
            }
            if (is_list(repeated.kind)) {
                return repeat_list(run, repeated, times, out);
            }
        }
    }
    return fail_types(operator, left, right);
}

yk_status yk_jinja_operation_apply(struct yk_jinja_run *run, enum yk_jinja_operator operator,
                                   struct yk_jinja_value left, struct yk_jinja_value right,
                                   struct yk_jinja_value *out)
{
    int64_t a = 0;
    int64_t b = 0;
    double x = 0;
    double y = 0;
    if (yk_jinja_value_get_integer(left, &a) &&
        yk_jinja_value_get_integer(right, &b) &&
        operator!= YK_JINJA_DIVIDE && !(operator== YK_JINJA_POWER && b<0)) {
        return apply_to_integers(operator, a, b, out);
    }
    if (yk_jinja_value_get_number(left, &x) && yk_jinja_value_get_number(right, &y)) {
        return apply_to_floats(operator, x, y, out);
    }
    return apply_to_others(run, operator, left, right, out);
}

yk_status yk_jinja_operation_apply_sign(struct yk_jinja_value value, bool negative,
                                        struct yk_jinja_value *out)
{
    int64_t integer = 0;
    if (value.kind == YK_JINJA_FLOAT) {
        *out = yk_jinja_value_float(negative ? -value.as.number : value.as.number);
        return YK_OK;
    }
    if (yk_jinja_value_get_integer(value, &integer)) {
        if (negative && integer == INT64_MIN) {
            return fail_overflow();
        }
        *out = yk_jinja_value_int(negative ? -integer : integer);
        return YK_OK;
    }
    if (value.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(value);
    }
    return yk_fail(YK_ERROR_INPUT, "a value of type %s has no sign",
                   yk_jinja_value_type_name(value));
}

yk_status yk_jinja_operation_join(struct yk_jinja_run *run, struct yk_jinja_value left,
                                  struct yk_jinja_value right, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *a = NULL;
    const struct yk_jinja_string *b = NULL;
    YK_TRY(yk_jinja_value_text_make(run, left, &a));
    YK_TRY(yk_jinja_value_text_make(run, right, &b));
    return yk_jinja_value_concatenate(run, a, b, out);
}
