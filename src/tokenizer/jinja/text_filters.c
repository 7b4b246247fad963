#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/operation.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/string_case.h"
#include "tokenizer/jinja/string_format.h"
#include "tokenizer/jinja/value_compare.h"
#include "tokenizer/jinja/value_json.h"
#include "tokenizer/jinja/value_text.h"
#include "tokenizer/unicode.h"

#include <ctype.h>

static const struct yk_jinja_string empty = {.bytes = "", .length = 0, .characters = 0};
static const struct yk_jinja_string newline = {.bytes = "\n", .length = 1, .characters = 1};
static const struct yk_jinja_string space = {.bytes = " ", .length = 1, .characters = 1};

static yk_status text_of(struct yk_jinja_call *call, const struct yk_jinja_string **out)
{
    return yk_jinja_value_text_make(call->run, call->subject, out);
}

static yk_status change_case(struct yk_jinja_call *call, enum yk_jinja_case to,
                             struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    YK_TRY(text_of(call, &string));
    return yk_jinja_string_case_change(call->run, string, to, out);
}

static yk_status upper(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return change_case(call, YK_JINJA_UPPER, out);
}

static yk_status lower(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return change_case(call, YK_JINJA_LOWER, out);
}

static yk_status capitalize(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return change_case(call, YK_JINJA_CAPITALIZE, out);
}

static bool separates_words(uint32_t character)
{
    return yk_unicode_is_python_space(character) ||
           (character < 0x80 && character > 0 && strchr("-({[<", (int)character) != NULL);
}

/* Unlike the method of strings, the filter title knows only some characters that separate words. */
static yk_status title(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    struct yk_jinja_value joined = yk_jinja_value_string(&empty);
    YK_TRY(text_of(call, &string));
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        size_t end = at + yk_jinja_string_decode(string->bytes + at, &character);
        const size_t first = end;
        const bool separator = separates_words(character);
        while (end < string->length) {
            const size_t used = yk_jinja_string_decode(string->bytes + end, &character);
            if (separates_words(character) != separator) {
                break;
            }
            end += used;
        }
        const struct yk_jinja_string head = {
            .bytes = string->bytes + at, .length = first - at, .characters = 1};
        const struct yk_jinja_string rest = {
            .bytes = string->bytes + first, .length = end - first, .characters = -1};
        struct yk_jinja_value part = {0};
        YK_TRY(yk_jinja_string_case_change(call->run, &head, YK_JINJA_UPPER, &part));
        YK_TRY(yk_jinja_value_concatenate(call->run, joined.as.string, part.as.string, &joined));
        YK_TRY(yk_jinja_string_case_change(call->run, &rest, YK_JINJA_LOWER, &part));
        YK_TRY(yk_jinja_value_concatenate(call->run, joined.as.string, part.as.string, &joined));
        at = end;
    }
    *out = joined;
    return YK_OK;
}

static yk_status trim(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    const struct yk_jinja_string *characters = NULL;
    YK_TRY(text_of(call, &string));
    YK_TRY(yk_jinja_function_get_string(call, 0, &characters));
    return yk_jinja_string_strip(call->run, string, characters, YK_JINJA_STRIP_BOTH, out);
}

static yk_status to_string(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    YK_TRY(text_of(call, &string));
    *out = yk_jinja_value_string(string);
    return YK_OK;
}

static yk_status mark_safe(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    struct yk_jinja_string *marked = NULL;
    YK_TRY(text_of(call, &string));
    YK_JINJA_TRY_NEW(call->run, marked, 1);
    (void)yk_jinja_value_count_characters(string);
    *marked = *string;
    marked->markup = true;
    *out = yk_jinja_value_string(marked);
    return YK_OK;
}

static yk_status escape(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    YK_TRY(text_of(call, &string));
    return yk_jinja_operation_escape(call->run, string, out);
}

static yk_status force_escape(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    YK_TRY(text_of(call, &string));
    struct yk_jinja_string unmarked = *string;
    unmarked.markup = false;
    return yk_jinja_operation_escape(call->run, &unmarked, out);
}

