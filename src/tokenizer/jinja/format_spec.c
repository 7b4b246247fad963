#include "tokenizer/jinja/format_spec.h"

#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MIN_STEPS = 8 /* of writing a value */
};

yk_status yk_jinja_format_spec_fail(void)
{
    return yk_fail(YK_ERROR_INPUT, "a format string is broken or not supported");
}

yk_status yk_jinja_format_spec_fail_type(char type, struct yk_jinja_value value)
{
    return value.kind == YK_JINJA_UNDEFINED
               ? yk_jinja_value_fail_undefined(value)
               : yk_fail(YK_ERROR_INPUT, "the format '%c' cannot write a value of type %s", type,
                         yk_jinja_value_type_name(value));
}

static int64_t count_characters(const char *bytes, size_t length)
{
    const struct yk_jinja_string string = {.bytes = bytes, .length = length, .characters = -1};
    struct yk_jinja_string copy = string;
    return yk_jinja_value_count_characters(&copy);
}

static void add_fill(const struct yk_jinja_format_spec *spec, int64_t count, struct yk_text *out)
{
    for (int64_t i = 0; i < count; i++) {
        yk_text_add_bytes(out, spec->fill, spec->fill_length);
    }
}

/* Adds text with padding. `sign` characters at its beginning stay in front of '=' padding. */
static yk_status add_padded(struct yk_jinja_run *run, const struct yk_jinja_format_spec *spec,
                            char align, const struct yk_text *body, size_t sign,
                            struct yk_text *out)
{
    const char *bytes = yk_text_chars(body);
    const int64_t missing = spec->width - count_characters(bytes, body->length);
    const int64_t fill = missing > 0 ? missing : 0;
    const int64_t before = align == '>' ? fill : align == '^' ? fill / 2 : 0;
    YK_TRY(yk_jinja_run_charge_memory(run, body->length + (size_t)fill * 4));
    add_fill(spec, before, out);
    yk_text_add_bytes(out, bytes, align == '=' ? sign : body->length);
    if (align == '=') {
        add_fill(spec, fill, out);
        yk_text_add_bytes(out, bytes + sign, body->length - sign);
    } else {
        add_fill(spec, fill - before, out);
    }
    return YK_OK;
}

static void group_digits(struct yk_text *body, size_t begin)
{
    size_t digits = begin;
    while (digits < body->length && isdigit((unsigned char)body->bytes[digits])) {
        digits++;
    }
    struct yk_text grouped = {0};
    yk_text_add_bytes(&grouped, body->bytes, begin);
    for (size_t i = begin; i < digits; i++) {
        yk_text_add(&grouped, i > begin && (digits - i) % 3 == 0 ? "," : "");
        yk_text_add_bytes(&grouped, body->bytes + i, 1);
    }
    yk_text_add_bytes(&grouped, body->bytes + digits, body->length - digits);
    yk_text_free(body);
    *body = grouped;
}

static void add_sign(const struct yk_jinja_format_spec *spec, bool negative, struct yk_text *body)
{
    yk_text_add(body, negative ? "-" : spec->sign == '+' ? "+" : spec->sign == ' ' ? " " : "");
}

static void add_integer(const struct yk_jinja_format_spec *spec, int64_t value,
                        struct yk_text *body)
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    add_sign(spec, value < 0, body);
    const size_t begin = body->length;
    char binary[65];
    switch (spec->type) {
    case 'x':
        yk_text_addf(body, spec->alternate ? "0x%" PRIx64 : "%" PRIx64, magnitude);
        break;
    case 'X':
        yk_text_addf(body, spec->alternate ? "0X%" PRIX64 : "%" PRIX64, magnitude);
        break;
    case 'o':
        yk_text_addf(body, spec->alternate ? "0o%" PRIo64 : "%" PRIo64, magnitude);
        break;
    case 'b':
        binary[64] = '\0';
        for (int i = 0; i < 64; i++) {
            binary[i] = (char)('0' + (magnitude >> (63 - i) & 1));
        }
        yk_text_add(body, spec->alternate ? "0b" : "");
        yk_text_add(body, magnitude == 0 ? "0" : strchr(binary, '1'));
        break;
    default:
        for (int64_t width = snprintf(NULL, 0, "%" PRIu64, magnitude); width < spec->precision;
             width++) {
            yk_text_add(body, "0");
        }
        yk_text_addf(body, "%" PRIu64, magnitude);
        if (spec->grouped) {
            group_digits(body, begin);
        }
    }
}

