/*
 * Word counts: the different words of a text and how often each occurs. A word is a string of
 * bytes, which is copied. One thread at a time; while no word is added, any number may read.
 */
#ifndef YK_TOKENIZER_WORD_COUNTS_H
#define YK_TOKENIZER_WORD_COUNTS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_word_counts;

struct yk_word_count {
    const char *word; /* belongs to the counts, until the next addition */
    size_t length;
    int64_t times;
};

yk_status yk_word_counts_create(struct yk_word_counts **out) YK_MUST_USE;
void yk_word_counts_destroy(struct yk_word_counts *counts);

/* What is made of the words takes about ten times the memory that they take here: from `max_bytes`
 * bytes on, a new word is refused. 0, as at first: never. */
void yk_word_counts_limit(struct yk_word_counts *counts, double max_bytes);

yk_status yk_word_counts_add(struct yk_word_counts *counts, const char *word,
                             size_t length) YK_MUST_USE;

/* How many different words there are, and each of them, in the order they were first met. */
int32_t yk_word_counts_count(const struct yk_word_counts *counts);
struct yk_word_count yk_word_counts_at(const struct yk_word_counts *counts, int32_t index);

#endif
