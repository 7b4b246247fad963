#include "data/sentence_pair_cleaning.h"

#include "base/hash.h"
#include "base/number.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    COLUMN_SPACES = 3, /* this many spaces in a row separate columns, not words */
    /* A side may have RATIO times as many characters as the other, plus SLACK: Chinese needs a
     * third of the characters of English. */
    RATIO = 4,
    SLACK = 16,
    SYMBOLS_BEGIN = 0x2000, /* punctuation, arrows, boxes, pictograms; not letters */
    SYMBOLS_END = 0x2c00
};

/* A range of bytes to remove from a text: `begin` to `end` - 1. Empty if both are equal. */
struct range {
    size_t begin;
    size_t end;
};

static bool is_key(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Whether "&" + `after` begins with an entity, such as "&amp;". */
static bool is_entity(const char *after)
{
    size_t length = 0;
    while (isalnum((unsigned char)after[length]) || after[length] == '#') {
        length++;
    }
    return length > 0 && after[length] == ';';
}

static bool is_word_character(uint32_t c, char mark)
{
    if (c < 0x80) {
        return isalnum((int)c) || c == (uint32_t)(unsigned char)mark;
    }
    return !yk_unicode_is_space(c) && !yk_unicode_is_in_category(c, YK_UNICODE_PUNCTUATION);
}

/* The word that contains byte `at`. */
static struct range word_around(const struct yk_text *text, size_t at)
{
    const char mark = text->bytes[at];
    struct range word = {0};
    for (size_t i = 0; i < text->length;) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(text->bytes + i, text->length - i, &c);
        if (used == 0 || !is_word_character(c, mark)) {
            if (i > at) {
                word.end = i;
                return word;
            }
            word.begin = i + (used ? used : 1);
        }
        i += used ? used : 1;
    }
    word.end = text->length;
    return word;
}

static struct range find_mark(const struct yk_text *text, char mark, const struct yk_text *other)
{
    const struct range none = {0};
    const char *const found = memchr(yk_text_chars(text), mark, text->length);
    if (!found || strchr(found + 1, mark) || !is_key(found[1]) ||
        (mark == '&' && is_entity(found + 1))) {
        return none;
    }
    const size_t at = (size_t)(found - text->bytes);
    if (at > 0 && found[-1] == '(' && isalnum((unsigned char)found[1]) && found[2] == ')') {
        const size_t begin = at > 1 && found[-2] == ' ' ? at - 2 : at - 1;
        return (struct range){begin, at + 3};
    }
    const struct range word = word_around(text, at);
    if (word.begin == at || !memmem(yk_text_chars(other), other->length, text->bytes + word.begin,
                                    word.end - word.begin)) {
        return (struct range){at, at + 1};
    }
    return none;
}

static void remove_range(struct yk_text *text, struct range cut)
{
    if (cut.end > cut.begin) {
        memmove(text->bytes + cut.begin, text->bytes + cut.end, text->length - cut.end + 1);
        text->length -= cut.end - cut.begin;
    }
}

/* Removes from both sides the marks that say which key chooses a label: "_File" and "E_xit" of GTK,
 * "&File" of Qt and Windows, "파일(_F)" where the language has no such letter. A mark is one _ or &
 * alone in its text, at the beginning of a word, or inside of one that the other side has not:
 * file_name and AT&T, which a translation keeps, stay. */
static void strip_mnemonics(struct yk_text *source, struct yk_text *translation)
{
    static const char marks[] = {'_', '&'};
    for (size_t i = 0; i < sizeof marks; i++) {
        const struct range of_source = find_mark(source, marks[i], translation);
        const struct range of_translation = find_mark(translation, marks[i], source);
        remove_range(source, of_source);
        remove_range(translation, of_translation);
    }
}

/* A position in a text that ends at `end`. */
struct cursor {
    const char *at;
    const char *end;
};

static char next(const struct cursor *cursor)
{
    if (cursor->at >= cursor->end) {
        return '\0';
    }
    return *cursor->at;
}

static bool next_is_of(const struct cursor *cursor, const char *set)
{
    const char c = next(cursor);
    return c != '\0' && strchr(set, c);
}

static void skip(struct cursor *cursor, const char *set)
{
    while (next_is_of(cursor, set)) {
        cursor->at++;
    }
}

