#include "tokenizer/unicode.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum {
    STACK_CHARACTERS =
        256, /* characters of a normal form that fit on the stack; longer ones use the heap */
    MAX_DECOMPOSED = YK_UNICODE_MAX_DECOMPOSED
};

bool yk_unicode_is_space(uint32_t character)
{
    if (character < 0x80) {
        return character == ' ' || (character >= '\t' && character <= '\r');
    }
    return character == 0x85 || character == 0xa0 || character == 0x1680 ||
           (character >= 0x2000 && character <= 0x200a) || character == 0x2028 ||
           character == 0x2029 || character == 0x202f || character == 0x205f || character == 0x3000;
}

bool yk_unicode_is_python_space(uint32_t character)
{
    return yk_unicode_is_space(character) || (character >= 0x1c && character <= 0x1f);
}

bool yk_unicode_is_python_printable(uint32_t character)
{
    if (character < 0x7f) {
        return character >= ' ';
    }
    const char *category = yk_unicode_general_category(character);
    return category[0] != 'C' && category[0] != 'Z';
}

bool yk_unicode_is_python_decimal(uint32_t character)
{
    return strcmp(yk_unicode_general_category(character), "Nd") == 0;
}

/* Digits of Unicode 14 that are no decimals: above or below the line, in circles … */
bool yk_unicode_is_python_digit(uint32_t character)
{
    static const struct yk_unicode_range others[] = {
        {0xb2, 0xb3},       {0xb9, 0xb9},       {0x1369, 0x1371},   {0x19da, 0x19da},
        {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
        {0x2474, 0x247c},   {0x2488, 0x2490},   {0x24ea, 0x24ea},   {0x24f5, 0x24fd},
        {0x24ff, 0x24ff},   {0x2776, 0x277e},   {0x2780, 0x2788},   {0x278a, 0x2792},
        {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a}};
    static const struct yk_unicode_range_list list = {others, sizeof others / sizeof others[0]};
    return yk_unicode_is_python_decimal(character) || yk_unicode_is_in_ranges(&list, character);
}

/* Ideographs may be numbers. */
bool yk_unicode_is_python_numeric(uint32_t character)
{
    static const struct yk_unicode_range ideographs[] = {
        {0x3405, 0x3405},   {0x3483, 0x3483},   {0x382a, 0x382a},   {0x3b4d, 0x3b4d},
        {0x4e00, 0x4e00},   {0x4e03, 0x4e03},   {0x4e07, 0x4e07},   {0x4e09, 0x4e09},
        {0x4e5d, 0x4e5d},   {0x4e8c, 0x4e8c},   {0x4e94, 0x4e94},   {0x4e96, 0x4e96},
        {0x4ebf, 0x4ec0},   {0x4edf, 0x4edf},   {0x4ee8, 0x4ee8},   {0x4f0d, 0x4f0d},
        {0x4f70, 0x4f70},   {0x5104, 0x5104},   {0x5146, 0x5146},   {0x5169, 0x5169},
        {0x516b, 0x516b},   {0x516d, 0x516d},   {0x5341, 0x5341},   {0x5343, 0x5345},
        {0x534c, 0x534c},   {0x53c1, 0x53c4},   {0x56db, 0x56db},   {0x58f1, 0x58f1},
        {0x58f9, 0x58f9},   {0x5e7a, 0x5e7a},   {0x5efe, 0x5eff},   {0x5f0c, 0x5f0e},
        {0x5f10, 0x5f10},   {0x62fe, 0x62fe},   {0x634c, 0x634c},   {0x67d2, 0x67d2},
        {0x6f06, 0x6f06},   {0x7396, 0x7396},   {0x767e, 0x767e},   {0x8086, 0x8086},
        {0x842c, 0x842c},   {0x8cae, 0x8cae},   {0x8cb3, 0x8cb3},   {0x8d30, 0x8d30},
        {0x9621, 0x9621},   {0x9646, 0x9646},   {0x964c, 0x964c},   {0x9678, 0x9678},
        {0x96f6, 0x96f6},   {0xf96b, 0xf96b},   {0xf973, 0xf973},   {0xf978, 0xf978},
        {0xf9b2, 0xf9b2},   {0xf9d1, 0xf9d1},   {0xf9d3, 0xf9d3},   {0xf9fd, 0xf9fd},
        {0x20001, 0x20001}, {0x20064, 0x20064}, {0x200e2, 0x200e2}, {0x20121, 0x20121},
        {0x2092a, 0x2092a}, {0x20983, 0x20983}, {0x2098c, 0x2098c}, {0x2099c, 0x2099c},
        {0x20aea, 0x20aea}, {0x20afd, 0x20afd}, {0x20b19, 0x20b19}, {0x22390, 0x22390},
        {0x22998, 0x22998}, {0x23b1b, 0x23b1b}, {0x2626d, 0x2626d}, {0x2f890, 0x2f890}};
    static const struct yk_unicode_range_list list = {ideographs,
                                                      sizeof ideographs / sizeof ideographs[0]};
    return yk_unicode_general_category(character)[0] == 'N' ||
           yk_unicode_is_in_ranges(&list, character);
}

bool yk_unicode_is_in_ranges(const struct yk_unicode_range_list *list, uint32_t character)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->ranges[middle].last < character) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < list->count && list->ranges[low].first <= character;
}

