#include "tokenizer/jinja/string_format.h"

#include "tokenizer/jinja/attribute.h"
#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_text.h"

#include "base/number.h"
#include "base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    MAX_WIDTH = 1000 * 1000,
    MAX_PRECISION = 400
};

/* How one value is written. */
struct spec {
    char fill[YK_UTF8_MAX_BYTES];
    size_t fill_length;
    char align; /* '<', '>', '^', '=' or '\0' */
    char sign;  /* '+', ' ' or '-' */
    bool alternate;
    bool grouped; /* with commas */
    int64_t width;
    int64_t precision; /* -1: none */
    char type;         /* '\0': none */
};

/* A format while it is read. */
struct formatter {
    struct yk_jinja_run *run;
    const char *at;
    const char *end;
    struct yk_text text;
    struct yk_jinja_value values; /* of % */
    int64_t next;
    const struct yk_jinja_arguments *arguments; /* of format() */
    bool numbered;
    bool counted;
};

static yk_status fail_format(void)
{
    return yk_fail(YK_ERROR_INPUT, "a format string is broken or not supported");
}

static yk_status fail_type(char type, struct yk_jinja_value value)
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
    return yk_jinja_string_length(&copy);
}

static void add_fill(const struct spec *spec, int64_t count, struct yk_text *out)
{
    for (int64_t i = 0; i < count; i++) {
        yk_text_add_bytes(out, spec->fill, spec->fill_length);
    }
}

/* Adds text with padding. `sign` characters at its beginning stay in front of '=' padding. */
static yk_status add_padded(struct formatter *formatter, const struct spec *spec, char align,
                            const struct yk_text *body, size_t sign)
{
    struct yk_text *out = &formatter->text;
    const char *bytes = yk_text_chars(body);
    const int64_t missing = spec->width - count_characters(bytes, body->length);
    const int64_t fill = missing > 0 ? missing : 0;
    const int64_t before = align == '>' ? fill : align == '^' ? fill / 2 : 0;
    YK_TRY(yk_jinja_run_charge_memory(formatter->run, body->length + (size_t)fill * 4));
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

static void add_sign(const struct spec *spec, bool negative, struct yk_text *body)
{
    const char sign[] = {negative ? '-' : spec->sign, '\0'};
    yk_text_add(body, negative || spec->sign == '+' || spec->sign == ' ' ? sign : "");
}

static void add_integer(const struct spec *spec, int64_t value, struct yk_text *body)
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

static void add_float(const struct spec *spec, double value, struct yk_text *body)
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
static void add_cut(const struct spec *spec, struct yk_text *body)
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

static yk_status make_text(struct formatter *formatter, const struct spec *spec,
                           struct yk_jinja_value value, struct yk_text *body)
{
    if (spec->type == 'r' || spec->type == 'a') {
        YK_TRY(yk_jinja_value_text_add_repr(formatter->run, value, body));
    } else {
        YK_TRY(yk_jinja_value_text_add(formatter->run, value, body));
    }
    add_cut(spec, body);
    return YK_OK;
}

/* Makes the text of a number. `*numeric` is set to whether the value was written as a number. */
static yk_status make_body(struct formatter *formatter, const struct spec *spec,
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
            return fail_type(spec->type, value);
        }
        add_float(spec, number, body);
    } else if (is_integer_type(spec->type)) {
        const bool truncated = percent && is_number && !is_integer && isfinite(number) &&
                               fabs(number) < 9e18 && strchr("diu", spec->type);
        if (!is_integer && !truncated) {
            return fail_type(spec->type, value);
        }
        add_integer(spec, is_integer ? integer : (int64_t)number, body);
    } else if (!percent && spec->type == '\0' && is_number && value.kind != YK_JINJA_BOOL) {
        if (is_integer) {
            add_integer(spec, integer, body);
        } else if (spec->precision >= 0) {
            return fail_format(); /* a form of 'g' that no template needs */
        } else {
            add_sign(spec, signbit(number) && !isnan(number), body);
            yk_jinja_value_text_add_float(fabs(number), body);
        }
    } else {
        *numeric = false;
        return make_text(formatter, spec, value, body);
    }
    return YK_OK;
}

static yk_status add_value(struct formatter *formatter, const struct spec *spec,
                           struct yk_jinja_value value, bool percent)
{
    struct yk_text body = {0};
    bool numeric = false;
    yk_status status = make_body(formatter, spec, value, percent, &body, &numeric);
    if (status == YK_OK) {
        const size_t sign = body.length > 0 && strchr("+- ", body.bytes[0]) && numeric ? 1 : 0;
        const char align = spec->align && (spec->align != '=' || numeric) ? spec->align
                           : numeric || percent                           ? '>'
                                                                          : '<';
        status = add_padded(formatter, spec, align, &body, sign);
    }
    yk_text_free(&body);
    return status;
}

