/*
 * Word counts: the distinct words of a text and how often each occurs. A word is a string of bytes,
 * which is copied. While words are added, one thread at a time may use it; otherwise any number may
 * read it.
 */
#ifndef YK_TOKENIZER_WORD_COUNTS_H
#define YK_TOKENIZER_WORD_COUNTS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_word_counts;

struct yk_word_count {
    const char *word; /* valid as long as the counts */
    size_t length;
    int64_t times;
};

yk_status yk_word_counts_create(struct yk_word_counts **out) YK_MUST_USE;
void yk_word_counts_destroy(struct yk_word_counts *counts);

/* Limits the memory of the words to `max_bytes`; adding a new word beyond it fails. Training takes
 * about ten times this memory. 0, the initial value, means: no limit. */
void yk_word_counts_set_max_bytes(struct yk_word_counts *counts, double max_bytes);

yk_status yk_word_counts_add(struct yk_word_counts *counts, const char *word,
                             size_t length) YK_MUST_USE;

/* The number of distinct words, and word `index`, in the order in which they were first added. */
int32_t yk_word_counts_count(const struct yk_word_counts *counts);
struct yk_word_count yk_word_counts_at(const struct yk_word_counts *counts, int32_t index);

#endif
