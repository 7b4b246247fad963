#include "data/pair_mnemonics.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Bytes `begin` to `end` − 1 are taken out of a text; none where both are the same. */
struct cut {
    size_t begin;
    size_t end;
};

static bool is_key(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* "&amp;" and the like. */
static bool is_entity(const char *after)
{
    size_t length = 0;
    while (isalnum((unsigned char)after[length]) || after[length] == '#') {
        length++;
    }
    return length > 0 && after[length] == ';';
}

static bool is_of_word(uint32_t c, char mark)
{
    if (c < 0x80) {
        return isalnum((int)c) || c == (uint32_t)(unsigned char)mark;
    }
    return !yk_unicode_is_space(c) && !yk_unicode_is(c, YK_UNICODE_PUNCTUATION);
}

/* The word that byte `at` is in. */
static struct cut word_around(const struct yk_text *text, size_t at)
{
    const char mark = text->bytes[at];
    struct cut word = {0};
    for (size_t i = 0; i < text->length;) {
        uint32_t c = 0;
        const size_t taken = yk_utf8_decode(text->bytes + i, text->length - i, &c);
        if (taken == 0 || !is_of_word(c, mark)) {
            if (i > at) {
                word.end = i;
                return word;
            }
            word.begin = i + (taken ? taken : 1);
        }
        i += taken ? taken : 1;
    }
    word.end = text->length;
    return word;
}

static struct cut find_mark(const struct yk_text *text, char mark, const struct yk_text *other)
{
    const struct cut none = {0};
    const char *const found = memchr(yk_text_chars(text), mark, text->length);
    if (!found || strchr(found + 1, mark) || !is_key(found[1]) ||
        (mark == '&' && is_entity(found + 1))) {
        return none;
    }
    const size_t at = (size_t)(found - text->bytes);
    if (at > 0 && found[-1] == '(' && isalnum((unsigned char)found[1]) && found[2] == ')') {
        const size_t begin = at > 1 && found[-2] == ' ' ? at - 2 : at - 1;
        return (struct cut){begin, at + 3};
    }
    const struct cut word = word_around(text, at);
    if (word.begin == at || !memmem(yk_text_chars(other), other->length, text->bytes + word.begin,
                                    word.end - word.begin)) {
        return (struct cut){at, at + 1};
    }
    return none;
}

static void take_out(struct yk_text *text, struct cut cut)
{
    if (cut.end > cut.begin) {
        memmove(text->bytes + cut.begin, text->bytes + cut.end, text->length - cut.end + 1);
        text->length -= cut.end - cut.begin;
    }
}

void yk_pair_strip_mnemonics(struct yk_text *source, struct yk_text *translation)
{
    static const char marks[] = {'_', '&'};
    for (size_t i = 0; i < sizeof marks; i++) {
        const struct cut of_source = find_mark(source, marks[i], translation);
        const struct cut of_translation = find_mark(translation, marks[i], source);
        take_out(source, of_source);
        take_out(translation, of_translation);
    }
}
