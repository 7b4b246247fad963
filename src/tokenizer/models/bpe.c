#include "tokenizer/models/bpe.h"

#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES = 256,
    ASCII = 128,
    FEW_CHARACTERS = 0x3000, /* whose tokens are found without the map: these contain "▁" */
    MAX_SUFFIX_BYTES = 32,   /* of words that are given as bytes */
    SHOWN_BYTES = 60         /* the longest part of a token in messages */
};

/* Stands for a space in SentencePiece's vocabularies. */
static const char metaspace[] = "\xe2\x96\x81";

struct yk_bpe {
    const struct yk_token_map *map;
    struct yk_bpe_merge_table *merges;
    bool bytes; /* words are given as bytes */

    int32_t letters[FEW_CHARACTERS]; /* tokens of single bytes or characters; -1 means: none */
    int32_t last_letters[BYTES];     /* of bytes that end a word */
    struct yk_token_map *whole;      /* tokens that a whole word may become without merges, as the
                                        word is given; NULL means: all are made by merges */
    size_t longest_whole;            /* in bytes */

    char *prefix; /* of the names of characters that do not begin a word; "" is none */
    char *suffix; /* of the name of the character that ends a word */
    bool has_fallback;
    int32_t fallback[BYTES]; /* tokens of single bytes, "<0x00>" … "<0xFF>"; -1 means: none */
    bool has_unknown;
    int32_t unknown; /* -1 means: not in the vocabulary */
    bool fuse_unknown;

    /* Where a word can be cut into parts; see tokenizer/models/bpe.h. */
    bool can_cut;                    /* at some places */
    bool cuts_metaspace;             /* before "▁" behind another character */
    bool cuts_between[ASCII][ASCII]; /* between these two characters */
    bool is_alone[ASCII];            /* before and behind this character */
};

void yk_bpe_destroy(struct yk_bpe *bpe)
{
    if (bpe) {
        yk_bpe_merge_table_destroy(bpe->merges);
        yk_token_map_destroy(bpe->whole);
        free(bpe->prefix);
        free(bpe->suffix);
        free(bpe);
    }
}

/* Fails if a member that must be a string or null is something else. */
static yk_status check_strings(const struct yk_json *model)
{
    static const char *const keys[] = {"unk_token", "continuing_subword_prefix",
                                       "end_of_word_suffix"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct yk_json *node = yk_json_get_member(model, keys[i]);
        if (node && !yk_json_is_null(node) && !yk_json_string_value(node)) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" is %s; it must be a string or null", keys[i],
                           yk_json_type_name(node));
        }
    }
    return YK_OK;
}

/* The string member `key`, or "" if it is missing or null. */
static const char *get_string(const struct yk_json *model, const char *key)
{
    const char *text = yk_json_string_value(yk_json_get_member(model, key));
    return text ? text : "";
}

/* Reads a flag. Does not change `*out` if it is missing or null. */
static yk_status read_flag(const struct yk_json *model, const char *key, bool *out)
{
    const struct yk_json *node = yk_json_get_member(model, key);
    return !node || yk_json_is_null(node) ? YK_OK : yk_json_get_bool(model, key, out);
}

/* Dropout chooses other tokens each time, which only training needs. */
static yk_status refuse_dropout(const struct yk_json *model)
{
    const struct yk_json *node = yk_json_get_member(model, "dropout");
    double number = 0;
    if (!node || yk_json_is_null(node) || (yk_json_number_value(node, &number) && number == 0)) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "\"dropout\" of a BPE model is not supported; set it to null in the file");
}

/* The token of the character that represents a byte, with a suffix; -1 if there is none. */
static int32_t byte_token(const struct yk_token_map *map, int byte, const char *suffix)
{
    char name[YK_UTF8_MAX_BYTES + MAX_SUFFIX_BYTES + 1];
    const size_t length = strlen(suffix);
    const size_t used = yk_utf8_encode(yk_byte_level_character_of_byte((unsigned char)byte), name);
    if (length > MAX_SUFFIX_BYTES) {
        return -1;
    }
    memcpy(name + used, suffix, length + 1);
    return yk_token_map_find_id(map, name, used + length);
}

/* Whether UTF-8 text may contain a byte. */
static bool is_utf8_byte(int byte)
{
    return byte < 0xf5 && byte != 0xc0 && byte != 0xc1;
}

bool yk_bpe_reads_bytes(const struct yk_json *model, const struct yk_token_map *map)
{
    const char *suffix = get_string(model, "end_of_word_suffix");
    bool complete = *get_string(model, "continuing_subword_prefix") == '\0';
    for (int byte = 0; byte < BYTES && complete; byte++) {
        complete = !is_utf8_byte(byte) ||
                   (byte_token(map, byte, "") >= 0 && byte_token(map, byte, suffix) >= 0);
    }
    return complete;
}

