#include "tokenizer/models/wordpiece.h"

#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TOKEN_BYTES = 1024, /* of a token with its prefix */
    USUAL_CHARACTERS = 100, /* of a word; a longer word becomes the unknown token */
    SHOWN_BYTES = 60        /* the longest part of a word in messages */
};

struct yk_wordpiece {
    const struct yk_token_map *map;
    char *prefix;
    size_t prefix_length;
    size_t longest; /* the longest token, in bytes */
    int64_t max_characters;
    int32_t unknown; /* -1 means: none */
};

void yk_wordpiece_destroy(struct yk_wordpiece *wordpiece)
{
    if (wordpiece) {
        free(wordpiece->prefix);
        free(wordpiece);
    }
}

/* Reads a string, which may be empty. `usual` is the default. */
static yk_status read_words(const struct yk_json *model, const char *key, const char *usual,
                            const char **out)
{
    const struct yk_json *node = yk_json_get_member(model, key);
    *out = node ? yk_json_string_value(node) : usual;
    return *out ? YK_OK
                : yk_fail(YK_ERROR_INPUT, "\"%s\" is %s; it must be a string", key,
                          yk_json_type_name(node));
}

static yk_status fill(const struct yk_json *model, struct yk_wordpiece *out)
{
    const char *unknown = NULL;
    const char *prefix = NULL;
    out->max_characters = USUAL_CHARACTERS;
    YK_TRY(read_words(model, "unk_token", "[UNK]", &unknown));
    YK_TRY(read_words(model, "continuing_subword_prefix", "##", &prefix));
    YK_TRY(
        yk_json_get_integer(model, "max_input_chars_per_word", 0, INT32_MAX, &out->max_characters));
    out->unknown = yk_token_map_find_id(out->map, unknown, strlen(unknown));
    out->prefix_length = strlen(prefix);
    if (out->prefix_length > MAX_TOKEN_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "\"continuing_subword_prefix\" has %zu bytes",
                       out->prefix_length);
    }
    out->prefix = strdup(prefix);
    YK_TRY_ALLOCATED(out->prefix);
    return yk_token_map_measure_tokens(out->map, MAX_TOKEN_BYTES, &out->longest);
}

yk_status yk_wordpiece_from_json(const struct yk_json *model, const struct yk_token_map *map,
                                 struct yk_wordpiece **out)
{
    struct yk_wordpiece *wordpiece = calloc(1, sizeof *wordpiece);
    YK_TRY_ALLOCATED(wordpiece);
    wordpiece->map = map;
    YK_TRY_OR_CLEAN_UP(yk_status_prefix_message(fill(model, wordpiece), "WordPiece"),
                       yk_wordpiece_destroy(wordpiece));
    *out = wordpiece;
    return YK_OK;
}

static int64_t count_characters(const char *word, size_t length)
{
    int64_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += ((unsigned char)word[i] & 0xc0) != 0x80;
    }
    return count;
}

/* Finds the longest token that is a prefix of `bytes` and longer than `kept`, and its length.
 * Returns -1 if there is none. */
static int32_t longest_token(const struct yk_token_map *map, const char *bytes, size_t length,
                             size_t kept, size_t *used)
{
    for (size_t end = length; end > kept; end--) {
        const int32_t id = yk_token_map_find_id(map, bytes, end);
        if (id >= 0) {
            *used = end;
            return id;
        }
        /* Tokens end at the end of a character. */
        while (end > kept + 1 && ((unsigned char)bytes[end - 1] & 0xc0) == 0x80) {
            end--;
        }
    }
    return -1;
}

/* Replaces the tokens of the word, from `first` on, with the unknown token. */
static yk_status add_unknown(const struct yk_wordpiece *wordpiece, const char *word, size_t length,
                             int64_t first, struct yk_token_ids *out, struct yk_token_spans *spans)
{
    if (wordpiece->unknown < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the vocabulary has neither tokens for \"%.*s\" nor an unknown token",
                       length < SHOWN_BYTES ? (int)length : SHOWN_BYTES, word);
    }
    if (spans) {
        spans->count -= out->count - first;
        yk_token_spans_add(spans, 0, length);
    }
    out->count = first;
    yk_token_ids_add(out, wordpiece->unknown);
    return YK_OK;
}

yk_status yk_wordpiece_encode(const struct yk_wordpiece *wordpiece, const char *word, size_t length,
                              struct yk_token_ids *out, struct yk_token_spans *spans)
{
    char bytes[MAX_TOKEN_BYTES];
    const int64_t first = out->count;
    if (count_characters(word, length) > wordpiece->max_characters) {
        return add_unknown(wordpiece, word, length, first, out, spans);
    }
    for (size_t at = 0; at < length;) {
        const size_t prefix = at > 0 ? wordpiece->prefix_length : 0;
        size_t used = 0;
        size_t room = wordpiece->longest > prefix ? wordpiece->longest - prefix : 0;
        room = room < length - at ? room : length - at;
        memcpy(bytes, wordpiece->prefix, prefix);
        memcpy(bytes + prefix, word + at, room);
        const int32_t id = longest_token(wordpiece->map, bytes, prefix + room, prefix, &used);
        if (id < 0) {
            return add_unknown(wordpiece, word, length, first, out, spans);
        }
        yk_token_ids_add(out, id);
        if (spans) {
            yk_token_spans_add(spans, at, at + used - prefix);
        }
        at += used - prefix;
    }
    return YK_OK;
}