static void add_float(const struct yk_jinja_format_spec *spec, double value, struct yk_text *body)
{
    const double magnitude = fabs(value);
    const int precision = (int)(spec->precision < 0 ? 6 : spec->precision);
    const char type = (char)tolower((unsigned char)spec->type);
    add_sign(spec, signbit(value) && !isnan(value), body);
    const size_t begin = body->length;
    if (!isfinite(value)) {
        yk_text_add(body, isnan(value) ? "nan" : "inf");
    } else if (type == 'e') {
        yk_text_addf(body, spec->type == 'E' ? "%.*E" : "%.*e", precision, magnitude);
    } else if (type == 'g') {
        yk_text_addf(body, spec->type == 'G' ? "%.*G" : "%.*g", precision, magnitude);
    } else if (type == '%') {
        yk_text_addf(body, "%.*f%%", precision, magnitude * 100);
    } else {
        yk_text_addf(body, "%.*f", precision, magnitude);
    }
    if (spec->grouped) {
        group_digits(body, begin);
    }
}

/* Adds at most `precision` characters of a text. */
static void add_cut(const struct yk_jinja_format_spec *spec, struct yk_text *body)
{
    size_t end = 0;
    uint32_t character = 0;
    for (int64_t left = spec->precision; left > 0 && end < body->length; left--) {
        end += yk_jinja_string_decode(body->bytes + end, &character);
    }
    if (spec->precision >= 0 && end < body->length) {
        body->length = end;
        body->bytes[end] = '\0';
    }
}

static bool is_float_type(char type)
{
    return type != '\0' && strchr("eEfFgG%", type) != NULL;
}

static bool is_integer_type(char type)
{
    return type != '\0' && strchr("diuxXob", type) != NULL;
}

static yk_status make_text(struct yk_jinja_run *run, const struct yk_jinja_format_spec *spec,
                           struct yk_jinja_value value, struct yk_text *body)
{
    if (spec->type == 'r' || spec->type == 'a') {
        YK_TRY(yk_jinja_value_text_add_repr(run, value, body));
    } else {
        YK_TRY(yk_jinja_value_text_add(run, value, body));
    }
    add_cut(spec, body);
    return YK_OK;
}

/* Makes the text of a number. `*numeric` is set to whether the value was written as a number. */
static yk_status make_body(struct yk_jinja_run *run, const struct yk_jinja_format_spec *spec,
                           struct yk_jinja_value value, bool percent, struct yk_text *body,
                           bool *numeric)
{
    int64_t integer = 0;
    double number = 0;
    const bool is_integer = yk_jinja_value_get_integer(value, &integer);
    const bool is_number = yk_jinja_value_get_number(value, &number);
    *numeric = true;
    if (is_float_type(spec->type)) {
        if (!is_number) {
            return yk_jinja_format_spec_fail_type(spec->type, value);
        }
        add_float(spec, number, body);
    } else if (is_integer_type(spec->type)) {
        const bool truncated = percent && is_number && !is_integer && isfinite(number) &&
                               fabs(number) < 9e18 && strchr("diu", spec->type);
        if (!is_integer && !truncated) {
            return yk_jinja_format_spec_fail_type(spec->type, value);
        }
        add_integer(spec, is_integer ? integer : (int64_t)number, body);
    } else if (!percent && spec->type == '\0' && is_number && value.kind != YK_JINJA_BOOL) {
        if (is_integer) {
            add_integer(spec, integer, body);
        } else if (spec->precision >= 0) {
            return yk_jinja_format_spec_fail(); /* a form of 'g' that no template needs */
        } else {
            add_sign(spec, signbit(number) && !isnan(number), body);
            yk_jinja_value_text_add_float(fabs(number), body);
        }
    } else {
        *numeric = false;
        return make_text(run, spec, value, body);
    }
    return YK_OK;
}

/* Writing many digits of a float needs arithmetic with large numbers. */
static int64_t count_steps(const struct yk_jinja_format_spec *spec, struct yk_jinja_value value)
{
    int exponent = 0;
    if (value.kind == YK_JINJA_FLOAT && isfinite(value.as.number)) {
        (void)frexp(value.as.number, &exponent);
    }
    return (value.kind == YK_JINJA_FLOAT ? YK_JINJA_FLOAT_STEPS : MIN_STEPS) + abs(exponent) / 2 +
           (spec->precision > 0 ? spec->precision : 0);
}

yk_status yk_jinja_format_spec_write(struct yk_jinja_run *run,
                                     const struct yk_jinja_format_spec *spec,
                                     struct yk_jinja_value value, bool percent, struct yk_text *out)
{
    struct yk_text body = {0};
    bool numeric = false;
    YK_TRY(yk_jinja_run_step(run, count_steps(spec, value)));
    yk_status status = make_body(run, spec, value, percent, &body, &numeric);
    if (status == YK_OK) {
        const size_t sign = body.length > 0 && strchr("+- ", body.bytes[0]) && numeric ? 1 : 0;
        char align = spec->align;
        if (!align || (align == '=' && !numeric)) {
            align = "<>"[numeric || percent];
        }
        status = add_padded(run, spec, align, &body, sign, out);
    }
    yk_text_free(&body);
    return status;
}