static void read_letters(struct yk_bpe *bpe)
{
    for (int i = 0; i < FEW_CHARACTERS && !bpe->bytes; i++) {
        char letter[YK_UTF8_MAX_BYTES];
        const size_t length = yk_utf8_encode((uint32_t)i, letter);
        bpe->letters[i] = yk_token_map_find_id(bpe->map, letter, length);
    }
    for (int byte = 0; byte < BYTES && bpe->bytes; byte++) {
        bpe->letters[byte] = byte_token(bpe->map, byte, "");
        bpe->last_letters[byte] = byte_token(bpe->map, byte, bpe->suffix);
    }
}

static yk_status read_options(const struct yk_json *model, struct yk_bpe *bpe)
{
    const char *unknown = yk_json_string_value(yk_json_get_member(model, "unk_token"));
    YK_TRY(read_flag(model, "byte_fallback", &bpe->has_fallback));
    YK_TRY(read_flag(model, "fuse_unk", &bpe->fuse_unknown));
    for (int byte = 0; byte < BYTES; byte++) {
        char name[sizeof "<0x00>"];
        (void)snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte);
        bpe->fallback[byte] = yk_token_map_find_id(bpe->map, name, strlen(name));
    }
    bpe->has_unknown = unknown != NULL;
    bpe->unknown = unknown ? yk_token_map_find_id(bpe->map, unknown, strlen(unknown)) : -1;
    bpe->prefix = strdup(get_string(model, "continuing_subword_prefix"));
    bpe->suffix = strdup(get_string(model, "end_of_word_suffix"));
    YK_TRY_ALLOCATED(bpe->prefix && bpe->suffix);
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

/* Whether a token is "▁" once or several times. */
static bool is_metaspaces(const char *token, size_t length)
{
    const size_t unit = sizeof metaspace - 1;
    for (size_t at = 0; at < length; at += unit) {
        if (length - at < unit || memcmp(token + at, metaspace, unit) != 0) {
            return false;
        }
    }
    return true;
}

/* Notes where a rule prevents cuts. */
static void note_rule(struct yk_bpe *bpe, const char *left, size_t left_length, const char *right,
                      size_t right_length)
{
    const size_t unit = sizeof metaspace - 1;
    const unsigned char before = (unsigned char)left[left_length - 1];
    const unsigned char after = (unsigned char)right[0];
    if (right_length >= unit && is_metaspaces(right, unit) && !is_metaspaces(left, left_length)) {
        bpe->cuts_metaspace = false;
    }
    if (before < ASCII && after < ASCII) {
        bpe->cuts_between[before][after] = false;
    }
    /* Rules for the tokens of bytes are not known to exist; with one, no character is alone. */
    if (strncmp(left, "<0x", 3) == 0 || strncmp(right, "<0x", 3) == 0) {
        memset(bpe->is_alone, 0, sizeof bpe->is_alone);
    }
}

/* Where words can be cut if no rule prevents it. The prefix and the suffix are part of the first
 * and the last character alone. Characters next to a cut must have a token, so that no run of
 * unknown characters crosses it. A character that becomes the token of a byte is alone; there are
 * no unknown ones if all bytes have tokens. */
static void allow_cuts(const char *unknown, struct yk_bpe *bpe)
{
    bool complete = bpe->has_fallback;
    bpe->can_cut = !bpe->bytes && *bpe->prefix == '\0' && *bpe->suffix == '\0';
    bpe->cuts_metaspace = yk_token_map_find_id(bpe->map, metaspace, sizeof metaspace - 1) >= 0 &&
                          (*unknown == '\0' || !is_metaspaces(unknown, strlen(unknown)));
    for (int byte = 0; byte < BYTES; byte++) {
        complete = complete && bpe->fallback[byte] >= 0;
    }
    for (int before = 0; before < ASCII; before++) {
        bpe->is_alone[before] = complete && bpe->letters[before] < 0;
        for (int after = 0; after < ASCII; after++) {
            bpe->cuts_between[before][after] =
                bpe->letters[before] >= 0 && bpe->letters[after] >= 0;
        }
    }
}