static yk_status replace(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    const struct yk_jinja_string *old = NULL;
    const struct yk_jinja_string *new = NULL;
    int64_t max = -1;
    YK_TRY(text_of(call, &string));
    YK_TRY(yk_jinja_value_text_make(call->run, call->values[0], &old));
    YK_TRY(yk_jinja_value_text_make(call->run, call->values[1], &new));
    if (call->values[2].kind != YK_JINJA_NONE) {
        YK_TRY(yk_jinja_function_get_integer(call, 2, &max));
    }
    return yk_jinja_string_replace(call->run, string, old, new, max, out);
}

static yk_status center(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    int64_t width = 80;
    YK_TRY(text_of(call, &string));
    YK_TRY(yk_jinja_function_get_integer(call, 0, &width));
    return yk_jinja_string_pad(call->run, string, width, &space, YK_JINJA_ALIGN_CENTER, out);
}

static yk_status require_string(struct yk_jinja_call *call, const struct yk_jinja_string **out)
{
    if (call->subject.kind == YK_JINJA_STRING) {
        *out = call->subject.as.string;
        return YK_OK;
    }
    return call->subject.kind == YK_JINJA_UNDEFINED
               ? yk_jinja_value_fail_undefined(call->subject)
               : yk_fail(YK_ERROR_INPUT, "this filter needs a string, not a value of type %s",
                         yk_jinja_value_type_name(call->subject));
}

static yk_status append(struct yk_jinja_run *run, struct yk_jinja_value *text,
                        const struct yk_jinja_string *more)
{
    return yk_jinja_value_concatenate(run, text->as.string, more, text);
}

static yk_status indent(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    struct yk_jinja_value width = yk_jinja_value_int(4);
    struct yk_jinja_value lines = {0};
    const bool first = yk_jinja_function_get_truth(call, 1, false);
    const bool blank = yk_jinja_function_get_truth(call, 2, false);
    YK_TRY(require_string(call, &string));
    if (call->values[0].kind != YK_JINJA_STRING) {
        YK_TRY(yk_jinja_function_get_integer(call, 0, &width.as.integer));
        YK_TRY(yk_jinja_string_repeat(call->run, &space, width.as.integer, &width));
    } else {
        width = call->values[0];
    }
    /* The newline at the end makes a last empty line count. */
    struct yk_jinja_value text = yk_jinja_value_string(string);
    YK_TRY(append(call->run, &text, &newline));
    YK_TRY(yk_jinja_string_split_lines(call->run, text.as.string, false, &lines));
    text = first ? width : yk_jinja_value_string(&empty);
    for (int64_t i = 0; i < lines.as.list->count; i++) {
        const struct yk_jinja_string *line = lines.as.list->items[i].as.string;
        if (i > 0) {
            YK_TRY(append(call->run, &text, &newline));
        }
        if (i > 0 && (blank || line->length > 0)) {
            YK_TRY(append(call->run, &text, width.as.string));
        }
        YK_TRY(append(call->run, &text, line));
    }
    *out = text;
    return YK_OK;
}

static yk_status truncate_text(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    static const struct yk_jinja_string dots = {.bytes = "...", .length = 3, .characters = 3};
    const struct yk_jinja_string *string = NULL;
    const struct yk_jinja_string *end = &dots;
    int64_t length = 255;
    int64_t leeway = 5;
    size_t found = SIZE_MAX;
    int64_t most = 0;
    int64_t count = 0;
    YK_TRY(yk_jinja_function_get_integer(call, 0, &length));
    YK_TRY(yk_jinja_function_get_string(call, 2, &end));
    if (call->values[3].kind != YK_JINJA_NONE) {
        YK_TRY(yk_jinja_function_get_integer(call, 3, &leeway));
    }
    if (!end || length < yk_jinja_value_count_characters(end) || leeway < 0) {
        return yk_fail(YK_ERROR_INPUT, "truncate needs a length that is not shorter than its end");
    }
    /* Whatever has a length may be short enough. */
    YK_TRY(yk_jinja_iterator_count(call->subject, &count));
    *out = call->subject;
    if (__builtin_add_overflow(length, leeway, &most) || count <= most) {
        return YK_OK;
    }
    YK_TRY(require_string(call, &string));
    YK_TRY(yk_jinja_string_slice(call->run, string, 0, 1,
                                 length - yk_jinja_value_count_characters(end), out));
    if (!yk_jinja_function_get_truth(call, 1, false)) {
        const struct yk_jinja_string *cut = out->as.string;
        YK_TRY(yk_jinja_string_find_last(call->run, cut, &space, cut->length, &found));
        YK_TRY(yk_jinja_string_slice_bytes(call->run, cut, 0,
                                           found == SIZE_MAX ? cut->length : found, out));
    }
    return append(call->run, out, end);
}