bool yk_unicode_is_in_category(uint32_t character, enum yk_unicode_category kind)
{
    return yk_unicode_is_in_ranges(&yk_unicode_category_ranges[kind], character);
}

/* The range that contains a character, or NULL. */
static const struct yk_unicode_numbered_range *
find_range(const struct yk_unicode_numbered_range_list *list, uint32_t character)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->ranges[middle].last < character) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < list->count && list->ranges[low].first <= character ? &list->ranges[low] : NULL;
}

int32_t yk_unicode_script(uint32_t character)
{
    const struct yk_unicode_numbered_range *range =
        find_range(&yk_unicode_script_ranges, character);
    return range ? range->number : YK_UNICODE_ANY_SCRIPT;
}

uint32_t yk_unicode_older_equivalent(uint32_t character)
{
    const struct yk_unicode_numbered_range *range = find_range(&yk_unicode_newer_ranges, character);
    return range ? (uint32_t)range->number : character;
}

/* The next byte from `at` on that is at least `smallest`, which is 0xc0 or more. */
static size_t find_large_byte(const char *text, size_t length, size_t at, unsigned char smallest)
{
    uint64_t eight = 0;
    for (; at + sizeof eight <= length; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & eight << 1 & UINT64_C(0x8080808080808080)) {
            break;
        }
    }
    while (at < length && (unsigned char)text[at] < smallest) {
        at++;
    }
    return at;
}

/* The next character from `at` on that may be newer or inert. Skips kana, ideographs, Hangul
 * syllables and all characters below U+07C0, which are none of these. */
static size_t find_uncommon_character(const char *text, size_t length, size_t at)
{
    enum {
        FIRST_LARGE = 0xdf, /* begins U+07C0 to U+07FF */
        CHARACTER_BYTES = 3
    };
    for (;;) {
        at = find_large_byte(text, length, at, FIRST_LARGE);
        if (at + 1 >= length) {
            return length;
        }
        const unsigned char first = (unsigned char)text[at];
        const unsigned char second = (unsigned char)text[at + 1];
        const bool common = (first >= 0xe4 && first < 0xf0 && first != 0xea) ||
                            (first == 0xe3 && second != 0x87 && second != 0x8b);
        if (!common) {
            return at;
        }
        at = length - at < CHARACTER_BYTES ? length : at + CHARACTER_BYTES;
    }
}

/* U+11A7 lies before the final consonants of Hangul and composes with nothing, but utf8proc
 * composes it with a syllable that has none. */
static bool is_inert(uint32_t character)
{
    enum {
        BEFORE_FINAL_CONSONANTS = 0x11a7
    };
    return character == BEFORE_FINAL_CONSONANTS ||
           yk_unicode_is_in_category(character, YK_UNICODE_INERT);
}

bool yk_unicode_has_inert(const char *text, size_t length)
{
    for (size_t at = find_uncommon_character(text, length, 0); at < length;
         at = find_uncommon_character(text, length, at)) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &character);
        if (used > 0 && is_inert(character)) {
            return true;
        }
        at += used ? used : 1;
    }
    return false;
}

yk_status yk_unicode_replace_newer(const char *text, size_t length, struct yk_text *buffer,
                                   const char **out)
{
    *out = text;
    for (size_t at = find_uncommon_character(text, length, 0); at < length;
         at = find_uncommon_character(text, length, at)) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &character);
        const uint32_t older = used ? yk_unicode_older_equivalent(character) : character;
        if (older != character) {
            if (*out == text) {
                buffer->length = 0;
                yk_text_add_bytes(buffer, text, length);
                YK_TRY(yk_text_status(buffer));
                *out = buffer->bytes;
            }
            (void)yk_utf8_encode(older, buffer->bytes + at);
        }
        at += used ? used : 1;
    }
    return YK_OK;
}

int32_t yk_unicode_lowercase_character(uint32_t character, uint32_t out[YK_UNICODE_MAX_LOWERCASE])
{
    enum {
        CAPITAL_I_WITH_DOT = 0x130,
        DOT_ABOVE = 0x307
    };
    if (character == CAPITAL_I_WITH_DOT) {
        out[0] = 'i';
        out[1] = DOT_ABOVE;
        return 2;
    }
    const struct yk_unicode_numbered_range *range =
        character < 0x80 ? NULL : find_range(&yk_unicode_lowercase_ranges, character);
    out[0] = range ? (uint32_t)((int32_t)character + range->number)
                   : (uint32_t)utf8proc_tolower((utf8proc_int32_t)character);
    return 1;
}

