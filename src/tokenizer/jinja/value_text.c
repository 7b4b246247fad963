#include "tokenizer/jinja/value_text.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/unicode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_DIGITS = 17,   /* that a double needs */
    MIN_EXPONENT = -4, /* numbers below 1e-4 and */
    MAX_EXPONENT = 16  /* from 1e16 on are written with an exponent */
};

void yk_jinja_value_text_add_float(double number, struct yk_text *out)
{
    char digits[40];
    if (!isfinite(number)) {
        yk_text_add(out, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
        return;
    }
    for (int count = 1; count <= MAX_DIGITS; count++) {
        (void)snprintf(digits, sizeof digits, "%.*e", count - 1, number);
        if (strtod(digits, NULL) == number) {
            break;
        }
    }
    char *exponent = strchr(digits, 'e');
    const long power = strtol(exponent + 1, NULL, 10);
    if (power < MIN_EXPONENT || power >= MAX_EXPONENT) {
        yk_text_add(out, digits); /* both write an exponent of at least two digits */
        return;
    }
    const int written = (int)(exponent - digits) - (number < 0 || signbit(number) ? 1 : 0);
    const int significant = written > 1 ? written - 1 : 1;
    const long decimals = significant - 1 - power;
    yk_text_addf(out, "%.*f", decimals > 1 ? (int)decimals : 1, number);
}

static bool is_printable(uint32_t character)
{
    if (character < 0x7f) {
        return character >= ' ';
    }
    const char *category = yk_unicode_general_category(character);
    return category[0] != 'C' && category[0] != 'Z';
}

static void add_escaped(uint32_t character, struct yk_text *out)
{
    if (character == '\n' || character == '\r' || character == '\t') {
        yk_text_add(out, character == '\n' ? "\\n" : character == '\r' ? "\\r" : "\\t");
    } else if (character < 0x100) {
        yk_text_addf(out, "\\x%02x", (unsigned)character);
    } else {
        yk_text_addf(out, character < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)character);
    }
}

static void add_quoted(const struct yk_jinja_string *string, struct yk_text *out)
{
    const bool single = string->length > 0 && memchr(string->bytes, '\'', string->length);
    const bool both = single && memchr(string->bytes, '"', string->length);
    const char quote[] = {single && !both ? '"' : '\'', '\0'};
    yk_text_add(out, string->markup ? "Markup(" : "");
    yk_text_add(out, quote);
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(string->bytes + at, &character);
        if (character == '\\' || character == (unsigned char)quote[0]) {
            yk_text_add(out, "\\");
        }
        if (is_printable(character)) {
            yk_text_add_bytes(out, string->bytes + at, used);
        } else {
            add_escaped(character, out);
        }
        at += used;
    }
    yk_text_add(out, quote);
    yk_text_add(out, string->markup ? ")" : "");
}

static yk_status add_items(struct yk_jinja_run *run, const struct yk_jinja_list *list,
                           const char *before, const char *behind, struct yk_text *out)
{
    yk_text_add(out, before);
    for (int64_t i = 0; i < list->count; i++) {
        yk_text_add(out, i > 0 ? ", " : "");
        YK_TRY(yk_jinja_value_text_add_repr(run, list->items[i], out));
    }
    yk_text_add(out, behind);
    return YK_OK;
}

static yk_status add_entries(struct yk_jinja_run *run, const struct yk_jinja_dict *dict,
                             struct yk_text *out)
{
    yk_text_add(out, "{");
    for (int64_t i = 0; i < dict->count; i++) {
        yk_text_add(out, i > 0 ? ", " : "");
        YK_TRY(yk_jinja_value_text_add_repr(run, dict->entries[i].key, out));
        yk_text_add(out, ": ");
        YK_TRY(yk_jinja_value_text_add_repr(run, dict->entries[i].value, out));
    }
    yk_text_add(out, "}");
    return YK_OK;
}

static yk_status add_view(struct yk_jinja_run *run, const struct yk_jinja_view *view,
                          struct yk_text *out)
{
    static const char *const names[] = {"dict_keys([", "dict_values([", "dict_items(["};
    const struct yk_jinja_dict *dict = view->dict;
    yk_text_add(out, names[view->kind]);
    for (int64_t i = 0; i < dict->count; i++) {
        const struct yk_jinja_dict_entry *entry = &dict->entries[i];
        yk_text_add(out, i > 0 ? ", " : "");
        yk_text_add(out, view->kind == YK_JINJA_VIEW_ITEMS ? "(" : "");
        if (view->kind != YK_JINJA_VIEW_VALUES) {
            YK_TRY(yk_jinja_value_text_add_repr(run, entry->key, out));
        }
        yk_text_add(out, view->kind == YK_JINJA_VIEW_ITEMS ? ", " : "");
        if (view->kind != YK_JINJA_VIEW_KEYS) {
            YK_TRY(yk_jinja_value_text_add_repr(run, entry->value, out));
        }
        yk_text_add(out, view->kind == YK_JINJA_VIEW_ITEMS ? ")" : "");
    }
    yk_text_add(out, "])");
    return YK_OK;
}