static yk_status format(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_arguments *arguments = call->arguments;
    const struct yk_jinja_string *string = NULL;
    struct yk_jinja_value *items = NULL;
    struct yk_jinja_value values = {0};
    struct yk_jinja_dict *dict = NULL;
    YK_TRY(text_of(call, &string));
    if (arguments->positional > 0 && arguments->named > 0) {
        return yk_fail(YK_ERROR_INPUT, "format needs either named or unnamed values");
    }
    if (arguments->named == 0) {
        YK_TRY(yk_jinja_value_new_list(call->run, YK_JINJA_TUPLE, arguments->positional, &items,
                                       &values));
        for (int64_t i = 0; i < arguments->positional; i++) {
            items[i] = arguments->values[i];
        }
        return yk_jinja_string_format_percent(call->run, string, values, out);
    }
    YK_TRY(yk_jinja_dict_new(call->run, arguments->named, &dict));
    for (int64_t i = 0; i < arguments->named; i++) {
        YK_TRY(yk_jinja_dict_set(call->run, dict, yk_jinja_value_string(arguments->names[i]),
                                 arguments->values[i]));
    }
    values = (struct yk_jinja_value){.kind = YK_JINJA_DICT, .as.dict = dict};
    return yk_jinja_string_format_percent(call->run, string, values, out);
}

/* Appends what is outside of comments and tags of HTML. What follows one without an end is text. */
static yk_status add_outside_of_tags(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                     struct yk_text *text)
{
    static const struct yk_jinja_string comment = {.bytes = "-->", .length = 3, .characters = 3};
    static const struct yk_jinja_string tag = {.bytes = ">", .length = 1, .characters = 1};
    size_t at = 0;
    while (at < string->length) {
        const char *open = memchr(string->bytes + at, '<', string->length - at);
        const size_t begin = open ? (size_t)(open - string->bytes) : string->length;
        const bool is_comment =
            string->length - begin >= 4 && memcmp(open, "<!--", strlen("<!--")) == 0;
        const struct yk_jinja_string *mark = is_comment ? &comment : &tag;
        size_t end = SIZE_MAX;
        YK_TRY(yk_jinja_run_step(run, 1));
        YK_TRY(yk_jinja_string_find(run, string, mark, begin + (is_comment ? 4 : 0), &end));
        if (end == SIZE_MAX) {
            break;
        }
        yk_text_add_bytes(text, string->bytes + at, begin - at);
        at = end + mark->length;
    }
    yk_text_add_bytes(text, string->bytes + at, string->length - at);
    return YK_OK;
}

/* Python would replace them. */
static bool has_character_reference(const struct yk_jinja_string *string)
{
    for (size_t i = 0; i + 1 < string->length; i++) {
        const unsigned char next = (unsigned char)string->bytes[i + 1];
        if (string->bytes[i] == '&' && (next == '#' || isalpha(next))) {
            return true;
        }
    }
    return false;
}