int32_t yk_unicode_casefold_character(uint32_t character, uint32_t out[YK_UNICODE_MAX_CASEFOLD])
{
    utf8proc_int32_t folded[YK_UNICODE_MAX_CASEFOLD];
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)character, folded, YK_UNICODE_MAX_CASEFOLD, UTF8PROC_CASEFOLD, &boundary);
    out[0] = character;
    if (count < 1 || count > YK_UNICODE_MAX_CASEFOLD) {
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        out[i] = (uint32_t)folded[i];
    }
    return (int32_t)count;
}

uint32_t yk_unicode_uppercase_character(uint32_t character)
{
    return (uint32_t)utf8proc_toupper((utf8proc_int32_t)character);
}

uint32_t yk_unicode_titlecase_character(uint32_t character)
{
    return (uint32_t)utf8proc_totitle((utf8proc_int32_t)character);
}

const char *yk_unicode_general_category(uint32_t character)
{
    return utf8proc_category_string((utf8proc_int32_t)character);
}

static utf8proc_option_t options_of(enum yk_unicode_normal_form form)
{
    static const int options[] = {
        [YK_UNICODE_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
        [YK_UNICODE_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
        [YK_UNICODE_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
        [YK_UNICODE_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
    };
    return (utf8proc_option_t)options[form];
}

/* Adds the normal form of a text. `buffer` is large enough. */
static yk_status normalize_into(const char *text, size_t length, utf8proc_option_t options,
                                utf8proc_int32_t *buffer, size_t room, struct yk_text *out)
{
    utf8proc_ssize_t count =
        utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, buffer,
                           (utf8proc_ssize_t)room, options);
    if (count >= 0 && (options & UTF8PROC_COMPOSE)) {
        count = utf8proc_normalize_utf32(buffer, count, options);
    }
    if (count < 0) {
        return yk_fail(YK_ERROR_INPUT, "the text is not UTF-8; convert it first");
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        char bytes[YK_UTF8_MAX_BYTES];
        yk_text_add_bytes(out, bytes, yk_utf8_encode((uint32_t)buffer[i], bytes));
    }
    return YK_OK;
}

static yk_status normalize_segment(const char *text, size_t length,
                                   enum yk_unicode_normal_form form, struct yk_text *out)
{
    const utf8proc_option_t options = options_of(form);
    utf8proc_int32_t few[STACK_CHARACTERS];
    if (length <= STACK_CHARACTERS / MAX_DECOMPOSED) {
        return normalize_into(text, length, options, few, STACK_CHARACTERS, out);
    }
    const size_t room = length * MAX_DECOMPOSED;
    utf8proc_int32_t *many =
        length <= SIZE_MAX / MAX_DECOMPOSED / sizeof *many ? malloc(room * sizeof *many) : NULL;
    YK_TRY_ALLOCATED(many);
    const yk_status status = normalize_into(text, length, options, many, room, out);
    free(many);
    return status;
}

yk_status yk_unicode_normalize(const char *text, size_t length, enum yk_unicode_normal_form form,
                               struct yk_text *out)
{
    /* ASCII is its own normal form, but its last character may combine with the next one.
     * Everything before that character is copied. */
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && (unsigned char)text[end] < 0x80) {
            end++;
        }
        const size_t copied = end < length && end > at ? end - 1 : end;
        yk_text_add_bytes(out, text + at, copied - at);
        at = copied;
        while (end < length && (unsigned char)text[end] >= 0x80) {
            end++;
        }
        if (end > at) {
            YK_TRY(normalize_segment(text + at, end - at, form, out));
        }
        at = end;
    }
    return yk_text_status(out);
}

int32_t yk_unicode_decompose_character(uint32_t character, bool compatible,
                                       uint32_t out[YK_UNICODE_MAX_DECOMPOSED])
{
    utf8proc_int32_t parts[YK_UNICODE_MAX_DECOMPOSED];
    int boundary = 0;
    if (is_inert(character)) {
        out[0] = character;
        return 1;
    }
    const utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)character, parts, YK_UNICODE_MAX_DECOMPOSED,
        options_of(compatible ? YK_UNICODE_NFKD : YK_UNICODE_NFD), &boundary);
    out[0] = character;
    if (count < 1 || count > YK_UNICODE_MAX_DECOMPOSED) {
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        out[i] = (uint32_t)parts[i];
    }
    return (int32_t)count;
}

int32_t yk_unicode_combining_class(uint32_t character)
{
    return is_inert(character)
               ? 0
               : utf8proc_get_property((utf8proc_int32_t)character)->combining_class;
}