static yk_status read_merge(const struct yk_json *node, int32_t rank, struct yk_text *joined,
                            struct yk_bpe *bpe)
{
    const char *left = NULL;
    const char *right = NULL;
    size_t left_length = 0;
    size_t right_length = 0;
    int32_t left_id = 0;
    int32_t right_id = 0;
    const size_t prefix_length = strlen(bpe->prefix);
    struct yk_bpe_merge_rank_and_id merge = {.rank = rank};
    YK_TRY(read_pair(node, &left, &left_length, &right, &right_length));
    YK_TRY(find_token(bpe->map, left, left_length, &left_id));
    YK_TRY(find_token(bpe->map, right, right_length, &right_id));
    /* With an empty token, the same pair could be merged forever. */
    if (left_length == 0 || right_length <= prefix_length) {
        return yk_fail(YK_ERROR_INPUT, "one of the two tokens is empty");
    }
    joined->length = 0;
    yk_text_add_bytes(joined, left, left_length);
    yk_text_add_bytes(joined, right + prefix_length, right_length - prefix_length);
    YK_TRY(yk_text_status(joined));
    YK_TRY(find_token(bpe->map, joined->bytes, joined->length, &merge.id));
    yk_bpe_merge_table_add(bpe->merges, left_id, right_id, merge);
    note_rule(bpe, left, left_length, right, right_length);
    return YK_OK;
}

/* Characters that are alone are cut off from every other one, too. */
static void add_cuts_next_to_alone(struct yk_bpe *bpe)
{
    for (int before = 0; before < ASCII; before++) {
        for (int after = 0; after < ASCII; after++) {
            bpe->cuts_between[before][after] |= bpe->is_alone[before] || bpe->is_alone[after];
        }
    }
}

/* Also determines where words can be cut. */
static yk_status read_merges(const struct yk_json *model, struct yk_bpe *bpe)
{
    const struct yk_json *list = yk_json_get_member(model, "merges");
    const size_t count = yk_json_array_count(list);
    YK_TRY(yk_json_check_is_array(list, "merges"));
    if (count > INT32_MAX / 4) {
        return yk_fail(YK_ERROR_INPUT, "\"merges\" has %zu entries: too many", count);
    }
    allow_cuts(get_string(model, "unk_token"), bpe);
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
        status = yk_json_prefix_error_with_element(read_merge(node, rank++, &joined, bpe), "merges",
                                                   i, NULL);
    }
    yk_text_free(&joined);
    add_cuts_next_to_alone(bpe);
    return status;
}

/* Collects the tokens that a whole word may become. */
static yk_status read_whole(const struct yk_json *model, struct yk_bpe *bpe)
{
    bool ignore_merges = false;
    YK_TRY(read_flag(model, "ignore_merges", &ignore_merges));
    if (!ignore_merges) {
        return YK_OK;
    }
    YK_TRY(yk_token_map_create(&bpe->whole));
    struct yk_text bytes = {0};
    yk_status status = YK_OK;
    for (int32_t id = 0; id < yk_token_map_id_limit(bpe->map) && status == YK_OK; id++) {
        size_t length = 0;
        const char *token = yk_token_map_get_token(bpe->map, id, &length);
        bytes.length = 0;
        if (!token || (bpe->bytes && !yk_byte_level_decode_token(token, length, &bytes))) {
            continue;
        }
        if (!bpe->bytes) {
            yk_text_add_bytes(&bytes, token, length);
        }
        status = yk_text_status(&bytes);
        YK_IF_OK(yk_token_map_add(bpe->whole, yk_text_chars(&bytes), bytes.length, id));
        bpe->longest_whole = bytes.length > bpe->longest_whole ? bytes.length : bpe->longest_whole;
    }
    yk_text_free(&bytes);
    return status;
}

yk_status yk_bpe_from_json(const struct yk_json *model, const struct yk_token_map *map, bool bytes,
                           struct yk_bpe **out)
{
    YK_TRY(refuse_dropout(model));
    YK_TRY(check_strings(model));
    struct yk_bpe *bpe = calloc(1, sizeof *bpe);
    YK_TRY_ALLOCATED(bpe);
    bpe->map = map;
    bpe->bytes = bytes;
    yk_status status = read_options(model, bpe);
    if (status == YK_OK) {
        read_letters(bpe);
    }
    YK_IF_OK(read_merges(model, bpe));
    YK_IF_OK(read_whole(model, bpe));
    YK_TRY_OR_CLEAN_UP(status, yk_bpe_destroy(bpe));
    *out = bpe;
    return YK_OK;
}

static void add_token(struct yk_bpe_word *word, int32_t id, size_t length)
{
    word->ids[word->count] = id;
    word->lengths[word->count++] = (int32_t)length;
}

