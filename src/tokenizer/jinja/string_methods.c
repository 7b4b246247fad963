#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/attribute.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/string_case.h"
#include "tokenizer/jinja/string_format.h"
#include "tokenizer/unicode.h"

enum {
    PROPERTY_TIME = 16 /* of a property of the characters, for a byte, in the time of copying it */
};

static const struct yk_jinja_string *subject_of(const struct yk_jinja_call *call)
{
    return call->subject.as.string;
}

static yk_status strip_sides(struct yk_jinja_call *call, enum yk_jinja_strip sides,
                             struct yk_jinja_value *out)
{
    const struct yk_jinja_string *characters = NULL;
    YK_TRY(yk_jinja_function_get_string(call, 0, &characters));
    return yk_jinja_string_strip(call->run, subject_of(call), characters, sides, out);
}

static yk_status strip(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return strip_sides(call, YK_JINJA_STRIP_BOTH, out);
}

static yk_status lstrip(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return strip_sides(call, YK_JINJA_STRIP_LEFT, out);
}

static yk_status rstrip(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return strip_sides(call, YK_JINJA_STRIP_RIGHT, out);
}

static yk_status split_from(struct yk_jinja_call *call, bool right, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *separator = NULL;
    int64_t max = -1;
    YK_TRY(yk_jinja_function_get_string(call, 0, &separator));
    YK_TRY(yk_jinja_function_get_integer(call, 1, &max));
    return yk_jinja_string_split(call->run, subject_of(call), separator, max < 0 ? -1 : max, right,
                                 out);
}

static yk_status split(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return split_from(call, false, out);
}

static yk_status rsplit(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return split_from(call, true, out);
}

static yk_status splitlines(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_split_lines(call->run, subject_of(call),
                                       yk_jinja_function_get_truth(call, 0, false), out);
}

/* Fails unless the first argument is a string. */
static yk_status get_part(const struct yk_jinja_call *call, const struct yk_jinja_string **out)
{
    YK_TRY(yk_jinja_function_get_string(call, 0, out));
    return *out ? YK_OK : yk_fail(YK_ERROR_INPUT, "an argument must be a string, not none");
}

/* The bytes of the part of a string that the arguments start and end select. */
struct window {
    size_t begin;
    size_t end;
    bool empty; /* start is behind the end: nothing is found, not even "" */
};

static yk_status get_index(const struct yk_jinja_call *call, int index, int64_t otherwise,
                           int64_t length, int64_t *out)
{
    *out = otherwise;
    if (call->values[index].kind != YK_JINJA_NONE) {
        YK_TRY(yk_jinja_function_get_integer(call, index, out));
    }
    *out = *out < 0 ? *out + length : *out;
    *out = *out < 0 ? 0 : *out;
    return YK_OK;
}

static yk_status get_window(struct yk_jinja_call *call, struct window *out)
{
    const struct yk_jinja_string *string = subject_of(call);
    int64_t begin = 0;
    int64_t end = 0;
    *out = (struct window){.end = string->length};
    if (call->values[1].kind == YK_JINJA_ABSENT) {
        return YK_OK;
    }
    YK_TRY(yk_jinja_run_charge_bytes(call->run, string->length * 4));
    const int64_t length = yk_jinja_value_count_characters(string);
    YK_TRY(get_index(call, 1, 0, length, &begin));
    YK_TRY(get_index(call, 2, INT64_MAX, length, &end));
    end = end > length ? length : end;
    out->empty = begin > end;
    out->begin = yk_jinja_string_offset(string, begin);
    out->end = out->empty ? out->begin : yk_jinja_string_offset(string, end);
    return YK_OK;
}

/* Finds the first or last occurrence, in bytes; SIZE_MAX: none. */
static yk_status find_byte(struct yk_jinja_call *call, bool last, size_t *out)
{
    const struct yk_jinja_string *part = NULL;
    struct window window = {0};
    YK_TRY(get_part(call, &part));
    YK_TRY(get_window(call, &window));
    const struct yk_jinja_string inside = {.bytes = subject_of(call)->bytes + window.begin,
                                           .length = window.end - window.begin,
                                           .characters = -1};
    *out = SIZE_MAX;
    if (window.empty) {
        return YK_OK;
    }
    if (last) {
        YK_TRY(yk_jinja_string_find_last(call->run, &inside, part, inside.length, out));
    } else {
        YK_TRY(yk_jinja_string_find(call->run, &inside, part, 0, out));
    }
    *out += *out == SIZE_MAX ? 0 : window.begin;
    return YK_OK;
}