uint32_t yk_unicode_compose_pair(uint32_t first, uint32_t second)
{
    utf8proc_int32_t pair[] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second};
    if (is_inert(first) || is_inert(second) ||
        utf8proc_normalize_utf32(pair, 2, options_of(YK_UNICODE_NFC)) != 1 ||
        is_inert((uint32_t)pair[0])) {
        return 0;
    }
    return (uint32_t)pair[0];
}

/* Whether a character is reserved for characters that are not shown, which end a cluster like
 * control characters (Unicode Standard Annex #29). utf8proc knows only those that are assigned. */
static bool is_reserved_control(uint32_t character)
{
    return character == 0x2065 || (character >= 0xfff0 && character <= 0xfff8) ||
           (character >= 0xe0000 && character <= 0xe0fff);
}

/* A character with the same role in grapheme clusters, which utf8proc knows. */
static utf8proc_int32_t known_in_clusters(uint32_t character)
{
    enum {
        CONTROL = 0x1,
        MARK = 0x301,
        LETTER = 'a'
    };
    const int class = (int)utf8proc_get_property((utf8proc_int32_t)character)->boundclass;
    if (class == UTF8PROC_BOUNDCLASS_OTHER && is_reserved_control(character)) {
        return CONTROL;
    }
    const bool known = class == UTF8PROC_BOUNDCLASS_EXTEND || class == UTF8PROC_BOUNDCLASS_ZWJ ||
                       class == UTF8PROC_BOUNDCLASS_SPACINGMARK;
    const bool extends = yk_unicode_is_in_category(character, YK_UNICODE_EXTENDING);
    return known == extends ? (utf8proc_int32_t)character : extends ? MARK : LETTER;
}

bool yk_unicode_is_grapheme_boundary(uint32_t before, uint32_t after, int32_t *state)
{
    return utf8proc_grapheme_break_stateful(known_in_clusters(before), known_in_clusters(after),
                                            state);
}

enum {
    CAPITAL_SIGMA = 0x3a3,
    FINAL_SIGMA = 0x3c2,
    END_OF_CASED_SCRIPTS = 0x590, /* Latin, Greek, Cyrillic and Armenian are below this */
    GREEK_EXTENDED = 0x1f00,
    END_OF_GREEK_EXTENDED = 0x2000
};

/* Approximates the property Case_Ignorable for Greek text. */
static bool is_ignorable(uint32_t c)
{
    static const uint32_t signs[] = {'\'',  '.',   ':',    '^',    '`',    0xa8,
                                     0xad,  0xaf,  0xb4,   0xb7,   0xb8,   0x384,
                                     0x385, 0x387, 0x2018, 0x2019, 0x2024, 0x2027};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (c == signs[i]) {
            return true;
        }
    }
    return yk_unicode_is_in_category(c, YK_UNICODE_NONSPACING_MARK);
}

/* Approximates the property Cased for the scripts that occur with Greek. */
static bool is_cased(uint32_t c)
{
    if (c < 0x80) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    const bool script = (c >= 0xc0 && c < END_OF_CASED_SCRIPTS && c != 0xd7 && c != 0xf7) ||
                        c == 0xaa || c == 0xb5 || c == 0xba ||
                        (c >= GREEK_EXTENDED && c < END_OF_GREEK_EXTENDED);
    return script && !yk_unicode_is_in_category(c, YK_UNICODE_PUNCTUATION) &&
           !yk_unicode_is_in_category(c, YK_UNICODE_MARK);
}

/* Whether the next character that is not ignorable is a cased letter. */
static bool letter_follows(const char *text, size_t length, size_t at)
{
    while (at < length) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &c);
        if (used == 0 || !is_ignorable(c)) {
            return used > 0 && is_cased(c);
        }
        at += used;
    }
    return false;
}

static void add_character(uint32_t character, struct yk_text *out)
{
    uint32_t small[YK_UNICODE_MAX_LOWERCASE];
    char bytes[YK_UTF8_MAX_BYTES];
    const int32_t count = yk_unicode_lowercase_character(character, small);
    for (int32_t i = 0; i < count; i++) {
        yk_text_add_bytes(out, bytes, yk_utf8_encode(small[i], bytes));
    }
}

void yk_unicode_lowercase_text(const char *text, size_t length, struct yk_text *out)
{
    bool after_letter = false;
    for (size_t at = 0; at < length;) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &c);
        if (used == 0) {
            yk_text_add_bytes(out, text + at, 1);
            after_letter = false;
            at++;
            continue;
        }
        at += used;
        if (c == CAPITAL_SIGMA && after_letter && !letter_follows(text, length, at)) {
            c = FINAL_SIGMA;
        }
        add_character(c, out);
        after_letter = is_cased(c) || (after_letter && is_ignorable(c));
    }
}
