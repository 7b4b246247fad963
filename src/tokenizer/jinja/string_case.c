#include "tokenizer/jinja/string_case.h"

#include "tokenizer/jinja/string.h"
#include "tokenizer/unicode.h"

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

static bool is_cased(uint32_t character)
{
    const char *category = yk_unicode_general_category(character);
    return category[0] == 'L' && (category[1] == 'u' || category[1] == 'l' || category[1] == 't');
}

static void add_swapped(struct yk_text *text, uint32_t character)
{
    uint32_t lower[YK_UNICODE_MAX_LOWERCASE];
    if (strcmp(yk_unicode_general_category(character), "Lu") == 0) {
        const int32_t count = yk_unicode_lowercase_character(character, lower);
        for (int32_t i = 0; i < count; i++) {
            yk_jinja_string_add_character(text, lower[i]);
        }
    } else {
        add_upper(text, character, false);
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
            } else {
                add_swapped(text, character);
            }
        }
    }
}

yk_status yk_jinja_string_case_change(struct yk_jinja_run *run,
                                      const struct yk_jinja_string *string, enum yk_jinja_case to,
                                      struct yk_jinja_value *out)
{
    struct yk_text text = {0};
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * 8));
    add_case(string, to, &text);
    return yk_jinja_string_from_text(run, &text, out);
}

bool yk_jinja_string_case_is(const struct yk_jinja_string *string, bool upper_case)
{
    bool cased = false;
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        at += yk_jinja_string_decode(string->bytes + at, &character);
        const char *category = yk_unicode_general_category(character);
        if (strcmp(category, "Lt") == 0 || strcmp(category, upper_case ? "Ll" : "Lu") == 0) {
            return false;
        }
        cased = cased || strcmp(category, upper_case ? "Lu" : "Ll") == 0;
    }
    return cased;
}