/* Removes comments and tags of HTML, and joins words with single spaces. */
static yk_status strip_tags(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    struct yk_text text = {0};
    struct yk_jinja_value words = {0};
    YK_TRY(text_of(call, &string));
    YK_TRY(yk_jinja_run_charge_bytes(call->run, string->length * 4));
    YK_TRY(yk_jinja_run_charge_memory(call->run, string->length));
    YK_TRY_OR_CLEAN_UP(add_outside_of_tags(call->run, string, &text), yk_text_free(&text));
    YK_TRY(yk_jinja_string_from_text(call->run, &text, out));
    if (has_character_reference(out->as.string)) {
        return yk_fail(YK_ERROR_INPUT,
                       "striptags does not support character references such as &amp;");
    }
    YK_TRY(yk_jinja_string_split(call->run, out->as.string, NULL, -1, false, &words));
    *out = yk_jinja_value_string(&empty);
    for (int64_t i = 0; i < words.as.list->count; i++) {
        YK_TRY(append(call->run, out, i > 0 ? &space : &empty));
        YK_TRY(append(call->run, out, words.as.list->items[i].as.string));
    }
    return YK_OK;
}

static bool is_word_character(uint32_t character)
{
    if (character < 0x80) {
        return isalnum((int)character) || character == '_';
    }
    const char *category = yk_unicode_general_category(character);
    return category[0] == 'L' || category[0] == 'N';
}

static yk_status count_words(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = NULL;
    int64_t count = 0;
    bool inside = false;
    YK_TRY(text_of(call, &string));
    YK_TRY(yk_jinja_run_charge_bytes(call->run, string->length * 16));
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        at += yk_jinja_string_decode(string->bytes + at, &character);
        const bool word = is_word_character(character);
        count += word && !inside;
        inside = word;
    }
    *out = yk_jinja_value_int(count);
    return YK_OK;
}

static yk_status add_url_quoted(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                bool query, struct yk_text *out)
{
    static const char digits[] = "0123456789ABCDEF";
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * 8));
    YK_TRY(yk_jinja_run_charge_memory(run, string->length * 3));
    for (size_t i = 0; i < string->length; i++) {
        const unsigned char byte = (unsigned char)string->bytes[i];
        if (byte < 0x80 &&
            (isalnum(byte) || (byte && strchr("_.-~", byte)) || (byte == '/' && !query))) {
            yk_text_add_bytes(out, string->bytes + i, 1);
        } else if (byte == ' ' && query) {
            yk_text_add(out, "+");
        } else {
            const char quoted[] = {'%', digits[byte >> 4], digits[byte & 0xf]};
            yk_text_add_bytes(out, quoted, sizeof quoted);
        }
    }
    return YK_OK;
}

static yk_status add_query(struct yk_jinja_call *call, const struct yk_jinja_list *pairs,
                           struct yk_text *out)
{
    for (int64_t i = 0; i < pairs->count; i++) {
        const struct yk_jinja_list *pair = NULL;
        const struct yk_jinja_string *part = NULL;
        YK_TRY(yk_jinja_iterator_to_list(call->run, pairs->items[i], &pair));
        if (pair->count != 2) {
            return yk_fail(YK_ERROR_INPUT, "urlencode needs pairs of a name and a value");
        }
        YK_TRY(yk_jinja_run_step(call->run, 1));
        yk_text_add(out, i > 0 ? "&" : "");
        YK_TRY(yk_jinja_value_text_make(call->run, pair->items[0], &part));
        YK_TRY(add_url_quoted(call->run, part, true, out));
        yk_text_add(out, "=");
        YK_TRY(yk_jinja_value_text_make(call->run, pair->items[1], &part));
        YK_TRY(add_url_quoted(call->run, part, true, out));
    }
    return YK_OK;
}

static yk_status urlencode(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_text text = {0};
    struct yk_jinja_value subject = call->subject;
    const struct yk_jinja_string *string = NULL;
    const struct yk_jinja_list *pairs = NULL;
    if (subject.kind == YK_JINJA_STRING || !yk_jinja_iterator_accepts(subject)) {
        YK_TRY(text_of(call, &string));
        YK_TRY_OR_CLEAN_UP(add_url_quoted(call->run, string, false, &text), yk_text_free(&text));
        return yk_jinja_string_from_text(call->run, &text, out);
    }
    struct yk_jinja_view items = {.kind = YK_JINJA_VIEW_ITEMS};
    if (subject.kind == YK_JINJA_DICT) {
        items.dict = subject.as.dict;
        subject = (struct yk_jinja_value){.kind = YK_JINJA_VIEW, .as.view = &items};
    }
    YK_TRY(yk_jinja_iterator_to_list(call->run, subject, &pairs));
    YK_TRY_OR_CLEAN_UP(add_query(call, pairs, &text), yk_text_free(&text));
    return yk_jinja_string_from_text(call->run, &text, out);
}

