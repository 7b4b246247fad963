#include "tokenizer/models/word_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_WORD_BYTES = 2 * sizeof(uint64_t),
    MIDDLE_WORD_BYTES = 44,
    SHORT_SLOTS = 1 << 16, /* a power of two, as the others */
    MIDDLE_SLOTS = 1 << 15,
    LONG_SLOTS = 1 << 13,
    INLINE_IDS = 3, /* most words have no more tokens */
    /* Slots that are looked at for a word. Only words that were made to have the same hash need
     * more; those are not stored. */
    MAX_PROBES = 64
};

/* The beginning of each slot; the key or the word follows. */
struct slot {
    uint8_t length;          /* of the word */
    uint8_t count;           /* of ids; 0 means: an empty slot */
    int32_t ids[INLINE_IDS]; /* the ids, or if there are more than INLINE_IDS: ids[0] is their index
                                in table.ids */
};

/* A slot of a word with at most SHORT_WORD_BYTES: 32 bytes. */
struct short_slot {
    struct slot slot;
    uint64_t first; /* the first and the last bytes of the word, which overlap; see key_of() */
    uint64_t last;
};

/* A slot of a longer word: 64 bytes, the size of a cache line, or 256 bytes. */
struct long_slot {
    struct slot slot;
    uint32_t tag; /* the upper half of the hash */
    char word[];
};

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
    struct table middle_words;
    struct table long_words;
};

static yk_status create_table(size_t slot_bytes, size_t count, int32_t ids, struct table *out)
{
    *out = (struct table){.slot_bytes = slot_bytes, .count = count, .id_capacity = ids};
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
    const size_t slot_bytes = sizeof(struct long_slot);
    struct yk_word_cache *cache = calloc(1, sizeof *cache);
    YK_TRY_ALLOCATED(cache);
    yk_status status =
        create_table(sizeof(struct short_slot), SHORT_SLOTS, SHORT_SLOTS, &cache->short_words);
    YK_IF_OK(create_table(slot_bytes + MIDDLE_WORD_BYTES, MIDDLE_SLOTS, 4 * MIDDLE_SLOTS,
                          &cache->middle_words));
    YK_IF_OK(create_table(slot_bytes + YK_WORD_CACHE_MAX_BYTES, LONG_SLOTS, 16 * LONG_SLOTS,
                          &cache->long_words));
    YK_TRY_OR_CLEAN_UP(status, yk_word_cache_destroy(cache));
    *out = cache;
    return YK_OK;
}

void yk_word_cache_destroy(struct yk_word_cache *cache)
{
    if (cache) {
        free_table(&cache->short_words);
        free_table(&cache->middle_words);
        free_table(&cache->long_words);
        free(cache);
    }
}

