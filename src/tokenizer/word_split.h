/*
 * Word split: a text as BERT's pre-tokenizer cuts it. White space parts words and is dropped; each
 * punctuation character is a word of its own. Any thread.
 */
#ifndef YK_TOKENIZER_WORD_SPLIT_H
#define YK_TOKENIZER_WORD_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

/* The next word of `text` from `*at` on, which then stands behind it; false at the end. */
bool yk_word_split_next(const char *text, size_t length, size_t *at, size_t *begin, size_t *end);

#endif
