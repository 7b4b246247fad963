/*
 * Lowercase: a text in small letters, as Python's str.lower() gives it.
 *
 * Beyond the small letter of each character (tokenizer/unicode.h): the capital sigma at the end of
 * a word is a final one. Any thread.
 */
#ifndef YK_TOKENIZER_LOWERCASE_H
#define YK_TOKENIZER_LOWERCASE_H

#include "base/text.h"

#include <stddef.h>

/* Adds the small letters of `text`; bytes that are no UTF-8 are added as they are. */
void yk_unicode_lowercase(const char *text, size_t length, struct yk_text *out);

#endif
