#include "tokenizer/word_cache.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_WORD_BYTES = 44,
    SHORT_SLOTS = 1 << 16, /* a power of two */
    LONG_SLOTS = 1 << 14,  /* a power of two */
    INLINE_IDS = 3,        /* most short words have no more tokens */
    SHORT_IDS = SHORT_SLOTS * 2,
    LONG_IDS = LONG_SLOTS * 16
};

/* The beginning of a slot; the word is behind it. */
struct slot {
    uint32_t tag;
    uint8_t length;          /* of the word */
    uint8_t count;           /* of ids; 0 means: an empty slot */
    int32_t ids[INLINE_IDS]; /* the ids, or if there are more than INLINE_IDS: ids[0] is their index
                                in table.ids */
};

/* The slots of short words have 64 bytes, the size of a cache line; those of long words 256. */
struct table {
    unsigned char *slots;
    size_t slot_bytes;
    size_t count; /* of slots */
    size_t words; /* at most half of the slots */
    int32_t *ids; /* of words with more than INLINE_IDS */
    int32_t id_count;
    int32_t id_capacity;
};

struct yk_word_cache {
    struct table short_words;
    struct table long_words;
    uint64_t asked; /* hash of the last word that was searched for */
};

static yk_status create_table(size_t word_bytes, size_t count, int32_t ids, struct table *out)
{
    *out = (struct table){
        .slot_bytes = sizeof(struct slot) + word_bytes, .count = count, .id_capacity = ids};
    out->slots = calloc(count, out->slot_bytes);
    YK_TRY_ALLOCATED(out->slots);
    out->ids = malloc((size_t)ids * sizeof *out->ids);
    YK_TRY_ALLOCATED(out->ids);
    return YK_OK;
}

static void free_table(struct table *table)
{
    free(table->slots);
    free(table->ids);
}

yk_status yk_word_cache_create(struct yk_word_cache **out)
{
    struct yk_word_cache *cache = calloc(1, sizeof *cache);
    YK_TRY_ALLOCATED(cache);
    yk_status status = create_table(SHORT_WORD_BYTES, SHORT_SLOTS, SHORT_IDS, &cache->short_words);
    YK_IF_OK(create_table(YK_WORD_CACHE_MAX_BYTES, LONG_SLOTS, LONG_IDS, &cache->long_words));
    YK_TRY_OR_CLEAN_UP(status, yk_word_cache_destroy(cache));
    *out = cache;
    return YK_OK;
}

void yk_word_cache_destroy(struct yk_word_cache *cache)
{
    if (cache) {
        free_table(&cache->short_words);
        free_table(&cache->long_words);
        free(cache);
    }
}

static struct table *table_of(struct yk_word_cache *cache, size_t length)
{
    return length <= SHORT_WORD_BYTES ? &cache->short_words : &cache->long_words;
}

static char *word_of(struct slot *slot)
{
    return (char *)(slot + 1);
}

/* The slot of a word, or the empty slot where it belongs. */
static struct slot *seek(const struct table *table, uint64_t hash, const char *word, size_t length)
{
    const uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = (size_t)hash & (table->count - 1);
    for (;;) {
        struct slot *slot = (void *)(table->slots + at * table->slot_bytes);
        if (slot->count == 0 || (slot->tag == tag && slot->length == length &&
                                 memcmp(word_of(slot), word, length) == 0)) {
            return slot;
        }
        at = (at + 1) & (table->count - 1);
    }
}

static void clear(struct table *table)
{
    memset(table->slots, 0, table->count * table->slot_bytes);
    table->words = 0;
    table->id_count = 0;
}

bool yk_word_cache_find(struct yk_word_cache *cache, const char *word, size_t length,
                        struct yk_token_ids *out)
{
    if (length > YK_WORD_CACHE_MAX_BYTES) {
        return false;
    }
    cache->asked = yk_hash_bytes(word, length);
    const struct table *table = table_of(cache, length);
    const struct slot *slot = seek(table, cache->asked, word, length);
    if (slot->count == 0) {
        return false;
    }
    yk_token_ids_add_all(out, slot->count > INLINE_IDS ? table->ids + slot->ids[0] : slot->ids,
                         slot->count);
    return true;
}

void yk_word_cache_store(struct yk_word_cache *cache, const char *word, size_t length,
                         const int32_t *ids, int64_t count)
{
    if (length > YK_WORD_CACHE_MAX_BYTES || count < 1 || count > YK_WORD_CACHE_MAX_BYTES) {
        return;
    }
    struct table *table = table_of(cache, length);
    if (table->words == table->count / 2 || table->id_count > table->id_capacity - count) {
        clear(table);
    }
    struct slot *slot = seek(table, cache->asked, word, length);
    *slot = (struct slot){
        .tag = (uint32_t)(cache->asked >> 32), .length = (uint8_t)length, .count = (uint8_t)count};
    memcpy(word_of(slot), word, length);
    if (count > INLINE_IDS) {
        slot->ids[0] = table->id_count;
        memcpy(table->ids + table->id_count, ids, (size_t)count * sizeof *ids);
        table->id_count += (int32_t)count;
    } else {
        memcpy(slot->ids, ids, (size_t)count * sizeof *ids);
    }
    table->words++;
}
