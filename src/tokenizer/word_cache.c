#include "tokenizer/word_cache.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1 << 16, /* a power of two */
    MAX_WORDS = SLOTS / 2,
    INLINE_IDS = 3, /* most words have no more tokens */
    MAX_IDS = MAX_WORDS * 4
};

/* 64 bytes, the size of a cache line: finding a word of a few tokens takes one memory access. */
struct slot {
    uint32_t tag;
    uint8_t length; /* of the word */
    uint8_t count;  /* of ids; 0 means: an empty slot */
    char word[YK_WORD_CACHE_MAX_BYTES];
    int32_t ids[INLINE_IDS]; /* the ids, or if there are more than INLINE_IDS: ids[0] is their index
                                in yk_word_cache.ids */
};

struct yk_word_cache {
    struct slot *slots;
    int32_t words;
    int32_t *ids; /* of words with more than INLINE_IDS */
    int32_t id_count;
    uint64_t asked; /* hash of the last word that was searched for */
};

yk_status yk_word_cache_create(struct yk_word_cache **out)
{
    struct yk_word_cache *cache = calloc(1, sizeof *cache);
    YK_TRY_ALLOCATED(cache);
    cache->slots = calloc(SLOTS, sizeof *cache->slots);
    cache->ids = malloc(MAX_IDS * sizeof *cache->ids);
    if (!cache->slots || !cache->ids) {
        yk_word_cache_destroy(cache);
        return yk_fail_out_of_memory();
    }
    *out = cache;
    return YK_OK;
}

void yk_word_cache_destroy(struct yk_word_cache *cache)
{
    if (cache) {
        free(cache->slots);
        free(cache->ids);
        free(cache);
    }
}

/* The slot of a word, or the empty slot where it belongs. */
static struct slot *seek(const struct yk_word_cache *cache, const char *word, size_t length)
{
    const uint32_t tag = (uint32_t)(cache->asked >> 32);
    size_t at = (size_t)cache->asked & (SLOTS - 1);
    for (;;) {
        struct slot *slot = &cache->slots[at];
        if (slot->count == 0 ||
            (slot->tag == tag && slot->length == length && memcmp(slot->word, word, length) == 0)) {
            return slot;
        }
        at = (at + 1) & (SLOTS - 1);
    }
}

bool yk_word_cache_find(struct yk_word_cache *cache, const char *word, size_t length,
                        struct yk_token_ids *out)
{
    if (length > YK_WORD_CACHE_MAX_BYTES) {
        return false;
    }
    cache->asked = yk_hash_bytes(word, length);
    const struct slot *slot = seek(cache, word, length);
    if (slot->count == 0) {
        return false;
    }
    yk_token_ids_add_all(out, slot->count > INLINE_IDS ? cache->ids + slot->ids[0] : slot->ids,
                         slot->count);
    return true;
}

void yk_word_cache_store(struct yk_word_cache *cache, const char *word, size_t length,
                         const int32_t *ids, int64_t count)
{
    if (length > YK_WORD_CACHE_MAX_BYTES || count < 1 || count > YK_WORD_CACHE_MAX_BYTES) {
        return;
    }
    if (cache->words == MAX_WORDS || cache->id_count > MAX_IDS - count) {
        memset(cache->slots, 0, SLOTS * sizeof *cache->slots);
        cache->words = 0;
        cache->id_count = 0;
    }
    struct slot *slot = seek(cache, word, length);
    *slot = (struct slot){
        .tag = (uint32_t)(cache->asked >> 32), .length = (uint8_t)length, .count = (uint8_t)count};
    memcpy(slot->word, word, length);
    if (count > INLINE_IDS) {
        slot->ids[0] = cache->id_count;
        memcpy(cache->ids + cache->id_count, ids, (size_t)count * sizeof *ids);
        cache->id_count += (int32_t)count;
    } else {
        memcpy(slot->ids, ids, (size_t)count * sizeof *ids);
    }
    cache->words++;
}
