#include "tokenizer/models/word_counts.h"

#include "base/array.h"
#include "base/name_index.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    WORD_BYTES = 32 /* estimated memory of a word in addition to its characters */
};

struct yk_word_counts {
    struct yk_name_index *words;
    int64_t *times; /* by the number of a word */
    int32_t capacity;
    size_t bytes;     /* of all words */
    double max_bytes; /* 0 means: no limit */
};

yk_status yk_word_counts_create(struct yk_word_counts **out)
{
    struct yk_word_counts *counts = calloc(1, sizeof *counts);
    YK_TRY_ALLOCATED(counts);
    YK_TRY_OR_CLEAN_UP(yk_name_index_create(&counts->words), free(counts));
    *out = counts;
    return YK_OK;
}

void yk_word_counts_destroy(struct yk_word_counts *counts)
{
    if (counts) {
        yk_name_index_destroy(counts->words);
        free(counts->times);
        free(counts);
    }
}

void yk_word_counts_set_max_bytes(struct yk_word_counts *counts, double max_bytes)
{
    counts->max_bytes = max_bytes;
}

static yk_status check_limit(const struct yk_word_counts *counts, size_t length)
{
    const int32_t count = yk_name_index_count(counts->words);
    const double bytes = (double)counts->bytes + (double)length + (double)count * WORD_BYTES;
    if (counts->max_bytes <= 0 || bytes <= counts->max_bytes) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "more than %" PRId32 " different words, for which there is not enough memory; "
                   "use less text",
                   count);
}

yk_status yk_word_counts_add(struct yk_word_counts *counts, const char *word, size_t length)
{
    bool added = false;
    int32_t number = yk_name_index_find_bytes(counts->words, word, length);
    if (number < 0) {
        YK_TRY(check_limit(counts, length));
        YK_TRY_GROW_ARRAY(counts->times, counts->capacity, yk_name_index_count(counts->words));
        YK_TRY(yk_name_index_add_bytes(counts->words, word, length, &added, &number));
        counts->times[number] = 0;
        counts->bytes += length;
    }
    counts->times[number]++;
    return YK_OK;
}

int32_t yk_word_counts_distinct_count(const struct yk_word_counts *counts)
{
    return yk_name_index_count(counts->words);
}

struct yk_word_count yk_word_counts_get_word(const struct yk_word_counts *counts, int32_t index)
{
    return (struct yk_word_count){
        .word = yk_name_index_name(counts->words, index),
        .length = yk_name_index_name_length(counts->words, index),
        .times = counts->times[index],
    };
}
