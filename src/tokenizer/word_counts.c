#include "tokenizer/word_counts.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 1 << 12, /* a power of two */
    MAX_WORDS = 1 << 29    /* twice as many slots can be counted */
};

struct word {
    size_t start; /* in `bytes` */
    size_t length;
    int64_t times;
    uint64_t hash;
};

struct yk_word_counts {
    struct yk_text bytes; /* of all words, one behind the other */
    struct word *words;
    int32_t count;
    int32_t capacity;
    int32_t *slots; /* index of a word, or −1; at most half of them are taken */
    int32_t slot_count;
    double max_bytes; /* bytes of all words; 0: any number */
};

static void clear(int32_t *slots, int32_t count)
{
    memset(slots, 0xff, (size_t)count * sizeof *slots);
}

yk_status yk_word_counts_create(struct yk_word_counts **out)
{
    struct yk_word_counts *counts = calloc(1, sizeof *counts);
    int32_t *slots = malloc(FIRST_SLOTS * sizeof *slots);
    if (!counts || !slots) {
        free(counts);
        free(slots);
        return yk_fail_out_of_memory();
    }
    clear(slots, FIRST_SLOTS);
    counts->slots = slots;
    counts->slot_count = FIRST_SLOTS;
    *out = counts;
    return YK_OK;
}

void yk_word_counts_destroy(struct yk_word_counts *counts)
{
    if (counts) {
        yk_text_free(&counts->bytes);
        free(counts->words);
        free(counts->slots);
        free(counts);
    }
}

void yk_word_counts_limit(struct yk_word_counts *counts, double max_bytes)
{
    counts->max_bytes = max_bytes;
}

static yk_status check_limit(const struct yk_word_counts *counts, size_t length)
{
    const double bytes = (double)counts->bytes.length + (double)length +
                         (double)counts->count * (double)sizeof *counts->words;
    if (counts->max_bytes <= 0 || bytes <= counts->max_bytes) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "more than %" PRId32 " different words, for which there is not enough memory; "
                   "use less text",
                   counts->count);
}

/* The slot of a word, or the empty one where it belongs. */
static int32_t *slot_of(const struct yk_word_counts *counts, const char *word, size_t length,
                        uint64_t hash)
{
    const uint64_t mask = (uint64_t)counts->slot_count - 1;
    for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
        int32_t *slot = &counts->slots[i];
        if (*slot < 0) {
            return slot;
        }
        const struct word *there = &counts->words[*slot];
        if (there->hash == hash && there->length == length &&
            memcmp(counts->bytes.bytes + there->start, word, length) == 0) {
            return slot;
        }
    }
}

static yk_status double_slots(struct yk_word_counts *counts)
{
    if (counts->count >= MAX_WORDS) {
        return yk_fail(YK_ERROR_INPUT, "more than %d different words; use less text", MAX_WORDS);
    }
    const int32_t slot_count = counts->slot_count * 2;
    int32_t *slots = malloc((size_t)slot_count * sizeof *slots);
    YK_TRY_MEMORY(slots);
    clear(slots, slot_count);
    for (int32_t i = 0; i < counts->count; i++) {
        uint64_t at = counts->words[i].hash & ((uint64_t)slot_count - 1);
        while (slots[at] >= 0) {
            at = (at + 1) & ((uint64_t)slot_count - 1);
        }
        slots[at] = i;
    }
    free(counts->slots);
    counts->slots = slots;
    counts->slot_count = slot_count;
    return YK_OK;
}

yk_status yk_word_counts_add(struct yk_word_counts *counts, const char *word, size_t length)
{
    const uint64_t hash = yk_hash_bytes(word, length);
    int32_t *slot = slot_of(counts, word, length, hash);
    if (*slot >= 0) {
        counts->words[*slot].times++;
        return YK_OK;
    }
    YK_TRY(check_limit(counts, length));
    if (counts->count >= counts->slot_count / 2) {
        YK_TRY(double_slots(counts));
        slot = slot_of(counts, word, length, hash);
    }
    YK_TRY(yk_array_grow((void **)&counts->words, &counts->capacity, counts->count,
                         sizeof *counts->words));
    const size_t start = counts->bytes.length;
    yk_text_add_bytes(&counts->bytes, word, length);
    YK_TRY(yk_text_status(&counts->bytes));
    counts->words[counts->count] =
        (struct word){.start = start, .length = length, .times = 1, .hash = hash};
    *slot = counts->count++;
    return YK_OK;
}

int32_t yk_word_counts_count(const struct yk_word_counts *counts)
{
    return counts->count;
}

struct yk_word_count yk_word_counts_at(const struct yk_word_counts *counts, int32_t index)
{
    const struct word *word = &counts->words[index];
    return (struct yk_word_count){
        .word = yk_text_chars(&counts->bytes) + word->start,
        .length = word->length,
        .times = word->times,
    };
}