static void add_bytes(const struct yk_bpe *bpe, struct yk_bpe_word *word, const char *bytes,
                      size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        add_token(word, bpe->letters[(unsigned char)bytes[i]], 1);
    }
    if (length > 0) {
        add_token(word, bpe->last_letters[(unsigned char)bytes[length - 1]], 1);
    }
}

/* The unknown characters that were not added yet. */
struct unknown_run {
    bool any;
    size_t length;
};

static void flush_unknown(const struct yk_bpe *bpe, struct unknown_run *run,
                          struct yk_bpe_word *word)
{
    if (run->any) {
        add_token(word, bpe->unknown, run->length);
    }
    *run = (struct unknown_run){0};
}

/* Adds the tokens of the bytes of a character's name. Returns false if not all of them have one. */
static bool add_fallback(const struct yk_bpe *bpe, struct yk_bpe_word *word, const char *name,
                         size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bpe->fallback[(unsigned char)name[i]] < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < length; i++) {
        add_token(word, bpe->fallback[(unsigned char)name[i]], 1);
    }
    return true;
}

static yk_status add_unknown(const struct yk_bpe *bpe, struct unknown_run *run,
                             struct yk_bpe_word *word, const char *character, size_t length)
{
    if (!bpe->has_unknown) {
        return YK_OK;
    }
    if (bpe->unknown < 0) {
        return yk_fail(YK_ERROR_INPUT, "the vocabulary has neither \"%.*s\" nor the unknown token",
                       (int)length, character);
    }
    if (!bpe->fuse_unknown) {
        flush_unknown(bpe, run, word);
    }
    run->any = true;
    run->length += length;
    return YK_OK;
}

/* Adds the tokens of one character, whose name in the vocabulary is `name`. As in Hugging Face's
 * tokenizers, the bytes of a character are added before the unknown characters before it. */
static yk_status add_character(const struct yk_bpe *bpe, struct unknown_run *run,
                               struct yk_bpe_word *word, const char *character, size_t length,
                               const char *name, size_t name_length, int32_t id)
{
    if (id >= 0) {
        flush_unknown(bpe, run, word);
        add_token(word, id, length);
        return YK_OK;
    }
    if (bpe->has_fallback && add_fallback(bpe, word, name, name_length)) {
        return YK_OK;
    }
    return add_unknown(bpe, run, word, character, length);
}

static yk_status add_characters(const struct yk_bpe *bpe, struct yk_bpe_word *word,
                                const char *bytes, size_t length)
{
    struct unknown_run run = {0};
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        size_t used = yk_utf8_decode(bytes + at, length - at, &character);
        used = used ? used : 1;
        const int32_t id = character < FEW_CHARACTERS
                               ? bpe->letters[character]
                               : yk_token_map_find_id(bpe->map, bytes + at, used);
        YK_TRY(add_character(bpe, &run, word, bytes + at, used, bytes + at, used, id));
        at += used;
    }
    flush_unknown(bpe, &run, word);
    return YK_OK;
}

/* Does the same with a prefix or a suffix. */
static yk_status add_affixed(const struct yk_bpe *bpe, struct yk_bpe_word *word, const char *bytes,
                             size_t length)
{
    struct unknown_run run = {0};
    struct yk_text name = {0};
    yk_status status = YK_OK;
    for (size_t at = 0; at < length && status == YK_OK;) {
        uint32_t character = 0;
        size_t used = yk_utf8_decode(bytes + at, length - at, &character);
        used = used ? used : 1;
        name.length = 0;
        yk_text_add(&name, at > 0 ? bpe->prefix : "");
        yk_text_add_bytes(&name, bytes + at, used);
        yk_text_add(&name, at + used == length ? bpe->suffix : "");
        status = yk_text_status(&name);
        if (status == YK_OK) {
            const int32_t id = yk_token_map_find_id(bpe->map, name.bytes, name.length);
            status = add_character(bpe, &run, word, bytes + at, used, name.bytes, name.length, id);
        }
        at += used;
    }
    yk_text_free(&name);
    flush_unknown(bpe, &run, word);
    return status;
}

/* Encodes a word or, if words can be cut, a part of a word. */
static yk_status encode_part(const struct yk_bpe *bpe, struct yk_bpe_word *word, const char *bytes,
                             size_t length)
{
    const size_t prefix_length = strlen(bpe->prefix);
    YK_TRY(yk_bpe_merge_word_check_length(length));
    YK_TRY(yk_bpe_merge_word_resize(word, length * (1 + prefix_length) + strlen(bpe->suffix)));
    word->count = 0;
    if (bpe->bytes) {
        add_bytes(bpe, word, bytes, length);
    } else if (prefix_length == 0 && *bpe->suffix == '\0') {
        YK_TRY(add_characters(bpe, word, bytes, length));
    } else {
        YK_TRY(add_affixed(bpe, word, bytes, length));
    }
    return yk_bpe_merge_word(word, bpe->merges);
}