/* Reads digits, if there are any. */
static yk_status read_number(struct formatter *formatter, int64_t max, int64_t *out)
{
    int64_t number = 0;
    while (formatter->at < formatter->end && isdigit((unsigned char)*formatter->at)) {
        number = number * 10 + (*formatter->at++ - '0');
        if (number > max) {
            return yk_fail(YK_ERROR_INPUT, "a width or precision of a format is too large");
        }
        *out = number;
    }
    return YK_OK;
}

static bool skip(struct formatter *formatter, char character)
{
    const bool found = formatter->at < formatter->end && *formatter->at == character;
    formatter->at += found;
    return found;
}

static yk_status next_percent_value(struct formatter *formatter, struct yk_jinja_value *out)
{
    const struct yk_jinja_value values = formatter->values;
    const int64_t count = values.kind == YK_JINJA_TUPLE ? values.as.list->count : 1;
    if (formatter->next >= count) {
        return yk_fail(YK_ERROR_INPUT, "a format string needs more values than it has");
    }
    *out = values.kind == YK_JINJA_TUPLE ? values.as.list->items[formatter->next] : values;
    formatter->next++;
    return YK_OK;
}

static yk_status find_named_value(struct formatter *formatter, struct yk_jinja_value *out)
{
    const char *close = memchr(formatter->at, ')', (size_t)(formatter->end - formatter->at));
    if (!close || formatter->values.kind != YK_JINJA_DICT) {
        return fail_format();
    }
    const struct yk_jinja_string key = {
        .bytes = formatter->at, .length = (size_t)(close - formatter->at), .characters = -1};
    const struct yk_jinja_value *found = yk_jinja_dict_find_string(formatter->values.as.dict, &key);
    if (!found) {
        return yk_fail(YK_ERROR_INPUT, "a format string needs a value that the dict has not");
    }
    *out = *found;
    formatter->at = close + 1;
    return YK_OK;
}

static yk_status read_star(struct formatter *formatter, int64_t *out)
{
    struct yk_jinja_value value = {0};
    YK_TRY(next_percent_value(formatter, &value));
    if (!yk_jinja_value_get_integer(value, out) || *out > MAX_WIDTH || *out < 0) {
        return fail_format();
    }
    return YK_OK;
}

static yk_status read_percent_spec(struct formatter *formatter, struct spec *spec)
{
    for (; formatter->at < formatter->end && strchr("#0- +", *formatter->at) && *formatter->at;
         formatter->at++) {
        switch (*formatter->at) {
        case '#':
            spec->alternate = true;
            break;
        case '0':
            spec->fill[0] = spec->align == '<' ? ' ' : '0';
            spec->align = spec->align == '<' ? '<' : '=';
            break;
        case '-':
            spec->fill[0] = ' ';
            spec->align = '<';
            break;
        default:
            spec->sign = spec->sign == '+' ? '+' : *formatter->at;
        }
    }
    if (skip(formatter, '*')) {
        YK_TRY(read_star(formatter, &spec->width));
    } else {
        YK_TRY(read_number(formatter, MAX_WIDTH, &spec->width));
    }
    if (skip(formatter, '.')) {
        spec->precision = 0;
        YK_TRY(read_number(formatter, MAX_PRECISION, &spec->precision));
    }
    return YK_OK;
}

static yk_status add_character(struct formatter *formatter, const struct spec *spec,
                               struct yk_jinja_value value)
{
    int64_t code = 0;
    char bytes[YK_UTF8_MAX_BYTES];
    if (value.kind == YK_JINJA_STRING && yk_jinja_string_length(value.as.string) == 1) {
        return add_value(formatter, spec, value, true);
    }
    if (!yk_jinja_value_get_integer(value, &code) || code <= 0 ||
        code >= YK_UTF8_CODE_POINT_COUNT || (code >= 0xd800 && code < 0xe000)) {
        return fail_type('c', value);
    }
    const size_t length = yk_utf8_encode((uint32_t)code, bytes);
    YK_TRY(yk_jinja_value_copy_string(formatter->run, bytes, length, &value));
    return add_value(formatter, spec, value, true);
}