static uint64_t hash_of(const char *begin, const char *end, char kind)
{
    const uint64_t hash = yk_hash_bytes(begin, (size_t)(end - begin));
    return hash * 31 + (uint64_t)(unsigned char)kind;
}

/* %(name)s: name and conversion are part of the hash. */
static uint64_t hash_named(struct cursor *cursor)
{
    const char *const begin = cursor->at;
    const char *close = memchr(begin, ')', (size_t)(cursor->end - begin));
    if (!close || close + 1 == cursor->end) {
        return 0;
    }
    cursor->at = close + 2;
    return hash_of(begin, cursor->at, '(');
}

/* Hashes the directive after a %. Returns 0, and does not advance, if there is none. */
static uint64_t hash_directive(struct cursor *cursor)
{
    static const char digits[] = "0123456789";
    struct cursor here = *cursor;
    uint64_t hash = 0;
    if (next(&here) == '(') {
        return hash_named(cursor);
    }
    const char *const number = here.at;
    skip(&here, digits);
    const char *const number_end = here.at;
    if (next(&here) == '$') {
        here.at++;
    }
    /* A space is a flag of printf, too, but in texts it follows a percent sign. */
    skip(&here, "-+#'I0123456789*.$");
    const char *const type = here.at;
    skip(&here, "hlLqjzt");
    if (next_is_of(&here, "diouxXeEfFgGaAcCsSpnm%@")) {
        here.at++;
        hash = hash_of(type, here.at, '%');
    } else if (number_end > number) {
        here.at = number_end;
        hash = hash_of(number, number_end, '1');
    }
    if (hash != 0) {
        *cursor = here;
    }
    return hash;
}

/* Hashes {name}, after the {. Returns 0 if there is no }. */
static uint64_t hash_brace(struct cursor *cursor)
{
    struct cursor here = *cursor;
    skip(&here, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:!");
    if (next(&here) != '}') {
        return 0;
    }
    const uint64_t hash = hash_of(cursor->at, here.at, '{');
    cursor->at = here.at + 1;
    return hash;
}

/* A hash that is equal for texts with the same placeholders, regardless of their order, positions,
 * flags and widths: directives of printf (%s, %1$d, %(name)s, %1), names in braces ({name}), and
 * the sign @ of addresses. */
static uint64_t hash_placeholders(const char *text, size_t length)
{
    struct cursor cursor = {text, text + length};
    uint64_t sum = 0;
    while (cursor.at < cursor.end) {
        const char c = *cursor.at++;
        if (c == '%') {
            sum += hash_directive(&cursor);
        } else if (c == '{') {
            sum += hash_brace(&cursor);
        } else if (c == '@') {
            sum += yk_hash_bytes(&c, 1);
        }
    }
    return sum;
}

const char *yk_sentence_pair_cleaning_reason_name(enum yk_sentence_pair_reject_reason fault)
{
    static const char *const names[YK_SENTENCE_PAIR_REJECT_REASON_COUNT] = {
        [YK_SENTENCE_PAIR_ACCEPTED] = "good",
        [YK_SENTENCE_PAIR_UNTRANSLATED] = "untranslated",
        [YK_SENTENCE_PAIR_NOT_TEXT] = "not text",
        [YK_SENTENCE_PAIR_TABLE_LAYOUT] = "layout",
        [YK_SENTENCE_PAIR_NO_LETTERS] = "no letters",
        [YK_SENTENCE_PAIR_IDENTICAL_SIDES] = "same on both sides",
        [YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS] = "other placeholders",
        [YK_SENTENCE_PAIR_TOO_LONG] = "too long",
        [YK_SENTENCE_PAIR_LENGTH_RATIO] = "unequal lengths",
        [YK_SENTENCE_PAIR_UNMATCHED_PLURALS] = "plural forms",
        [YK_SENTENCE_PAIR_DUPLICATE] = "repeated",
    };
    return names[fault];
}

/* The white space since the last other character. */
struct gaps {
    size_t run;      /* number of characters */
    bool line_ended; /* it contains the end of a line */
    bool layout;
};

static void note_space(struct gaps *gaps, uint32_t c)
{
    /* A line that begins with white space, or is empty. */
    gaps->layout = gaps->layout || gaps->line_ended || c == '\t';
    gaps->line_ended = gaps->line_ended || c == '\n';
    gaps->run++;
}

/* Copies a text, with single spaces for white space and none at the ends. */
static enum yk_sentence_pair_reject_reason collapse(const char *text, size_t length,
                                                    struct yk_text *out)
{
    struct gaps gaps = {0};
    bool layout = false;
    for (size_t at = 0; at < length;) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &c);
        if (used == 0 || c == 0x7f || (c < 0x20 && !yk_unicode_is_space(c))) {
            return YK_SENTENCE_PAIR_NOT_TEXT;
        }
        if (yk_unicode_is_space(c)) {
            note_space(&gaps, c);
        } else {
            const bool list = gaps.line_ended && (c == '-' || c == '*');
            /* White space at the beginning of the text does not matter. */
            layout =
                layout || (out->length > 0 && (gaps.layout || gaps.run >= COLUMN_SPACES || list));
            if (gaps.run > 0 && out->length > 0) {
                yk_text_add_bytes(out, " ", 1);
            }
            yk_text_add_bytes(out, text + at, used);
            gaps = (struct gaps){0};
        }
        at += used;
    }
    return layout ? YK_SENTENCE_PAIR_TABLE_LAYOUT : YK_SENTENCE_PAIR_ACCEPTED;
}