static yk_status find_position(struct yk_jinja_call *call, bool last, bool must,
                               struct yk_jinja_value *out)
{
    size_t found = 0;
    YK_TRY(find_byte(call, last, &found));
    if (found == SIZE_MAX && must) {
        return yk_fail(YK_ERROR_INPUT, "index() of a text that is not in the string");
    }
    struct yk_jinja_string before = {
        .bytes = subject_of(call)->bytes, .length = found, .characters = -1};
    *out = yk_jinja_value_int(-1);
    if (found != SIZE_MAX) {
        YK_TRY(yk_jinja_run_charge_bytes(call->run, found));
        *out = yk_jinja_value_int(yk_jinja_value_count_characters(&before));
    }
    return YK_OK;
}

static yk_status find(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return find_position(call, false, false, out);
}

static yk_status rfind(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return find_position(call, true, false, out);
}

static yk_status find_index(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return find_position(call, false, true, out);
}

static yk_status rindex_of(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return find_position(call, true, true, out);
}

static yk_status count(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *part = NULL;
    struct window window = {0};
    int64_t total = 0;
    YK_TRY(get_part(call, &part));
    YK_TRY(get_window(call, &window));
    struct yk_jinja_string inside = {.bytes = subject_of(call)->bytes + window.begin,
                                     .length = window.end - window.begin,
                                     .characters = -1};
    if (part->length == 0) {
        YK_TRY(yk_jinja_run_charge_bytes(call->run, inside.length));
        *out = yk_jinja_value_int(window.empty ? 0 : yk_jinja_value_count_characters(&inside) + 1);
        return YK_OK;
    }
    for (size_t at = 0;; total++) {
        YK_TRY(yk_jinja_string_find(call->run, &inside, part, at, &at));
        if (at == SIZE_MAX) {
            *out = yk_jinja_value_int(total);
            return YK_OK;
        }
        YK_TRY(yk_jinja_run_step(call->run, 1));
        at += part->length;
    }
}

/* Sets `*out` to whether `string` begins with `affix`, or ends with it if `suffix` is true. */
static yk_status has_affix(struct yk_jinja_run *run, struct yk_jinja_string string,
                           const struct yk_jinja_string *affix, bool suffix, bool *out)
{
    *out = affix->length <= string.length;
    if (*out) {
        const char *place = string.bytes + (suffix ? string.length - affix->length : 0);
        YK_TRY(yk_jinja_run_charge_bytes(run, affix->length));
        *out = memcmp(place, affix->bytes, affix->length) == 0;
    }
    return YK_OK;
}

static yk_status has_any_affix(struct yk_jinja_run *run, struct yk_jinja_string string,
                               const struct yk_jinja_list *affixes, bool suffix, bool *out)
{
    *out = false;
    for (int64_t i = 0; i < affixes->count && !*out; i++) {
        YK_TRY(yk_jinja_run_step(run, 1));
        if (affixes->items[i].kind != YK_JINJA_STRING) {
            return yk_fail(YK_ERROR_INPUT, "startswith() and endswith() need strings");
        }
        YK_TRY(has_affix(run, string, affixes->items[i].as.string, suffix, out));
    }
    return YK_OK;
}

static yk_status check_affix(struct yk_jinja_call *call, bool suffix, struct yk_jinja_value *out)
{
    const struct yk_jinja_value affix = call->values[0];
    struct window window = {0};
    bool found = false;
    YK_TRY(get_window(call, &window));
    const struct yk_jinja_string inside = {.bytes = subject_of(call)->bytes + window.begin,
                                           .length = window.end - window.begin};
    if (affix.kind == YK_JINJA_TUPLE) {
        YK_TRY(has_any_affix(call->run, inside, affix.as.list, suffix, &found));
    } else if (affix.kind == YK_JINJA_STRING) {
        YK_TRY(has_affix(call->run, inside, affix.as.string, suffix, &found));
    } else {
        return affix.kind == YK_JINJA_UNDEFINED
                   ? yk_jinja_value_fail_undefined(affix)
                   : yk_fail(YK_ERROR_INPUT,
                             "startswith() and endswith() need a string or a tuple of strings, not "
                             "a value of type %s",
                             yk_jinja_value_type_name(affix));
    }
    *out = yk_jinja_value_bool(found && !window.empty);
    return YK_OK;
}

