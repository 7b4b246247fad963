#include "tokenizer/lowercase.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CAPITAL_SIGMA = 0x3a3,
    FINAL_SIGMA = 0x3c2,
    END_OF_CASED_SCRIPTS = 0x590, /* Latin, Greek, Cyrillic, Armenian are below */
    GREEK_EXTENDED = 0x1f00,
    END_OF_GREEK_EXTENDED = 0x2000
};

/* The property Case_Ignorable of what stands in and beside Greek words. */
static bool is_ignorable(uint32_t c)
{
    switch (c) {
    case '\'':
    case '.':
    case ':':
    case '^':
    case '`':
    case 0xa8:
    case 0xad:
    case 0xaf:
    case 0xb4:
    case 0xb7:
    case 0xb8:
    case 0x384:
    case 0x385:
    case 0x387:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
        return true;
    default:
        return yk_unicode_is(c, YK_UNICODE_NONSPACING_MARK);
    }
}

/* The property Cased, of the scripts that Greek is mixed with. */
static bool is_cased(uint32_t c)
{
    if (c < 0x80) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    const bool script = (c >= 0xc0 && c < END_OF_CASED_SCRIPTS && c != 0xd7 && c != 0xf7) ||
                        c == 0xaa || c == 0xb5 || c == 0xba ||
                        (c >= GREEK_EXTENDED && c < END_OF_GREEK_EXTENDED);
    return script && !yk_unicode_is(c, YK_UNICODE_PUNCTUATION) &&
           !yk_unicode_is(c, YK_UNICODE_MARK);
}

/* Whether the first character behind `at` that counts is a letter. */
static bool letter_follows(const char *text, size_t length, size_t at)
{
    while (at < length) {
        uint32_t c = 0;
        const size_t taken = yk_utf8_decode(text + at, length - at, &c);
        if (taken == 0 || !is_ignorable(c)) {
            return taken > 0 && is_cased(c);
        }
        at += taken;
    }
    return false;
}

static void add_character(uint32_t character, struct yk_text *out)
{
    uint32_t small[YK_UNICODE_MAX_LOWER];
    char bytes[YK_UTF8_MAX_BYTES];
    const int32_t count = yk_unicode_lower(character, small);
    for (int32_t i = 0; i < count; i++) {
        yk_text_add_bytes(out, bytes, yk_utf8_encode(small[i], bytes));
    }
}

void yk_unicode_lowercase(const char *text, size_t length, struct yk_text *out)
{
    bool after_letter = false;
    for (size_t at = 0; at < length;) {
        uint32_t c = 0;
        const size_t taken = yk_utf8_decode(text + at, length - at, &c);
        if (taken == 0) {
            yk_text_add_bytes(out, text + at, 1);
            after_letter = false;
            at++;
            continue;
        }
        at += taken;
        if (c == CAPITAL_SIGMA && after_letter && !letter_follows(text, length, at)) {
            c = FINAL_SIGMA;
        }
        add_character(c, out);
        after_letter = is_cased(c) || (after_letter && is_ignorable(c));
    }
}
