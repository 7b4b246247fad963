#include "tokenizer/word_split.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdint.h>

enum part {
    PART_SPACE,
    PART_PUNCTUATION,
    PART_WORD
};

static enum part ascii_part(unsigned char c)
{
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
        return PART_SPACE;
    }
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c < ' ' || c == 0x7f;
    return word ? PART_WORD : PART_PUNCTUATION;
}

/* What the character at the beginning is and how many bytes it takes; what is no UTF-8 counts as a
 * letter. */
static enum part part_at(const char *text, size_t length, size_t *taken)
{
    uint32_t character = 0;
    if ((unsigned char)text[0] < 0x80) {
        *taken = 1;
        return ascii_part((unsigned char)text[0]);
    }
    *taken = yk_utf8_decode(text, length, &character);
    if (*taken == 0) {
        *taken = 1;
        return PART_WORD;
    }
    if (yk_unicode_is_space(character)) {
        return PART_SPACE;
    }
    return yk_unicode_is(character, YK_UNICODE_PUNCTUATION) ? PART_PUNCTUATION : PART_WORD;
}

bool yk_word_split_next(const char *text, size_t length, size_t *at, size_t *begin, size_t *end)
{
    size_t taken = 0;
    enum part part = PART_SPACE;
    size_t i = *at;
    for (; i < length; i += taken) {
        part = part_at(text + i, length - i, &taken);
        if (part != PART_SPACE) {
            break;
        }
    }
    *begin = i;
    if (i >= length) {
        *at = length;
        *end = length;
        return false;
    }
    i += taken;
    while (part == PART_WORD && i < length && part_at(text + i, length - i, &taken) == PART_WORD) {
        i += taken;
    }
    *end = i;
    *at = i;
    return true;
}
