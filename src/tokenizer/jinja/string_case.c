#include "tokenizer/jinja/string_case.h"

#include "tokenizer/jinja/string.h"
#include "tokenizer/unicode.h"

#include <ctype.h>

enum {
    MAX_GROWTH = 3, /* of the bytes of a character */
    ASCII_TIME = 4, /* for a byte, in that of copying */
    UNICODE_TIME = 16
};

static void add_upper(struct yk_text *text, uint32_t character, bool title)
{
    /* Characters whose upper case is more than one character. */
    static const struct {
        uint32_t character;
        const char *upper;
        const char *title;
    } special[] = {
        {0xdf, "SS", "Ss"},
        {0x149, "\u02bcN", "\u02bcN"},
        {0x1f0, "J\u030c", "J\u030c"},
        {0x587, "\u0535\u0552", "\u0535\u0582"},
        {0x1e96, "H\u0331", "H\u0331"},
        {0x1e97, "T\u0308", "T\u0308"},
        {0x1e98, "W\u030a", "W\u030a"},
        {0x1e99, "Y\u030a", "Y\u030a"},
        {0x1e9a, "A\u02be", "A\u02be"},
        {0xfb00, "FF", "Ff"},
        {0xfb01, "FI", "Fi"},
        {0xfb02, "FL", "Fl"},
        {0xfb03, "FFI", "Ffi"},
        {0xfb04, "FFL", "Ffl"},
        {0xfb05, "ST", "St"},
        {0xfb06, "ST", "St"},
    };
    for (size_t i = 0; character >= 0xdf && i < sizeof special / sizeof *special; i++) {
        if (special[i].character == character) {
            yk_text_add(text, title ? special[i].title : special[i].upper);
            return;
        }
    }
    yk_jinja_string_add_character(text, title ? yk_unicode_titlecase_character(character)
                                              : yk_unicode_uppercase_character(character));
}

/* The properties Uppercase and Lowercase of Unicode 14 also hold for letters in circles, for Roman
 * numerals and for small letters above or below the line. */
static bool is_upper(uint32_t character)
{
    static const struct yk_unicode_range others[] = {{0x2160, 0x216f},
                                                     {0x24b6, 0x24cf},
                                                     {0x1f130, 0x1f149},
                                                     {0x1f150, 0x1f169},
                                                     {0x1f170, 0x1f189}};
    static const struct yk_unicode_range_list list = {others, sizeof others / sizeof others[0]};
    return strcmp(yk_unicode_general_category(character), "Lu") == 0 ||
           yk_unicode_is_in_ranges(&list, character);
}

static bool is_lower(uint32_t character)
{
    static const struct yk_unicode_range others[] = {
        {0xaa, 0xaa},       {0xba, 0xba},       {0x2b0, 0x2b8},     {0x2c0, 0x2c1},
        {0x2e0, 0x2e4},     {0x345, 0x345},     {0x37a, 0x37a},     {0x1d2c, 0x1d6a},
        {0x1d78, 0x1d78},   {0x1d9b, 0x1dbf},   {0x2071, 0x2071},   {0x207f, 0x207f},
        {0x2090, 0x209c},   {0x2170, 0x217f},   {0x24d0, 0x24e9},   {0x2c7c, 0x2c7d},
        {0xa69c, 0xa69d},   {0xa770, 0xa770},   {0xa7f8, 0xa7f9},   {0xab5c, 0xab5f},
        {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107b0}, {0x107b2, 0x107ba}};
    static const struct yk_unicode_range_list list = {others, sizeof others / sizeof others[0]};
    return strcmp(yk_unicode_general_category(character), "Ll") == 0 ||
           yk_unicode_is_in_ranges(&list, character);
}

static bool is_title(uint32_t character)
{
    return strcmp(yk_unicode_general_category(character), "Lt") == 0;
}

static bool is_cased(uint32_t character)
{
    return is_lower(character) || is_upper(character) || is_title(character);
}

static void add_swapped(struct yk_text *text, uint32_t character)
{
    uint32_t lower[YK_UNICODE_MAX_LOWERCASE];
    if (is_upper(character)) {
        const int32_t count = yk_unicode_lowercase_character(character, lower);
        for (int32_t i = 0; i < count; i++) {
            yk_jinja_string_add_character(text, lower[i]);
        }
    } else if (is_lower(character)) {
        add_upper(text, character, false);
    } else {
        yk_jinja_string_add_character(text, character);
    }
}

