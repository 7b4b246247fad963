/*
 * Word pattern: a regular expression that splits text into words and that many published tokenizers
 * share. Where the text is ASCII, its words are found here, which is faster than PCRE2.
 * Patterns are constants: any thread may use them.
 */
#ifndef YK_TOKENIZER_REGEX_WORD_PATTERN_H
#define YK_TOKENIZER_REGEX_WORD_PATTERN_H

#include <stddef.h>

extern const char yk_word_pattern_gpt2[];
extern const char yk_word_pattern_llama3[]; /* and GPT-4 */
extern const char yk_word_pattern_qwen2[];
extern const char yk_word_pattern_gpt4o[];

struct yk_word_pattern;

/* Returns the word pattern that is written as this regular expression, or NULL. */
const struct yk_word_pattern *yk_word_pattern_find(const char *expression, size_t length);

/* Returns the end of the word that begins at byte `from`, which is less than `length`. Returns 0 if
 * the word depends on a character that is not ASCII. */
size_t yk_word_pattern_match(const struct yk_word_pattern *pattern, const char *text, size_t length,
                             size_t from);

#endif
