/*
 * Word counts: the distinct words of a text and how often each occurs. A word is a string of bytes,
 * which is copied. While words are added, only one thread may use the counts. Afterwards, any
 * number of threads may read them.
 */
#ifndef YK_TOKENIZER_MODELS_WORD_COUNTS_H
#define YK_TOKENIZER_MODELS_WORD_COUNTS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_word_counts;

struct yk_word_count {
    const char *word; /* valid until the counts are destroyed */
    size_t length;
    int64_t times;
};

yk_status yk_word_counts_create(struct yk_word_counts **out) YK_MUST_USE;
void yk_word_counts_destroy(struct yk_word_counts *counts);

/* Limits the memory of all words together to `max_bytes`: yk_word_counts_add() fails if the words
 * would need more. (Training needs about ten times as much memory as the words.) 0 means: no limit;
 * this is the initial value. */
void yk_word_counts_set_max_bytes(struct yk_word_counts *counts, double max_bytes);

yk_status yk_word_counts_add(struct yk_word_counts *counts, const char *word,
                             size_t length) YK_MUST_USE;

/* Returns the number of distinct words. */
int32_t yk_word_counts_distinct_count(const struct yk_word_counts *counts);
/* Returns word `index`. Words are in the order in which they were first added. */
struct yk_word_count yk_word_counts_get_word(const struct yk_word_counts *counts, int32_t index);

#endif
