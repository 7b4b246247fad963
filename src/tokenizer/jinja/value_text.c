#include "tokenizer/jinja/value_text.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/unicode.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_DIGITS = 17,   /* that a double needs */
    MIN_EXPONENT = -4, /* numbers below 1e-4 and */
    MAX_EXPONENT = 16, /* from 1e16 on are written with an exponent */
    MAX_ESCAPE_BYTES = 10
};

static bool needs_no_more_digits(double number, int count)
{
    char digits[40];
    (void)snprintf(digits, sizeof digits, "%.*e", count - 1, number);
    return strtod(digits, NULL) == number;
}

/* Returns how many digits the shortest decimal has that is read as the same number. */
static int count_digits(double number)
{
    char digits[40];
    if (fabs(number) >= DBL_MIN && needs_no_more_digits(number, DBL_DIG)) {
        /* Rounding to so many digits finds every shorter decimal, with zeros at its end. */
        int count = DBL_DIG;
        (void)snprintf(digits, sizeof digits, "%.*e", DBL_DIG - 1, number);
        for (const char *end = strchr(digits, 'e'); count > 1 && *--end == '0';) {
            count--;
        }
        return count;
    }
    int low = fabs(number) >= DBL_MIN ? DBL_DIG + 1 : 1;
    int high = MAX_DIGITS;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (needs_no_more_digits(number, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void yk_jinja_value_text_add_integer(int64_t integer, struct yk_text *out)
{
    char digits[20];
    size_t begin = sizeof digits;
    uint64_t left = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    do {
        digits[--begin] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (integer < 0) {
        digits[--begin] = '-';
    }
    yk_text_add_bytes(out, digits + begin, sizeof digits - begin);
}

void yk_jinja_value_text_add_escape(char letter, uint32_t number, size_t digits,
                                    struct yk_text *out)
{
    char escape[MAX_ESCAPE_BYTES] = {'\\', letter};
    for (size_t i = 0; i < digits; i++) {
        escape[1 + digits - i] = "0123456789abcdef"[number >> 4 * i & 0xf];
    }
    yk_text_add_bytes(out, escape, digits + 2);
}

void yk_jinja_value_text_add_float(double number, struct yk_text *out)
{
    char digits[40];
    if (!isfinite(number)) {
        yk_text_add(out, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
        return;
    }
    const int significant = count_digits(number);
    (void)snprintf(digits, sizeof digits, "%.*e", significant - 1, number);
    const long power = strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (power < MIN_EXPONENT || power >= MAX_EXPONENT) {
        yk_text_add(out, digits); /* both write an exponent of at least two digits */
        return;
    }
    const long decimals = significant - 1 - power;
    yk_text_addf(out, "%.*f", decimals > 1 ? (int)decimals : 1, number);
}

static void add_escaped(uint32_t character, struct yk_text *out)
{
    if (character == '\n' || character == '\r' || character == '\t') {
        yk_text_add(out, character == '\n' ? "\\n" : character == '\r' ? "\\r" : "\\t");
    } else if (character == '\\' || character == '\'' || character == '"') {
        const char escape[] = {'\\', (char)character};
        yk_text_add_bytes(out, escape, sizeof escape);
    } else {
        const size_t digits = character < 0x100 ? 2 : character < 0x10000 ? 4 : 8;
        static const char letters[] = {[2] = 'x', [4] = 'u', [8] = 'U'}; /* by their digits */
        yk_jinja_value_text_add_escape(letters[digits], character, digits, out);
    }
}

static yk_status add_quoted(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                            struct yk_text *out)
{
    const bool single = string->length > 0 && memchr(string->bytes, '\'', string->length);
    const bool both = single && memchr(string->bytes, '"', string->length);
    const char quote[] = {single && !both ? '"' : '\'', '\0'};
    size_t begin = 0; /* of what is not written yet */
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * 4));
    YK_TRY(yk_jinja_run_charge_memory(run, string->length));
    yk_text_add(out, string->markup ? "Markup(" : "");
    yk_text_add(out, quote);
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(string->bytes + at, &character);
        const bool marked = character == '\\' || character == (unsigned char)quote[0];
        if (marked || !yk_unicode_is_python_printable(character)) {
            YK_TRY(yk_jinja_run_charge_memory(run, MAX_ESCAPE_BYTES));
            yk_text_add_bytes(out, string->bytes + begin, at - begin);
            add_escaped(character, out);
            begin = at + used;
        }
        at += used;
    }
    yk_text_add_bytes(out, string->bytes + begin, string->length - begin);
    yk_text_add(out, quote);
    yk_text_add(out, string->markup ? ")" : "");
    return YK_OK;
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
                YK_TRY(add_quoted(run, name.as.string, out));
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
    YK_TRY(yk_jinja_run_charge_memory(run, YK_JINJA_MAX_PLAIN_BYTES));
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
        yk_jinja_value_text_add_integer(value.as.integer, out);
        return YK_OK;
    case YK_JINJA_FLOAT:
        YK_TRY(yk_jinja_run_step(run, YK_JINJA_FLOAT_STEPS));
        yk_jinja_value_text_add_float(value.as.number, out);
        return YK_OK;
    case YK_JINJA_STRING:
        return add_quoted(run, value.as.string, out);
    case YK_JINJA_RANGE:
        YK_TRY(yk_jinja_run_charge_memory(run, (size_t)YK_JINJA_MAX_PLAIN_BYTES * 2));
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
        YK_TRY(yk_jinja_run_charge_memory(run, value.as.string->length));
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
