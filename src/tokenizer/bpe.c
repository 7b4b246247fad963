#include "tokenizer/bpe.h"

#include "base/hash.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"

#include <stdbool.h>
#include <stdint.h>
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
    char word[YK_BPE_CACHE_MAX_BYTES];
    int32_t ids[INLINE_IDS]; /* the ids, or if there are more than INLINE_IDS: ids[0] is their index
                                in yk_bpe_cache.ids */
};

struct yk_bpe_cache {
    struct slot *slots;
    int32_t words;
    int32_t *ids; /* of words with more than INLINE_IDS */
    int32_t id_count;
    uint64_t asked; /* hash of the last word that was searched for */
};

yk_status yk_bpe_cache_create(struct yk_bpe_cache **out)
{
    struct yk_bpe_cache *cache = calloc(1, sizeof *cache);
    YK_TRY_ALLOCATED(cache);
    cache->slots = calloc(SLOTS, sizeof *cache->slots);
    cache->ids = malloc(MAX_IDS * sizeof *cache->ids);
    if (!cache->slots || !cache->ids) {
        yk_bpe_cache_destroy(cache);
        return yk_fail_out_of_memory();
    }
    *out = cache;
    return YK_OK;
}

void yk_bpe_cache_destroy(struct yk_bpe_cache *cache)
{
    if (cache) {
        free(cache->slots);
        free(cache->ids);
        free(cache);
    }
}

/* The slot of a word, or the empty slot where it belongs. */
static struct slot *seek(const struct yk_bpe_cache *cache, const char *word, size_t length)
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

