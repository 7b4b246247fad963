#include "data/pair_cleaning.h"

#include "base/utf8.h"
#include "data/pair_mnemonics.h"
#include "data/pair_placeholders.h"
#include "tokenizer/unicode.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
    COLUMN_SPACES = 3, /* so many in a row are no gap between words but between columns */
    /* A side may have RATIO times as many characters as the other and SLACK more: Chinese needs a
     * third of what English does. */
    RATIO = 4,
    SLACK = 16,
    SYMBOLS_BEGIN = 0x2000, /* punctuation, arrows, boxes, pictures; no letters */
    SYMBOLS_END = 0x2c00
};

const char *yk_pair_cleaning_fault_name(enum yk_pair_fault fault)
{
    static const char *const names[YK_PAIR_FAULTS] = {
        [YK_PAIR_GOOD] = "good",
        [YK_PAIR_UNTRANSLATED] = "untranslated",
        [YK_PAIR_NOT_TEXT] = "not text",
        [YK_PAIR_LAYOUT] = "layout",
        [YK_PAIR_NO_LETTERS] = "no letters",
        [YK_PAIR_SAME] = "same on both sides",
        [YK_PAIR_PLACEHOLDERS] = "other placeholders",
        [YK_PAIR_LONG] = "too long",
        [YK_PAIR_UNEQUAL] = "unequal lengths",
        [YK_PAIR_PLURAL] = "plural forms",
        [YK_PAIR_REPEATED] = "repeated",
    };
    return names[fault];
}

/* ASCII is told quickly: nearly all characters are. */
static bool is_space(uint32_t c)
{
    return c < 0x80 ? c == ' ' || (c >= '\t' && c <= '\r') : yk_unicode_is_space(c);
}

/* Notes how white space is used inside a text, from one character to the next. */
struct gaps {
    size_t run;      /* of spaces up to here */
    bool line_ended; /* and with a line's end among them */
    bool layout;
};

static void note_space(struct gaps *gaps, uint32_t c)
{
    /* A line that begins with white space, or is empty. */
    gaps->layout = gaps->layout || gaps->line_ended || c == '\t';
    gaps->line_ended = gaps->line_ended || c == '\n';
    gaps->run++;
}

/* Adds a text with single spaces for white space and none at the ends. */
static enum yk_pair_fault collapse(const char *text, size_t length, struct yk_text *out)
{
    struct gaps gaps = {0};
    bool layout = false;
    for (size_t at = 0; at < length;) {
        uint32_t c = 0;
        const size_t taken = yk_utf8_decode(text + at, length - at, &c);
        if (taken == 0 || c == 0x7f || (c < 0x20 && !is_space(c))) {
            return YK_PAIR_NOT_TEXT;
        }
        if (is_space(c)) {
            note_space(&gaps, c);
        } else {
            const bool list = gaps.line_ended && (c == '-' || c == '*');
            /* White space at the beginning of all says nothing. */
            layout =
                layout || (out->length > 0 && (gaps.layout || gaps.run >= COLUMN_SPACES || list));
            if (gaps.run > 0 && out->length > 0) {
                yk_text_add_bytes(out, " ", 1);
            }
            yk_text_add_bytes(out, text + at, taken);
            gaps = (struct gaps){0};
        }
        at += taken;
    }
    return layout ? YK_PAIR_LAYOUT : YK_PAIR_GOOD;
}

struct count {
    int64_t characters;
    bool latin; /* one of A to Z, a to z */
    bool letter;
};

static struct count count(const struct yk_text *text)
{
    struct count result = {0};
    for (size_t at = 0; at < text->length;) {
        uint32_t c = 0;
        const size_t taken = yk_utf8_decode(text->bytes + at, text->length - at, &c);
        result.latin = result.latin || (c < 0x80 && isalpha((int)c));
        result.letter = result.letter || (c >= 0xc0 && (c < SYMBOLS_BEGIN || c >= SYMBOLS_END) &&
                                          !yk_unicode_is(c, YK_UNICODE_PUNCTUATION) &&
                                          !yk_unicode_is(c, YK_UNICODE_MARK));
        result.characters++;
        at += taken ? taken : 1;
    }
    result.letter = result.letter || result.latin;
    return result;
}

/* Of sides that are collapsed and have no mnemonics. */
static enum yk_pair_fault judge(const struct yk_text *source, const struct yk_text *translation,
                                int64_t longest)
{
    const struct count a = count(source);
    const struct count b = count(translation);
    const int64_t more = a.characters > b.characters ? a.characters : b.characters;
    const int64_t less = a.characters > b.characters ? b.characters : a.characters;
    if (!a.latin || !b.letter) {
        return YK_PAIR_NO_LETTERS;
    }
    if (strcmp(yk_text_chars(source), yk_text_chars(translation)) == 0) {
        return YK_PAIR_SAME;
    }
    if (yk_pair_placeholders(source->bytes, source->length) !=
        yk_pair_placeholders(translation->bytes, translation->length)) {
        return YK_PAIR_PLACEHOLDERS;
    }
    if (more > longest) {
        return YK_PAIR_LONG;
    }
    return more > RATIO * less + SLACK ? YK_PAIR_UNEQUAL : YK_PAIR_GOOD;
}

static void empty(struct yk_text *text)
{
    text->length = 0;
    if (text->bytes) {
        text->bytes[0] = '\0';
    }
}

yk_status yk_pair_clean(struct yk_pair_sides *sides, int64_t longest, enum yk_pair_fault *out)
{
    struct yk_text *const source = &sides->source_out;
    struct yk_text *const translation = &sides->translation_out;
    empty(source);
    empty(translation);
    *out = collapse(sides->source, sides->source_length, source);
    const enum yk_pair_fault other =
        collapse(sides->translation, sides->translation_length, translation);
    YK_TRY(yk_text_status(source));
    YK_TRY(yk_text_status(translation));
    if (*out == YK_PAIR_GOOD || other == YK_PAIR_NOT_TEXT) {
        *out = other;
    }
    if (*out != YK_PAIR_NOT_TEXT && translation->length == 0) {
        *out = YK_PAIR_UNTRANSLATED;
    }
    if (*out == YK_PAIR_GOOD) {
        yk_pair_strip_mnemonics(source, translation);
        *out = judge(source, translation, longest);
    }
    return YK_OK;
}
