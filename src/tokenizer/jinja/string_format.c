#include "tokenizer/jinja/string_format.h"

#include "tokenizer/jinja/attribute.h"
#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/format_spec.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_text.h"

#include "base/number.h"
#include "base/utf8.h"

#include <ctype.h>

enum {
    MAX_WIDTH = 1000 * 1000,
    MAX_PRECISION = 400
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
        return yk_jinja_format_spec_fail();
    }
    const struct yk_jinja_string key = {
        .bytes = formatter->at, .length = (size_t)(close - formatter->at), .characters = -1};
    const struct yk_jinja_value *found = NULL;
    YK_TRY(yk_jinja_dict_find_string(formatter->run, formatter->values.as.dict, &key, &found));
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
        return yk_jinja_format_spec_fail();
    }
    return YK_OK;
}

static yk_status read_percent_spec(struct formatter *formatter, struct yk_jinja_format_spec *spec)
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
            if (spec->sign != '+') {
                spec->sign = *formatter->at;
            }
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

static yk_status add_character(struct formatter *formatter, const struct yk_jinja_format_spec *spec,
                               struct yk_jinja_value value)
{
    int64_t code = 0;
    char bytes[YK_UTF8_MAX_BYTES];
    if (value.kind == YK_JINJA_STRING && yk_jinja_value_count_characters(value.as.string) == 1) {
        return yk_jinja_format_spec_write(formatter->run, spec, value, true, &formatter->text);
    }
    if (!yk_jinja_value_get_integer(value, &code) || code <= 0 ||
        code >= YK_UTF8_CODE_POINT_COUNT || (code >= 0xd800 && code < 0xe000)) {
        return yk_jinja_format_spec_fail_type('c', value);
    }
    const size_t length = yk_utf8_encode((uint32_t)code, bytes);
    YK_TRY(yk_jinja_value_copy_string(formatter->run, bytes, length, &value));
    return yk_jinja_format_spec_write(formatter->run, spec, value, true, &formatter->text);
}

/* Adds what the % before the current position means. */
static yk_status add_percent(struct formatter *formatter)
{
    struct yk_jinja_format_spec spec = {
        .fill = {' '}, .fill_length = 1, .precision = -1, .sign = '-'};
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
        return yk_jinja_format_spec_fail();
    }
    spec.type = *formatter->at++;
    if (spec.type == '%') {
        yk_text_add(&formatter->text, "%");
        return YK_OK;
    }
    if (!strchr("sradiuxXoeEfFgGc", spec.type)) {
        return yk_jinja_format_spec_fail();
    }
    if (!named) {
        YK_TRY(next_percent_value(formatter, &value));
    }
    return spec.type == 'c'
               ? add_character(formatter, &spec, value)
               : yk_jinja_format_spec_write(formatter->run, &spec, value, true, &formatter->text);
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

static yk_status charge_format(struct yk_jinja_run *run, const struct yk_jinja_string *format)
{
    YK_TRY(yk_jinja_run_charge_memory(run, format->length));
    return yk_jinja_run_charge_bytes(run, format->length * 4);
}

yk_status yk_jinja_string_format_percent(struct yk_jinja_run *run,
                                         const struct yk_jinja_string *format,
                                         struct yk_jinja_value values, struct yk_jinja_value *out)
{
    struct formatter formatter = {
        .run = run, .at = format->bytes, .end = format->bytes + format->length, .values = values};
    YK_TRY(charge_format(run, format));
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
        YK_TRY(yk_jinja_run_step(formatter->run, 1));
        YK_TRY(yk_jinja_run_charge_bytes(formatter->run, length));
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
            return yk_jinja_format_spec_fail();
        }
        if (item) {
            YK_TRY(yk_jinja_attribute_get_item(formatter->run, *out, name, out));
        } else {
            YK_TRY(yk_jinja_attribute_get(formatter->run, *out, name.as.string, NULL, out));
        }
    }
}

/* Reads [[fill]align][sign][#][0][width][,][.precision][type]. */
static yk_status read_brace_spec(struct formatter *formatter, struct yk_jinja_format_spec *spec)
{
    uint32_t character = 0;
    if (formatter->at >= formatter->end) {
        return yk_jinja_format_spec_fail();
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
            return yk_jinja_format_spec_fail();
        }
    }
    if (formatter->at < formatter->end && *formatter->at != '}') {
        spec->type = *formatter->at++;
    }
    return YK_OK;
}

/* Makes the string that "!s" or "!r" asks for. */
static yk_status convert(struct formatter *formatter, struct yk_jinja_value *value)
{
    struct yk_text text = {0};
    char type = '\0';
    if (formatter->at < formatter->end) {
        type = *formatter->at++;
    }
    if (type != 's' && type != 'r') {
        return yk_jinja_format_spec_fail();
    }
    YK_TRY_OR_CLEAN_UP(type == 'r' ? yk_jinja_value_text_add_repr(formatter->run, *value, &text)
                                   : yk_jinja_value_text_add(formatter->run, *value, &text),
                       yk_text_free(&text));
    return yk_jinja_string_from_text(formatter->run, &text, value);
}

static yk_status add_braces(struct formatter *formatter)
{
    struct yk_jinja_format_spec spec = {
        .fill = {' '}, .fill_length = 1, .precision = -1, .sign = '-'};
    struct yk_jinja_value value = {0};
    bool formatted = false;
    YK_TRY(read_field(formatter, &value));
    if (skip(formatter, '!')) {
        YK_TRY(convert(formatter, &value));
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
        return yk_jinja_format_spec_fail();
    }
    return yk_jinja_format_spec_write(formatter->run, &spec, value, false, &formatter->text);
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
            return yk_jinja_format_spec_fail();
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
    YK_TRY(charge_format(run, format));
    return finish(&formatter, format_braces(&formatter), out);
}
