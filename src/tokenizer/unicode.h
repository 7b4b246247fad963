/*
 * Unicode: what tokenizers ask about characters, small letters, and the four normal forms of a
 * text.
 *
 * Classes are those of Hugging Face's tokenizers (unicode_ranges.c, written by
 * tests/oracle/unicode_ranges.py), which are of older versions of Unicode than libraries of today
 * know: with newer ones a text of a young script would be cut otherwise than when the model was
 * made. Small letters and normal forms are utf8proc's, which only unicode.c knows. Any thread.
 */
#ifndef YK_TOKENIZER_UNICODE_H
#define YK_TOKENIZER_UNICODE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_unicode_kind {
    YK_UNICODE_DROPPED,         /* zero, U+FFFD, control, format and private characters */
    YK_UNICODE_PUNCTUATION,     /* categories P, and the symbols among ASCII */
    YK_UNICODE_NONSPACING_MARK, /* category Mn */
    YK_UNICODE_MARK,            /* categories M */
    YK_UNICODE_IDEOGRAPH,       /* the blocks of CJK ideographs that BERT knows */
    YK_UNICODE_CLASSES
};

struct yk_unicode_range {
    uint32_t first;
    uint32_t last;
};

struct yk_unicode_class {
    const struct yk_unicode_range *ranges; /* rising, with gaps between them */
    size_t count;
};

extern const struct yk_unicode_class yk_unicode_classes[YK_UNICODE_CLASSES];

/* The property White_Space. */
bool yk_unicode_is_space(uint32_t character);

bool yk_unicode_is(uint32_t character, enum yk_unicode_kind kind);

enum {
    YK_UNICODE_MAX_LOWER = 2
};

/* The small letters of a character, itself where it has none, and how many they are: two of U+0130,
 * the capital i with a dot, else one. No character's neighbours matter. */
int32_t yk_unicode_lower(uint32_t character, uint32_t out[YK_UNICODE_MAX_LOWER]);

enum yk_unicode_form {
    YK_UNICODE_NFC,
    YK_UNICODE_NFD,
    YK_UNICODE_NFKC,
    YK_UNICODE_NFKD
};

/* Adds a normal form of UTF-8 text to `out` (Unicode Standard Annex #15). */
yk_status yk_unicode_normalize(const char *text, size_t length, enum yk_unicode_form form,
                               struct yk_text *out) YK_MUST_USE;

/* Adds the small letters of `text`, as Python's str.lower() has them: a capital sigma at the end of
 * a word becomes a final one. Bytes that are no UTF-8 are added as they are. */
void yk_unicode_lowercase(const char *text, size_t length, struct yk_text *out);

#endif