static void add_range(const struct yk_jinja_range *range, struct yk_text *out)
{
    yk_text_addf(out, "range(%" PRId64 ", %" PRId64, range->start, range->stop);
    if (range->step != 1) {
        yk_text_addf(out, ", %" PRId64, range->step);
    }
    yk_text_add(out, ")");
}

static yk_status add_container(struct yk_jinja_run *run, struct yk_jinja_value value,
                               struct yk_text *out)
{
    switch (value.kind) {
    case YK_JINJA_LIST:
        return add_items(run, value.as.list, "[", "]", out);
    case YK_JINJA_TUPLE:
        return add_items(run, value.as.list, "(", value.as.list->count == 1 ? ",)" : ")", out);
    case YK_JINJA_DICT:
        return add_entries(run, value.as.dict, out);
    case YK_JINJA_VIEW:
        return add_view(run, value.as.view, out);
    case YK_JINJA_NAMESPACE:
        yk_text_add(out, "<Namespace ");
        YK_TRY(add_entries(run, value.as.dict, out));
        yk_text_add(out, ">");
        return YK_OK;
    case YK_JINJA_CALLABLE:
        if (value.as.callable->is_macro) {
            const struct yk_jinja_value name = value.as.callable->self;
            yk_text_add(out, "<Macro ");
            if (name.kind == YK_JINJA_STRING) {
                add_quoted(name.as.string, out);
            }
            yk_text_add(out, name.kind == YK_JINJA_STRING ? ">" : "anonymous>");
            return YK_OK;
        }
        /* fall through */
    default:
        return yk_fail(YK_ERROR_INPUT, "a value of type %s cannot be written as text%s",
                       yk_jinja_value_type_name(value),
                       value.kind == YK_JINJA_ITERATOR ? "; add the filter list" : "");
    }
}

static yk_status add_nested(struct yk_jinja_run *run, struct yk_jinja_value value,
                            struct yk_text *out)
{
    YK_TRY(yk_jinja_run_enter(run));
    const yk_status status = add_container(run, value, out);
    yk_jinja_run_leave(run);
    return status;
}

yk_status yk_jinja_value_text_add_repr(struct yk_jinja_run *run, struct yk_jinja_value value,
                                       struct yk_text *out)
{
    YK_TRY(yk_jinja_run_step(run, 1));
    switch (value.kind) {
    case YK_JINJA_UNDEFINED:
        yk_text_add(out, "Undefined");
        return YK_OK;
    case YK_JINJA_NONE:
        yk_text_add(out, "None");
        return YK_OK;
    case YK_JINJA_BOOL:
        yk_text_add(out, value.as.boolean ? "True" : "False");
        return YK_OK;
    case YK_JINJA_INT:
        yk_text_addf(out, "%" PRId64, value.as.integer);
        return YK_OK;
    case YK_JINJA_FLOAT:
        yk_jinja_value_text_add_float(value.as.number, out);
        return YK_OK;
    case YK_JINJA_STRING:
        YK_TRY(yk_jinja_run_charge_bytes(run, value.as.string->length * 4));
        YK_TRY(yk_jinja_run_charge_memory(run, value.as.string->length));
        add_quoted(value.as.string, out);
        return YK_OK;
    case YK_JINJA_RANGE:
        add_range(value.as.range, out);
        return YK_OK;
    default:
        return add_nested(run, value, out);
    }
}

yk_status yk_jinja_value_text_add(struct yk_jinja_run *run, struct yk_jinja_value value,
                                  struct yk_text *out)
{
    if (value.kind == YK_JINJA_STRING) {
        YK_TRY(yk_jinja_run_charge_bytes(run, value.as.string->length));
        yk_text_add_bytes(out, value.as.string->bytes, value.as.string->length);
        return YK_OK;
    }
    return value.kind == YK_JINJA_UNDEFINED ? YK_OK : yk_jinja_value_text_add_repr(run, value, out);
}

yk_status yk_jinja_value_text_make(struct yk_jinja_run *run, struct yk_jinja_value value,
                                   const struct yk_jinja_string **out)
{
    if (value.kind == YK_JINJA_STRING) {
        *out = value.as.string;
        return YK_OK;
    }
    struct yk_text text = {0};
    struct yk_jinja_value made = {0};
    YK_TRY_OR_CLEAN_UP(yk_jinja_value_text_add(run, value, &text), yk_text_free(&text));
    YK_TRY(yk_jinja_string_from_text(run, &text, &made));
    *out = made.as.string;
    return YK_OK;
}