static yk_status startswith(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return check_affix(call, false, out);
}

static yk_status endswith(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return check_affix(call, true, out);
}

static yk_status removeprefix(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = subject_of(call);
    const struct yk_jinja_string *part = NULL;
    YK_TRY(get_part(call, &part));
    bool found = false;
    YK_TRY(has_affix(call->run, *string, part, false, &found));
    return yk_jinja_string_slice_bytes(call->run, string, found ? part->length : 0, string->length,
                                       out);
}

static yk_status removesuffix(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = subject_of(call);
    const struct yk_jinja_string *part = NULL;
    YK_TRY(get_part(call, &part));
    bool found = false;
    YK_TRY(has_affix(call->run, *string, part, true, &found));
    return yk_jinja_string_slice_bytes(call->run, string, 0,
                                       string->length - (found ? part->length : 0), out);
}

static yk_status replace(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *old = NULL;
    const struct yk_jinja_string *new = NULL;
    int64_t max = -1;
    YK_TRY(get_part(call, &old));
    YK_TRY(yk_jinja_function_get_string(call, 1, &new));
    YK_TRY(yk_jinja_function_get_integer(call, 2, &max));
    if (!new) {
        return yk_fail(YK_ERROR_INPUT, "an argument must be a string, not none");
    }
    return yk_jinja_string_replace(call->run, subject_of(call), old, new, max, out);
}

static yk_status lower(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_case_change(call->run, subject_of(call), YK_JINJA_LOWER, out);
}

static yk_status casefold(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_case_change(call->run, subject_of(call), YK_JINJA_CASEFOLD, out);
}

static yk_status upper(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_case_change(call->run, subject_of(call), YK_JINJA_UPPER, out);
}

static yk_status title(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_case_change(call->run, subject_of(call), YK_JINJA_TITLE, out);
}

static yk_status capitalize(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_case_change(call->run, subject_of(call), YK_JINJA_CAPITALIZE, out);
}

static yk_status swapcase(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_case_change(call->run, subject_of(call), YK_JINJA_SWAPCASE, out);
}

static yk_status join(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_list *list = NULL;
    struct yk_jinja_value joined = {0};
    YK_TRY(yk_jinja_iterator_to_list(call->run, call->values[0], &list));
    YK_TRY(yk_jinja_value_new_string(call->run, "", 0, &joined));
    for (int64_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != YK_JINJA_STRING) {
            return yk_fail(YK_ERROR_INPUT, "join() needs strings, not a value of type %s",
                           yk_jinja_value_type_name(list->items[i]));
        }
        if (i > 0) {
            YK_TRY(
                yk_jinja_value_concatenate(call->run, joined.as.string, subject_of(call), &joined));
        }
        YK_TRY(yk_jinja_value_concatenate(call->run, joined.as.string, list->items[i].as.string,
                                          &joined));
    }
    *out = joined;
    return YK_OK;
}

static yk_status cut(struct yk_jinja_call *call, bool last, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = subject_of(call);
    const struct yk_jinja_string *separator = NULL;
    struct yk_jinja_value *items = NULL;
    size_t found = 0;
    YK_TRY(get_part(call, &separator));
    if (separator->length == 0) {
        return yk_fail(YK_ERROR_INPUT, "partition() with an empty separator");
    }
    YK_TRY(find_byte(call, last, &found));
    YK_TRY(yk_jinja_value_new_list(call->run, YK_JINJA_TUPLE, 3, &items, out));
    const bool none = found == SIZE_MAX;
    const size_t begin = none ? (last ? 0 : string->length) : found;
    const size_t end = none ? begin : found + separator->length;
    YK_TRY(yk_jinja_string_slice_bytes(call->run, string, 0, begin, &items[0]));
    YK_TRY(yk_jinja_string_slice_bytes(call->run, string, begin, end, &items[1]));
    return yk_jinja_string_slice_bytes(call->run, string, end, string->length, &items[2]);
}