/* The token that the whole word is, or -1. */
static int32_t find_whole(const struct yk_bpe *bpe, const char *bytes, size_t length)
{
    return bpe->whole && length <= bpe->longest_whole
               ? yk_token_map_find_id(bpe->whole, bytes, length)
               : -1;
}

static bool is_metaspace_at(const char *bytes, size_t length, size_t at)
{
    const size_t unit = sizeof metaspace - 1;
    return length - at >= unit && memcmp(bytes + at, metaspace, unit) == 0;
}

/* Whether no merge crosses the place before byte `at`, which is not the first one, if one of the
 * two characters there is not ASCII. */
static bool is_cut_at_other(const struct yk_bpe *bpe, const char *bytes, size_t length, size_t at)
{
    const size_t unit = sizeof metaspace - 1;
    const unsigned char before = (unsigned char)bytes[at - 1];
    const unsigned char after = (unsigned char)bytes[at];
    if ((before < ASCII && bpe->is_alone[before]) || (after < ASCII && bpe->is_alone[after])) {
        return true;
    }
    return after == (unsigned char)metaspace[0] && bpe->cuts_metaspace &&
           is_metaspace_at(bytes, length, at) &&
           !(at >= unit && is_metaspace_at(bytes, length, at - unit));
}

/* The end of the part of a word that begins at `begin`. */
static size_t find_cut(const struct yk_bpe *bpe, const char *bytes, size_t length, size_t begin)
{
    unsigned char before = (unsigned char)bytes[begin];
    size_t at = begin + 1;
    for (; at < length; at++) {
        const unsigned char after = (unsigned char)bytes[at];
        const bool is_continuation = (after & 0xc0) == 0x80;
        if ((before | after) < ASCII
                ? bpe->cuts_between[before][after]
                : !is_continuation && is_cut_at_other(bpe, bytes, length, at)) {
            break;
        }
        before = after;
    }
    return at;
}

yk_status yk_bpe_encode(const struct yk_bpe *bpe, struct yk_word_cache *cache,
                        struct yk_bpe_word *word, const char *bytes, size_t length,
                        struct yk_token_ids *out)
{
    /* If words are cut, the cache has parts of words, which are no whole words. */
    const int32_t known = bpe->can_cut ? find_whole(bpe, bytes, length) : -1;
    if (known >= 0) {
        yk_token_ids_add(out, known);
        return YK_OK;
    }
    word->tracked = false;
    for (size_t begin = 0; begin < length;) {
        const size_t end = bpe->can_cut ? find_cut(bpe, bytes, length, begin) : length;
        const char *part = bytes + begin;
        const size_t part_length = end - begin;
        begin = end;
        if (yk_word_cache_find(cache, part, part_length, out)) {
            continue;
        }
        const int32_t whole = bpe->can_cut ? -1 : find_whole(bpe, part, part_length);
        if (whole >= 0) {
            yk_word_cache_store(cache, part, part_length, &whole, 1);
            yk_token_ids_add(out, whole);
            continue;
        }
        YK_TRY(encode_part(bpe, word, part, part_length));
        yk_word_cache_store(cache, part, part_length, word->ids, word->count);
        yk_token_ids_add_all(out, word->ids, word->count);
    }
    return YK_OK;
}

yk_status yk_bpe_encode_with_spans(const struct yk_bpe *bpe, struct yk_bpe_word *word,
                                   const char *bytes, size_t length, struct yk_token_ids *out,
                                   struct yk_token_spans *spans)
{
    const int32_t whole = find_whole(bpe, bytes, length);
    if (whole >= 0) {
        yk_token_ids_add(out, whole);
        yk_token_spans_add(spans, 0, length);
        return YK_OK;
    }
    size_t at = 0; /* counted in lengths of tokens, without the characters that have none */
    word->tracked = true;
    for (size_t begin = 0; begin < length;) {
        const size_t end = bpe->can_cut ? find_cut(bpe, bytes, length, begin) : length;
        YK_TRY(encode_part(bpe, word, bytes + begin, end - begin));
        begin = end;
        yk_token_ids_add_all(out, word->ids, word->count);
        for (int32_t i = 0; i < word->count; i++) {
            const size_t token_end = at + (size_t)word->lengths[i];
            yk_token_spans_add(spans, at < length ? at : length,
                               token_end < length ? token_end : length);
            at = token_end;
        }
    }
    return YK_OK;
}
