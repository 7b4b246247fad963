/*
 * Unicode: what tokenizers ask about characters, and the four normal forms of a text.
 *
 * Classes are those of Hugging Face's tokenizers (tokenizer/unicode_ranges.h); small letters and
 * normal forms are of the version of Unicode that utf8proc was built with. This is the only file
 * that knows utf8proc. Any thread.
 */
#ifndef YK_TOKENIZER_UNICODE_H
#define YK_TOKENIZER_UNICODE_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/unicode_ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