/* Adds what the % before the current position means. */
static yk_status add_percent(struct formatter *formatter)
{
    struct spec spec = {.fill = {' '}, .fill_length = 1, .precision = -1, .sign = '-'};
    struct yk_jinja_value value = {0};
    if (skip(formatter, '%')) {
        yk_text_add(&formatter->text, "%");
        return YK_OK;
    }
    const bool named = skip(formatter, '(');
    if (named) {
        YK_TRY(find_named_value(formatter, &value));
    }
    YK_TRY(read_percent_spec(formatter, &spec));
    while (skip(formatter, 'l') || skip(formatter, 'h') || skip(formatter, 'L')) {
    }
    if (formatter->at >= formatter->end) {
        return fail_format();
    }
    spec.type = *formatter->at++;
    if (spec.type == '%') {
        yk_text_add(&formatter->text, "%");
        return YK_OK;
    }
    if (!strchr("sradiuxXoeEfFgGc", spec.type)) {
        return fail_format();
    }
    if (!named) {
        YK_TRY(next_percent_value(formatter, &value));
    }
    return spec.type == 'c' ? add_character(formatter, &spec, value)
                            : add_value(formatter, &spec, value, true);
}

static yk_status format_percent(struct formatter *formatter)
{
    while (formatter->at < formatter->end) {
        const char *sign = memchr(formatter->at, '%', (size_t)(formatter->end - formatter->at));
        const char *stop = sign ? sign : formatter->end;
        yk_text_add_bytes(&formatter->text, formatter->at, (size_t)(stop - formatter->at));
        formatter->at = stop;
        if (skip(formatter, '%')) {
            YK_TRY(yk_jinja_run_step(formatter->run, 1));
            YK_TRY(add_percent(formatter));
        }
    }
    const struct yk_jinja_value values = formatter->values;
    const bool unused =
        values.kind == YK_JINJA_TUPLE
            ? formatter->next < values.as.list->count
            : formatter->next == 0 && values.kind != YK_JINJA_DICT && values.kind != YK_JINJA_LIST;
    return unused ? yk_fail(YK_ERROR_INPUT, "a format string has more values than it needs")
                  : YK_OK;
}

static yk_status finish(struct formatter *formatter, yk_status status, struct yk_jinja_value *out)
{
    YK_TRY_OR_CLEAN_UP(status, yk_text_free(&formatter->text));
    return yk_jinja_string_from_text(formatter->run, &formatter->text, out);
}

yk_status yk_jinja_string_format_percent(struct yk_jinja_run *run,
                                         const struct yk_jinja_string *format,
                                         struct yk_jinja_value values, struct yk_jinja_value *out)
{
    struct formatter formatter = {
        .run = run, .at = format->bytes, .end = format->bytes + format->length, .values = values};
    YK_TRY(yk_jinja_run_charge_bytes(run, format->length));
    return finish(&formatter, format_percent(&formatter), out);
}