static yk_status partition(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return cut(call, false, out);
}

static yk_status rpartition(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return cut(call, true, out);
}

static yk_status pad(struct yk_jinja_call *call, enum yk_jinja_alignment alignment,
                     struct yk_jinja_value *out)
{
    static const struct yk_jinja_string space = {.bytes = " ", .length = 1, .characters = 1};
    const struct yk_jinja_string *fill = &space;
    int64_t width = 0;
    YK_TRY(yk_jinja_function_get_integer(call, 0, &width));
    YK_TRY(yk_jinja_function_get_string(call, 1, &fill));
    if (!fill || yk_jinja_value_count_characters(fill) != 1) {
        return yk_fail(YK_ERROR_INPUT, "a string is padded with one character");
    }
    return yk_jinja_string_pad(call->run, subject_of(call), width, fill, alignment, out);
}

static yk_status ljust(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return pad(call, YK_JINJA_ALIGN_LEFT, out);
}

static yk_status rjust(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return pad(call, YK_JINJA_ALIGN_RIGHT, out);
}

static yk_status center(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return pad(call, YK_JINJA_ALIGN_CENTER, out);
}

static yk_status zfill(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    static const struct yk_jinja_string zero = {.bytes = "0", .length = 1, .characters = 1};
    const struct yk_jinja_string *string = subject_of(call);
    struct yk_jinja_value zeros = {0};
    struct yk_jinja_value digits = {0};
    int64_t width = 0;
    YK_TRY(yk_jinja_function_get_integer(call, 0, &width));
    const bool sign = string->length > 0 && (string->bytes[0] == '+' || string->bytes[0] == '-');
    YK_TRY(yk_jinja_string_repeat(
        call->run, &zero, width > 0 ? width - yk_jinja_value_count_characters(string) : 0, &zeros));
    YK_TRY(yk_jinja_string_slice_bytes(call->run, string, 0, sign ? 1 : 0, out));
    YK_TRY(yk_jinja_string_slice_bytes(call->run, string, sign ? 1 : 0, string->length, &digits));
    YK_TRY(yk_jinja_value_concatenate(call->run, out->as.string, zeros.as.string, out));
    return yk_jinja_value_concatenate(call->run, out->as.string, digits.as.string, out);
}

static yk_status format(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    return yk_jinja_string_format_braces(call->run, subject_of(call), call->arguments, out);
}

static bool is_letter(uint32_t character)
{
    return yk_unicode_general_category(character)[0] == 'L';
}

static bool is_alphanumeric(uint32_t character)
{
    return is_letter(character) || yk_unicode_is_python_numeric(character);
}

static bool is_ascii(uint32_t character)
{
    return character < 0x80;
}

/* Whether the string is not empty and `holds` is true of all its characters. */
static yk_status check_all(struct yk_jinja_call *call, bool (*holds)(uint32_t character),
                           bool empty, struct yk_jinja_value *out)
{
    const struct yk_jinja_string *string = subject_of(call);
    bool all = empty || string->length > 0;
    YK_TRY(yk_jinja_run_charge_bytes(call->run, string->length * PROPERTY_TIME));
    for (size_t at = 0; at < string->length && all;) {
        uint32_t character = 0;
        at += yk_jinja_string_decode(string->bytes + at, &character);
        all = holds(character);
    }
    *out = yk_jinja_value_bool(all);
    return YK_OK;
}

#define CHARACTER_METHOD(name, holds, empty)                                                       \
    static yk_status name(struct yk_jinja_call *call, struct yk_jinja_value *out)                  \
    {                                                                                              \
        return check_all(call, holds, empty, out);                                                 \
    }

CHARACTER_METHOD(isalpha_method, is_letter, false)
CHARACTER_METHOD(isdigit_method, yk_unicode_is_python_digit, false)
CHARACTER_METHOD(isdecimal_method, yk_unicode_is_python_decimal, false)
CHARACTER_METHOD(isnumeric_method, yk_unicode_is_python_numeric, false)
CHARACTER_METHOD(isalnum_method, is_alphanumeric, false)
CHARACTER_METHOD(isspace_method, yk_unicode_is_python_space, false)
CHARACTER_METHOD(isascii_method, is_ascii, true)
CHARACTER_METHOD(isprintable_method, yk_unicode_is_python_printable, true)