static yk_status read_separators(struct yk_jinja_call *call, struct yk_jinja_json_style *style)
{
    const struct yk_jinja_value value = call->values[2];
    if (value.kind == YK_JINJA_ABSENT || value.kind == YK_JINJA_NONE) {
        return YK_OK;
    }
    const struct yk_jinja_list *list = NULL;
    YK_TRY(yk_jinja_iterator_to_list(call->run, value, &list));
    if (list->count != 2 || list->items[0].kind != YK_JINJA_STRING ||
        list->items[1].kind != YK_JINJA_STRING) {
        return yk_fail(YK_ERROR_INPUT, "the separators of tojson must be two strings");
    }
    style->item_separator = list->items[0].as.string;
    style->key_separator = list->items[1].as.string;
    return YK_OK;
}

static yk_status to_json(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    static const struct yk_jinja_string comma_space = {.bytes = ", ", .length = 2, .characters = 2};
    static const struct yk_jinja_string comma = {.bytes = ",", .length = 1, .characters = 1};
    static const struct yk_jinja_string colon = {.bytes = ": ", .length = 2, .characters = 2};
    const struct yk_jinja_value width = call->values[1];
    struct yk_jinja_json_style style = {
        .escape_non_ascii = yk_jinja_function_get_truth(call, 0, false),
        .sort_keys = yk_jinja_function_get_truth(call, 3, false),
        .item_separator = &comma_space,
        .key_separator = &colon,
    };
    struct yk_text text = {0};
    if (width.kind != YK_JINJA_ABSENT && width.kind != YK_JINJA_NONE) {
        struct yk_jinja_value spaces = width;
        int64_t count = 0;
        if (width.kind != YK_JINJA_STRING) {
            YK_TRY(yk_jinja_function_get_integer(call, 1, &count));
            YK_TRY(yk_jinja_string_repeat(call->run, &space, count, &spaces));
        }
        style.indent = spaces.as.string;
        style.item_separator = &comma;
    }
    YK_TRY(read_separators(call, &style));
    YK_TRY_OR_CLEAN_UP(yk_jinja_value_json_write(call->run, call->subject, &style, &text),
                       yk_text_free(&text));
    return yk_jinja_string_from_text(call->run, &text, out);
}

static const struct yk_jinja_function filters[] = {
    {.name = "upper", .call = upper},
    {.name = "lower", .call = lower},
    {.name = "capitalize", .call = capitalize},
    {.name = "title", .call = title},
    {.name = "trim", .call = trim, .parameters = {"chars"}},
    {.name = "string", .call = to_string},
    {.name = "safe", .call = mark_safe},
    {.name = "escape", .call = escape},
    {.name = "e", .call = escape},
    {.name = "forceescape", .call = force_escape},
    {.name = "replace", .call = replace, .parameters = {"old", "new", "count"}, .required = 2},
    {.name = "center", .call = center, .parameters = {"width"}},
    {.name = "indent", .call = indent, .parameters = {"width", "first", "blank"}},
    {.name = "truncate",
     .call = truncate_text,
     .parameters = {"length", "killwords", "end", "leeway"}},
    {.name = "format", .call = format, .any = true},
    {.name = "striptags", .call = strip_tags},
    {.name = "wordcount", .call = count_words},
    {.name = "urlencode", .call = urlencode},
    {.name = "tojson",
     .call = to_json,
     .parameters = {"ensure_ascii", "indent", "separators", "sort_keys"}},
    {.name = "pprint"},
    {.name = "urlize"},
    {.name = "wordwrap"},
    {.name = "xmlattr"},
};

const struct yk_jinja_function_table yk_jinja_text_filters = YK_JINJA_FUNCTION_TABLE(filters);