static uint64_t load_8(const char *bytes)
{
    uint64_t value = 0;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t load_4(const char *bytes)
{
    uint32_t value = 0;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* A word of at most SHORT_WORD_BYTES. Words of the same length have the same key only if they are
 * the same. */
struct key {
    uint64_t first;
    uint64_t last;
};

static inline struct key key_of(const char *word, size_t length)
{
    if (length >= 8) {
        return (struct key){load_8(word), load_8(word + length - 8)};
    }
    if (length >= 4) {
        return (struct key){load_4(word), load_4(word + length - 4)};
    }
    if (length == 0) {
        return (struct key){0};
    }
    const uint64_t middle = (unsigned char)word[length / 2];
    return (struct key){(unsigned char)word[0] | middle << 8, (unsigned char)word[length - 1]};
}

/* Both halves of a product of 128 bits, and its factors, so that none is lost if the other is 0.
 * The constants are the first bits of the fractions of pi and of the golden ratio. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    a ^= UINT64_C(0x243f6a8885a308d3);
    b ^= UINT64_C(0x9e3779b97f4a7c15);
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64) ^ a ^ b;
}

static uint64_t hash_long(const char *word, size_t length)
{
    uint64_t hash = length;
    for (size_t at = 0; at + SHORT_WORD_BYTES < length; at += SHORT_WORD_BYTES) {
        hash = mix(hash ^ load_8(word + at), load_8(word + at + 8));
    }
    return mix(hash ^ load_8(word + length - SHORT_WORD_BYTES), load_8(word + length - 8));
}

/* The slot of a short word, or the empty slot where it belongs, or NULL if there is no room. */
static inline struct short_slot *seek_short(const struct table *table, struct key key,
                                            size_t length)
{
    size_t at = mix(key.first, key.last ^ (length << 32)) & (table->count - 1);
    for (int probe = 0; probe < MAX_PROBES; probe++) {
        struct short_slot *slot = (struct short_slot *)(void *)table->slots + at;
        if (slot->slot.count == 0 ||
            (slot->first == key.first && slot->last == key.last && slot->slot.length == length)) {
            return slot;
        }
        at = (at + 1) & (table->count - 1);
    }
    return NULL;
}

/* The same for a longer word. */
static struct long_slot *seek_long(const struct table *table, uint64_t hash, const char *word,
                                   size_t length)
{
    const uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = (size_t)hash & (table->count - 1);
    for (int probe = 0; probe < MAX_PROBES; probe++) {
        struct long_slot *slot = (void *)(table->slots + at * table->slot_bytes);
        if (slot->slot.count == 0 || (slot->tag == tag && slot->slot.length == length &&
                                      memcmp(slot->word, word, length) == 0)) {
            return slot;
        }
        at = (at + 1) & (table->count - 1);
    }
    return NULL;
}

static struct table *table_of(struct yk_word_cache *cache, size_t length)
{
    return length <= SHORT_WORD_BYTES    ? &cache->short_words
           : length <= MIDDLE_WORD_BYTES ? &cache->middle_words
                                         : &cache->long_words;
}

/* The slot of a word that is in the table, or NULL. */
static const struct slot *find_slot(const struct table *table, const char *word, size_t length)
{
    if (length <= SHORT_WORD_BYTES) {
        const struct short_slot *slot = seek_short(table, key_of(word, length), length);
        return slot && slot->slot.count > 0 ? &slot->slot : NULL;
    }
    const struct long_slot *slot = seek_long(table, hash_long(word, length), word, length);
    return slot && slot->slot.count > 0 ? &slot->slot : NULL;
}

bool yk_word_cache_find(struct yk_word_cache *cache, const char *word, size_t length,
                        struct yk_token_ids *out)
{
    if (length > YK_WORD_CACHE_MAX_BYTES) {
        return false;
    }
    const struct table *table = table_of(cache, length);
    const struct slot *slot = find_slot(table, word, length);
    if (!slot) {
        return false;
    }
    if (slot->count > INLINE_IDS) {
        yk_token_ids_add_all(out, table->ids + slot->ids[0], slot->count);
    } else if (yk_token_ids_reserve(out, INLINE_IDS)) {
        memcpy(out->items + out->count, slot->ids, sizeof slot->ids);
        out->count += slot->count;
    }
    return true;
}

static void clear(struct table *table)
{
    memset(table->slots, 0, table->count * table->slot_bytes);
    table->words = 0;
    table->id_count = 0;
}

/* Writes a word to its slot and returns the slot, or NULL if there is no room. */
static struct slot *write_word(const struct table *table, const char *word, size_t length)
{
    if (length <= SHORT_WORD_BYTES) {
        const struct key key = key_of(word, length);
        struct short_slot *slot = seek_short(table, key, length);
        if (!slot) {
            return NULL;
        }
        slot->first = key.first;
        slot->last = key.last;
        return &slot->slot;
    }
    const uint64_t hash = hash_long(word, length);
    struct long_slot *slot = seek_long(table, hash, word, length);
    if (!slot) {
        return NULL;
    }
    slot->tag = (uint32_t)(hash >> 32);
    memcpy(slot->word, word, length);
    return &slot->slot;
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
    struct slot *slot = write_word(table, word, length);
    if (!slot) {
        return;
    }
    slot->length = (uint8_t)length;
    slot->count = (uint8_t)count;
    if (count > INLINE_IDS) {
        slot->ids[0] = table->id_count;
        memcpy(table->ids + table->id_count, ids, (size_t)count * sizeof *ids);
        table->id_count += (int32_t)count;
    } else {
        memcpy(slot->ids, ids, (size_t)count * sizeof *ids);
    }
    table->words++;
}