bool yk_bpe_cache_find(struct yk_bpe_cache *cache, const char *word, size_t length,
                       struct yk_token_ids *out)
{
    if (length > YK_BPE_CACHE_MAX_BYTES) {
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

void yk_bpe_cache_store(struct yk_bpe_cache *cache, const char *word, size_t length,
                        const int32_t *ids, int64_t count)
{
    if (length > YK_BPE_CACHE_MAX_BYTES || count < 1 || count > YK_BPE_CACHE_MAX_BYTES) {
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

enum {
    BYTES = 256,
    SHOWN_BYTES = 60 /* the longest part of a token in messages */
};

struct yk_bpe {
    int32_t letters[BYTES]; /* tokens of single bytes; -1 means: none, the byte is skipped */
    struct yk_bpe_merge_table *merges;
    struct yk_token_map *whole; /* tokens that a whole word may become without merges, as bytes;
                                   NULL means: all tokens are made by merges */
};

struct yk_bpe_workspace {
    struct yk_bpe_cache *cache;
    struct yk_bpe_word word;
};

void yk_bpe_destroy(struct yk_bpe *bpe)
{
    if (bpe) {
        yk_bpe_merge_table_destroy(bpe->merges);
        yk_token_map_destroy(bpe->whole);
        free(bpe);
    }
}

/* Fails unless the member is missing, null, false, 0 or "". */
static yk_status refuse(const struct yk_json *model, const char *key)
{
    const struct yk_json *node = yk_json_get_member(model, key);
    const char *text = yk_json_string_value(node);
    double number = 0;
    bool flag = false;
    if (!node || yk_json_is_null(node) || (text && text[0] == '\0') ||
        (yk_json_boolean_value(node, &flag) && !flag) ||
        (yk_json_number_value(node, &number) && number == 0)) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" of a BPE model is not supported", key);
}

/* The options for bytes without a token matter only if there are such bytes. */
static yk_status read_letters(const struct yk_json *model, const struct yk_token_map *map,
                              struct yk_bpe *bpe)
{
    const char *unknown = yk_json_string_value(yk_json_get_member(model, "unk_token"));
    bool complete = true;
    for (int byte = 0; byte < BYTES; byte++) {
        char letter[YK_UTF8_MAX_BYTES];
        const size_t length =
            yk_utf8_encode(yk_byte_level_character_of_byte((unsigned char)byte), letter);
        bpe->letters[byte] = yk_token_map_find_id(map, letter, length);
        complete = complete && bpe->letters[byte] >= 0;
    }
    if (complete) {
        return YK_OK;
    }
    YK_TRY(refuse(model, "byte_fallback"));
    if (!unknown) {
        return YK_OK;
    }
    YK_TRY(refuse(model, "fuse_unk"));
    const int32_t id = yk_token_map_find_id(map, unknown, strlen(unknown));
    if (id < 0) {
        return yk_fail(YK_ERROR_INPUT, "\"unk_token\" is \"%.*s\", which is not in \"vocab\"",
                       SHOWN_BYTES, unknown);
    }
    for (int byte = 0; byte < BYTES; byte++) {
        bpe->letters[byte] = bpe->letters[byte] < 0 ? id : bpe->letters[byte];
    }
    return YK_OK;
}

static yk_status find_token(const struct yk_token_map *map, const char *token, size_t length,
                            int32_t *out)
{
    *out = yk_token_map_find_id(map, token, length);
    if (*out < 0) {
        return yk_fail(YK_ERROR_INPUT, "\"%.*s\" is not in \"vocab\"",
                       length < SHOWN_BYTES ? (int)length : SHOWN_BYTES, token);
    }
    return YK_OK;
}

/* Reads a rule: "a b", or ["a", "b"], whose tokens may contain spaces. */
static yk_status read_pair(const struct yk_json *node, const char **left, size_t *left_length,
                           const char **right, size_t *right_length)
{
    const char *line = yk_json_string_value(node);
    if (line) {
        const char *space = strchr(line, ' ');
        if (space && !strchr(space + 1, ' ')) {
            *left = line;
            *left_length = (size_t)(space - line);
            *right = space + 1;
            *right_length = strlen(*right);
            return YK_OK;
        }
    } else if (yk_json_array_count(node) == 2) {
        *left = yk_json_string_value(yk_json_array_at(node, 0));
        *right = yk_json_string_value(yk_json_array_at(node, 1));
        if (*left && *right) {
            *left_length = strlen(*left);
            *right_length = strlen(*right);
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT, "this must be two tokens, \"a b\" or [\"a\", \"b\"]");
}

static yk_status read_merge(const struct yk_json *node, const struct yk_token_map *map,
                            int32_t rank, struct yk_text *joined, struct yk_bpe_merge_table *merges)
{
    const char *left = NULL;
    const char *right = NULL;
    size_t left_length = 0;
    size_t right_length = 0;
    int32_t left_id = 0;
    int32_t right_id = 0;
    struct yk_bpe_merge_rank_and_id merge = {.rank = rank};
    YK_TRY(read_pair(node, &left, &left_length, &right, &right_length));
    YK_TRY(find_token(map, left, left_length, &left_id));
    YK_TRY(find_token(map, right, right_length, &right_id));
    /* With an empty token, the same pair could be merged forever. */
    if (left_length == 0 || right_length == 0) {
        return yk_fail(YK_ERROR_INPUT, "one of the two tokens is empty");
    }
    joined->length = 0;
    yk_text_add_bytes(joined, left, left_length);
    yk_text_add_bytes(joined, right, right_length);
    YK_TRY(yk_text_status(joined));
    YK_TRY(find_token(map, joined->bytes, joined->length, &merge.id));
    yk_bpe_merge_table_add(merges, left_id, right_id, merge);
    return YK_OK;
}

static yk_status read_merges(const struct yk_json *model, const struct yk_token_map *map,
                             struct yk_bpe *bpe)
{
    const struct yk_json *list = yk_json_get_member(model, "merges");
    const size_t count = yk_json_array_count(list);
    YK_TRY(yk_json_check_is_array(list, "merges"));
    if (count > INT32_MAX / 4) {
        return yk_fail(YK_ERROR_INPUT, "\"merges\" has %zu entries: too many", count);
    }
    YK_TRY(yk_bpe_merge_table_create((int32_t)count, &bpe->merges));
    struct yk_text joined = {0};
    yk_status status = YK_OK;
    int32_t rank = 0;
    for (size_t i = 0; i < count && status == YK_OK; i++) {
        const struct yk_json *node = yk_json_array_at(list, i);
        const char *line = yk_json_string_value(node);
        /* The first line of a merges.txt file. */
        if (line && strncmp(line, "#version", strlen("#version")) == 0) {
            continue;
        }
        status = yk_json_prefix_error_with_element(
            read_merge(node, map, rank++, &joined, bpe->merges), "merges", i, NULL);
    }
    yk_text_free(&joined);
    return status;
}

/* Collects the tokens that a whole word may become. */
static yk_status read_whole(const struct yk_json *model, const struct yk_token_map *map,
                            struct yk_bpe *bpe)
{
    bool ignore_merges = false;
    if (!yk_json_boolean_value(yk_json_get_member(model, "ignore_merges"), &ignore_merges) ||
        !ignore_merges) {
        return YK_OK;
    }
    YK_TRY(yk_token_map_create(&bpe->whole));
    struct yk_text bytes = {0};
    yk_status status = YK_OK;
    for (int32_t id = 0; id < yk_token_map_id_limit(map) && status == YK_OK; id++) {
        size_t length = 0;
        const char *token = yk_token_map_get_token(map, id, &length);
        bytes.length = 0;
        if (token && yk_byte_level_decode_token(token, length, &bytes)) {
            status = yk_text_status(&bytes);
            YK_IF_OK(yk_token_map_add(bpe->whole, yk_text_chars(&bytes), bytes.length, id));
        }
    }
    yk_text_free(&bytes);
    return status;
}

yk_status yk_bpe_from_json(const struct yk_json *model, const struct yk_token_map *map,
                           struct yk_bpe **out)
{
    YK_TRY(refuse(model, "dropout"));
    YK_TRY(refuse(model, "continuing_subword_prefix"));
    YK_TRY(refuse(model, "end_of_word_suffix"));
    struct yk_bpe *bpe = calloc(1, sizeof *bpe);
    YK_TRY_ALLOCATED(bpe);
    yk_status status = read_letters(model, map, bpe);
    YK_IF_OK(read_merges(model, map, bpe));
    YK_IF_OK(read_whole(model, map, bpe));
    YK_TRY_OR_CLEAN_UP(status, yk_bpe_destroy(bpe));
    *out = bpe;
    return YK_OK;
}

yk_status yk_bpe_workspace_create(struct yk_bpe_workspace **out)
{
    struct yk_bpe_workspace *workspace = calloc(1, sizeof *workspace);
    YK_TRY_ALLOCATED(workspace);
    YK_TRY_OR_CLEAN_UP(yk_bpe_cache_create(&workspace->cache), free(workspace));
    *out = workspace;
    return YK_OK;
}

void yk_bpe_workspace_destroy(struct yk_bpe_workspace *workspace)
{
    if (workspace) {
        yk_bpe_cache_destroy(workspace->cache);
        yk_bpe_merge_word_free(&workspace->word);
        free(workspace);
    }
}

void yk_bpe_workspace_set_stop_flag(struct yk_bpe_workspace *workspace, const atomic_bool *stop)
{
    workspace->word.stop = stop;
}

static yk_status encode_new(const struct yk_bpe *bpe, struct yk_bpe_word *word, const char *bytes,
                            size_t length)
{
    YK_TRY(yk_bpe_merge_word_resize(word, length));
    const int32_t whole = bpe->whole ? yk_token_map_find_id(bpe->whole, bytes, length) : -1;
    if (whole >= 0) {
        word->ids[0] = whole;
        word->count = 1;
        return YK_OK;
    }
    int32_t count = 0;
    for (size_t i = 0; i < length; i++) {
        const int32_t id = bpe->letters[(unsigned char)bytes[i]];
        if (id >= 0) {
            word->ids[count++] = id;
        }
    }
    word->count = count;
    return yk_bpe_merge_word(word, bpe->merges);
}

yk_status yk_bpe_encode(const struct yk_bpe *bpe, struct yk_bpe_workspace *workspace,
                        const char *word, size_t length, struct yk_token_ids *out)
{
    if (length == 0 || yk_bpe_cache_find(workspace->cache, word, length, out)) {
        return YK_OK;
    }
    YK_TRY(encode_new(bpe, &workspace->word, word, length));
    yk_bpe_cache_store(workspace->cache, word, length, workspace->word.ids, workspace->word.count);
    yk_token_ids_add_all(out, workspace->word.ids, workspace->word.count);
    return YK_OK;
}