struct statistics {
    int64_t characters;
    bool latin; /* contains A to Z or a to z */
    bool letter;
};

static struct statistics count_characters(const struct yk_text *text)
{
    struct statistics result = {0};
    for (size_t at = 0; at < text->length;) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(text->bytes + at, text->length - at, &c);
        result.latin = result.latin || (c < 0x80 && isalpha((int)c));
        result.letter = result.letter || (c >= 0xc0 && (c < SYMBOLS_BEGIN || c >= SYMBOLS_END) &&
                                          !yk_unicode_is_in_category(c, YK_UNICODE_PUNCTUATION) &&
                                          !yk_unicode_is_in_category(c, YK_UNICODE_MARK));
        result.characters++;
        at += used ? used : 1;
    }
    result.letter = result.letter || result.latin;
    return result;
}

/* Checks two sides after collapse() and strip_mnemonics(). */
static enum yk_sentence_pair_reject_reason
check_sides(const struct yk_text *source, const struct yk_text *translation, int64_t longest)
{
    const struct statistics a = count_characters(source);
    const struct statistics b = count_characters(translation);
    const int64_t more = yk_number_max(a.characters, b.characters);
    const int64_t less = yk_number_min(a.characters, b.characters);
    if (!a.latin || !b.letter) {
        return YK_SENTENCE_PAIR_NO_LETTERS;
    }
    if (strcmp(yk_text_chars(source), yk_text_chars(translation)) == 0) {
        return YK_SENTENCE_PAIR_IDENTICAL_SIDES;
    }
    if (hash_placeholders(source->bytes, source->length) !=
        hash_placeholders(translation->bytes, translation->length)) {
        return YK_SENTENCE_PAIR_DIFFERENT_PLACEHOLDERS;
    }
    if (more > longest) {
        return YK_SENTENCE_PAIR_TOO_LONG;
    }
    return more > RATIO * less + SLACK ? YK_SENTENCE_PAIR_LENGTH_RATIO : YK_SENTENCE_PAIR_ACCEPTED;
}

static void empty(struct yk_text *text)
{
    text->length = 0;
    if (text->bytes) {
        text->bytes[0] = '\0';
    }
}

yk_status yk_sentence_pair_clean(struct yk_sentence_pair_cleaning_sides *sides, int64_t longest,
                                 enum yk_sentence_pair_reject_reason *out)
{
    struct yk_text *const source = &sides->source_out;
    struct yk_text *const translation = &sides->translation_out;
    empty(source);
    empty(translation);
    *out = collapse(sides->source, sides->source_length, source);
    const enum yk_sentence_pair_reject_reason other =
        collapse(sides->translation, sides->translation_length, translation);
    YK_TRY(yk_text_status(source));
    YK_TRY(yk_text_status(translation));
    if (*out == YK_SENTENCE_PAIR_ACCEPTED || other == YK_SENTENCE_PAIR_NOT_TEXT) {
        *out = other;
    }
    if (*out != YK_SENTENCE_PAIR_NOT_TEXT && translation->length == 0) {
        *out = YK_SENTENCE_PAIR_UNTRANSLATED;
    }
    if (*out == YK_SENTENCE_PAIR_ACCEPTED) {
        strip_mnemonics(source, translation);
        *out = check_sides(source, translation, longest);
    }
    return YK_OK;
}