static void add_folded(struct yk_text *text, uint32_t character)
{
    uint32_t folded[YK_UNICODE_MAX_CASEFOLD];
    const int32_t count = yk_unicode_casefold_character(character, folded);
    for (int32_t i = 0; i < count; i++) {
        yk_jinja_string_add_character(text, folded[i]);
    }
}

/* Adds the lower case of a run of characters, whose context decides about sigma. */
static size_t add_lower_word(const struct yk_jinja_string *string, size_t at, struct yk_text *text)
{
    size_t end = at;
    while (end < string->length) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(string->bytes + end, &character);
        if (!is_cased(character)) {
            break;
        }
        end += used;
    }
    yk_unicode_lowercase_text(string->bytes + at, end - at, text);
    return end;
}

static void add_title(const struct yk_jinja_string *string, struct yk_text *text)
{
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        at += yk_jinja_string_decode(string->bytes + at, &character);
        add_upper(text, character, true);
        if (is_cased(character)) {
            at = add_lower_word(string, at, text);
        }
    }
}

static void add_case(const struct yk_jinja_string *string, enum yk_jinja_case to,
                     struct yk_text *text)
{
    uint32_t character = 0;
    size_t at = 0;
    switch (to) {
    case YK_JINJA_LOWER:
        yk_unicode_lowercase_text(string->bytes, string->length, text);
        break;
    case YK_JINJA_CAPITALIZE:
        if (string->length > 0) {
            at = yk_jinja_string_decode(string->bytes, &character);
            add_upper(text, character, true);
            yk_unicode_lowercase_text(string->bytes + at, string->length - at, text);
        }
        break;
    case YK_JINJA_TITLE:
        add_title(string, text);
        break;
    default:
        while (at < string->length) {
            at += yk_jinja_string_decode(string->bytes + at, &character);
            if (to == YK_JINJA_UPPER) {
                add_upper(text, character, false);
            } else if (to == YK_JINJA_CASEFOLD) {
                add_folded(text, character);
            } else {
                add_swapped(text, character);
            }
        }
    }
}

static char change_ascii(char byte, enum yk_jinja_case to, bool first, bool after_letter)
{
    const unsigned char character = (unsigned char)byte;
    switch (to) {
    case YK_JINJA_UPPER:
        return (char)toupper(character);
    case YK_JINJA_CAPITALIZE:
        return (char)(first ? toupper(character) : tolower(character));
    case YK_JINJA_TITLE:
        return (char)(after_letter ? tolower(character) : toupper(character));
    case YK_JINJA_SWAPCASE:
        return (char)(islower(character) ? toupper(character) : tolower(character));
    default:
        return (char)tolower(character);
    }
}

yk_status yk_jinja_string_case_change(struct yk_jinja_run *run,
                                      const struct yk_jinja_string *string, enum yk_jinja_case to,
                                      struct yk_jinja_value *out)
{
    struct yk_text text = {0};
    if (yk_jinja_value_count_characters(string) == (int64_t)string->length) {
        char *bytes = NULL;
        YK_TRY(yk_jinja_run_charge_bytes(run, string->length * ASCII_TIME));
        YK_TRY(yk_jinja_value_reserve_string(run, string->length, &bytes, out));
        for (size_t i = 0; i < string->length; i++) {
            const bool after_letter = i > 0 && isalpha((unsigned char)string->bytes[i - 1]);
            bytes[i] = change_ascii(string->bytes[i], to, i == 0, after_letter);
        }
        return YK_OK;
    }
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * UNICODE_TIME));
    YK_TRY(yk_jinja_run_charge_memory(run, string->length * MAX_GROWTH));
    add_case(string, to, &text);
    return yk_jinja_string_from_text(run, &text, out);
}

yk_status yk_jinja_string_case_is(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                  bool upper_case, bool *out)
{
    *out = false;
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * UNICODE_TIME));
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        at += yk_jinja_string_decode(string->bytes + at, &character);
        if (is_title(character) || (upper_case ? is_lower(character) : is_upper(character))) {
            *out = false;
            return YK_OK;
        }
        *out = *out || (upper_case ? is_upper(character) : is_lower(character));
    }
    return YK_OK;
}