static yk_status isupper_method(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    bool is_upper = false;
    YK_TRY(yk_jinja_string_case_is(call->run, subject_of(call), true, &is_upper));
    *out = yk_jinja_value_bool(is_upper);
    return YK_OK;
}

static yk_status islower_method(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    bool is_lower = false;
    YK_TRY(yk_jinja_string_case_is(call->run, subject_of(call), false, &is_lower));
    *out = yk_jinja_value_bool(is_lower);
    return YK_OK;
}

#define SEARCH .parameters = {"sub", "start", "end"}, .required = 1, .no_names = true

static const struct yk_jinja_function methods[] = {
    {.name = "strip", .call = strip, .parameters = {"chars"}, .no_names = true},
    {.name = "lstrip", .call = lstrip, .parameters = {"chars"}, .no_names = true},
    {.name = "rstrip", .call = rstrip, .parameters = {"chars"}, .no_names = true},
    {.name = "split", .call = split, .parameters = {"sep", "maxsplit"}},
    {.name = "rsplit", .call = rsplit, .parameters = {"sep", "maxsplit"}},
    {.name = "splitlines", .call = splitlines, .parameters = {"keepends"}},
    {.name = "startswith", .call = startswith, SEARCH},
    {.name = "endswith", .call = endswith, SEARCH},
    {.name = "find", .call = find, SEARCH},
    {.name = "rfind", .call = rfind, SEARCH},
    {.name = "index", .call = find_index, SEARCH},
    {.name = "rindex", .call = rindex_of, SEARCH},
    {.name = "count", .call = count, SEARCH},
    {.name = "replace",
     .call = replace,
     .parameters = {"old", "new", "count"},
     .required = 2,
     .no_names = true},
    {.name = "removeprefix",
     .call = removeprefix,
     .parameters = {"prefix"},
     .required = 1,
     .no_names = true},
    {.name = "removesuffix",
     .call = removesuffix,
     .parameters = {"suffix"},
     .required = 1,
     .no_names = true},
    {.name = "lower", .call = lower},
    {.name = "casefold", .call = casefold},
    {.name = "upper", .call = upper},
    {.name = "title", .call = title},
    {.name = "capitalize", .call = capitalize},
    {.name = "swapcase", .call = swapcase},
    {.name = "join", .call = join, .parameters = {"iterable"}, .required = 1, .no_names = true},
    {.name = "partition",
     .call = partition,
     .parameters = {"sep"},
     .required = 1,
     .no_names = true},
    {.name = "rpartition",
     .call = rpartition,
     .parameters = {"sep"},
     .required = 1,
     .no_names = true},
    {.name = "ljust",
     .call = ljust,
     .parameters = {"width", "fillchar"},
     .required = 1,
     .no_names = true},
    {.name = "rjust",
     .call = rjust,
     .parameters = {"width", "fillchar"},
     .required = 1,
     .no_names = true},
    {.name = "center",
     .call = center,
     .parameters = {"width", "fillchar"},
     .required = 1,
     .no_names = true},
    {.name = "zfill", .call = zfill, .parameters = {"width"}, .required = 1, .no_names = true},
    {.name = "format", .call = format, .any = true},
    {.name = "isalpha", .call = isalpha_method},
    {.name = "isdigit", .call = isdigit_method},
    {.name = "isdecimal", .call = isdecimal_method},
    {.name = "isnumeric", .call = isnumeric_method},
    {.name = "isalnum", .call = isalnum_method},
    {.name = "isspace", .call = isspace_method},
    {.name = "isascii", .call = isascii_method},
    {.name = "isprintable", .call = isprintable_method},
    {.name = "isupper", .call = isupper_method},
    {.name = "islower", .call = islower_method},
    {.name = "istitle"},
    {.name = "isidentifier"},
    {.name = "encode"},
    {.name = "expandtabs"},
    {.name = "format_map"},
    {.name = "maketrans"},
    {.name = "translate"},
};

const struct yk_jinja_function_table yk_jinja_string_methods = YK_JINJA_FUNCTION_TABLE(methods);