/* Finds the argument with a number or a name; an empty name is the next number. */
static yk_status find_field(struct formatter *formatter, const char *name, size_t length,
                            struct yk_jinja_value *out)
{
    const struct yk_jinja_arguments *arguments = formatter->arguments;
    int64_t number = formatter->next;
    const bool is_number = length > 0 && isdigit((unsigned char)name[0]) &&
                           yk_number_parse_integer(name, length, &number);
    if (length == 0 || is_number) {
        formatter->counted = formatter->counted || length == 0;
        formatter->numbered = formatter->numbered || length > 0;
        formatter->next += length == 0;
        if (number >= arguments->positional || (formatter->counted && formatter->numbered)) {
            return yk_fail(YK_ERROR_INPUT, "a format string needs other values than it has");
        }
        *out = arguments->values[number];
        return YK_OK;
    }
    for (int64_t i = 0; i < arguments->named; i++) {
        if (arguments->names[i]->length == length &&
            memcmp(arguments->names[i]->bytes, name, length) == 0) {
            *out = arguments->values[arguments->positional + i];
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT, "a format string needs a value that it has not");
}

static size_t span_until(const struct formatter *formatter, const char *stops)
{
    size_t length = 0;
    while (formatter->at + length < formatter->end &&
           !(formatter->at[length] && strchr(stops, formatter->at[length]))) {
        length++;
    }
    return length;
}

static yk_status read_field(struct formatter *formatter, struct yk_jinja_value *out)
{
    size_t length = span_until(formatter, ".[!:}{");
    YK_TRY(find_field(formatter, formatter->at, length, out));
    formatter->at += length;
    for (;;) {
        const bool item = skip(formatter, '[');
        if (!item && !skip(formatter, '.')) {
            return YK_OK;
        }
        length = span_until(formatter, item ? "]" : ".[!:}");
        struct yk_jinja_value name = {0};
        int64_t index = 0;
        YK_TRY(yk_jinja_value_new_string(formatter->run, formatter->at, length, &name));
        if (item && yk_number_parse_integer(formatter->at, length, &index)) {
            name = yk_jinja_value_int(index);
        }
        formatter->at += length;
        if (item && !skip(formatter, ']')) {
            return fail_format();
        }
        if (item) {
            YK_TRY(yk_jinja_attribute_get_item(formatter->run, *out, name, out));
        } else {
            YK_TRY(yk_jinja_attribute_get(formatter->run, *out, name.as.string, NULL, out));
        }
    }
}

/* Reads [[fill]align][sign][#][0][width][,][.precision][type]. */
static yk_status read_brace_spec(struct formatter *formatter, struct spec *spec)
{
    uint32_t character = 0;
    if (formatter->at >= formatter->end) {
        return fail_format();
    }
    const size_t used = yk_jinja_string_decode(formatter->at, &character);
    if (formatter->at + used < formatter->end && formatter->at[used] &&
        strchr("<>^=", formatter->at[used])) {
        memcpy(spec->fill, formatter->at, used);
        spec->fill_length = used;
        spec->align = formatter->at[used];
        formatter->at += used + 1;
    } else if (*formatter->at && strchr("<>^=", *formatter->at)) {
        spec->align = *formatter->at++;
    }
    if (formatter->at < formatter->end && *formatter->at && strchr("+- ", *formatter->at)) {
        spec->sign = *formatter->at++;
    }
    spec->alternate = skip(formatter, '#');
    if (skip(formatter, '0') && !spec->align) {
        spec->fill[0] = '0';
        spec->align = '=';
    }
    YK_TRY(read_number(formatter, MAX_WIDTH, &spec->width));
    spec->grouped = skip(formatter, ',');
    if (skip(formatter, '.')) {
        YK_TRY(read_number(formatter, MAX_PRECISION, &spec->precision));
        if (spec->precision < 0) {
            return fail_format();
        }
    }
    if (formatter->at < formatter->end && *formatter->at != '}') {
        spec->type = *formatter->at++;
    }
    return YK_OK;
}

static yk_status add_braces(struct formatter *formatter)
{
    struct spec spec = {.fill = {' '}, .fill_length = 1, .precision = -1, .sign = '-'};
    struct yk_jinja_value value = {0};
    bool formatted = false;
    YK_TRY(read_field(formatter, &value));
    if (skip(formatter, '!')) {
        struct spec conversion = {.precision = -1};
        struct yk_text text = {0};
        conversion.type = formatter->at < formatter->end ? *formatter->at++ : '\0';
        if (conversion.type != 's' && conversion.type != 'r') {
            return fail_format();
        }
        YK_TRY_OR_CLEAN_UP(make_text(formatter, &conversion, value, &text), yk_text_free(&text));
        YK_TRY(yk_jinja_string_from_text(formatter->run, &text, &value));
    }
    if (skip(formatter, ':')) {
        formatted = formatter->at < formatter->end && *formatter->at != '}';
        YK_TRY(read_brace_spec(formatter, &spec));
    }
    const bool known = spec.type == '\0' || strchr("sdxXobeEfFgG%", spec.type);
    const bool plain = value.kind == YK_JINJA_STRING || value.kind == YK_JINJA_INT ||
                       value.kind == YK_JINJA_FLOAT || value.kind == YK_JINJA_BOOL;
    if (formatted && value.kind == YK_JINJA_BOOL) {
        value = yk_jinja_value_int(value.as.boolean); /* Python formats it as an integer then */
    }
    if (!skip(formatter, '}') || !known || (formatted && !plain) ||
        (spec.type == 's' && value.kind != YK_JINJA_STRING)) {
        return fail_format();
    }
    return add_value(formatter, &spec, value, false);
}

static yk_status format_braces(struct formatter *formatter)
{
    while (formatter->at < formatter->end) {
        const size_t plain = span_until(formatter, "{}");
        yk_text_add_bytes(&formatter->text, formatter->at, plain);
        formatter->at += plain;
        if (formatter->at >= formatter->end) {
            break;
        }
        const char brace = *formatter->at++;
        YK_TRY(yk_jinja_run_step(formatter->run, 1));
        if (skip(formatter, brace)) {
            yk_text_add_bytes(&formatter->text, &brace, 1);
        } else if (brace == '}') {
            return fail_format();
        } else {
            YK_TRY(add_braces(formatter));
        }
    }
    return YK_OK;
}

yk_status yk_jinja_string_format_braces(struct yk_jinja_run *run,
                                        const struct yk_jinja_string *format,
                                        const struct yk_jinja_arguments *arguments,
                                        struct yk_jinja_value *out)
{
    struct formatter formatter = {.run = run,
                                  .at = format->bytes,
                                  .end = format->bytes + format->length,
                                  .arguments = arguments};
    YK_TRY(yk_jinja_run_charge_bytes(run, format->length));
    return finish(&formatter, format_braces(&formatter), out);
}
