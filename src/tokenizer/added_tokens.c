#include "tokenizer/added_tokens.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <inttypes.h>
#include <string.h>

enum {
    MAX_CONTENT_BYTES = 1024, /* each place of a text takes time for each byte of the longest */
    SHOWN_BYTES = 60          /* the longest part of a name in messages */
};

struct added {
    int32_t id;
    const char *name;
    const char *form; /* the string to search for: the name, normalized if `normalized` is set */
    size_t form_length;
    bool special;
    bool normalized;
    bool strip_left;  /* white space before the token belongs to it */
    bool strip_right; /* white space after the token belongs to it */
    bool single_word; /* recognized only if no letter or digit is next to it */
};

struct yk_added_tokens {
    struct yk_arena *arena; /* owns this struct, its arrays and strings */
    struct added *items;
    int32_t count;
    int32_t new_count;
    struct yk_token_map *names;
    int32_t *by_id;                /* index in `items`, up to the largest id; -1 means: none */
    struct yk_token_matcher *raw;  /* tokens to search for in the original text */
    struct yk_token_matcher *done; /* tokens to search for in the normalized text */
    struct yk_regex *letter;
};

void yk_added_tokens_destroy(struct yk_added_tokens *tokens)
{
    if (tokens) {
        yk_token_map_destroy(tokens->names);
        yk_token_matcher_destroy(tokens->raw);
        yk_token_matcher_destroy(tokens->done);
        yk_regex_destroy(tokens->letter);
        yk_arena_destroy(tokens->arena);
    }
}

static yk_status make_form(const struct yk_normalizer *normalizer, struct yk_arena *arena,
                           struct added *out)
{
    out->form = out->name;
    out->form_length = strlen(out->name);
    if (!out->normalized || !normalizer) {
        return YK_OK;
    }
    struct yk_text form = {0};
    YK_TRY_OR_CLEAN_UP(yk_normalizer_apply(normalizer, out->name, strlen(out->name), &form),
                       yk_text_free(&form));
    out->form_length = form.length;
    return yk_text_move_to_arena(&form, arena, &out->form);
}

/* Checks that the id in the file, `said`, is the id that Hugging Face's tokenizers assign. */
static yk_status check_id(const struct yk_token_map *map, int64_t said, struct added *added,
                          struct yk_added_tokens *tokens)
{
    const int64_t first = yk_token_map_count(map);
    const int32_t known = yk_token_map_find_id(map, added->name, strlen(added->name));
    const int32_t earlier = yk_token_map_find_id(tokens->names, added->name, strlen(added->name));
    const int64_t expected = earlier >= 0 ? earlier
                             : known >= 0 ? known
                                          : first + tokens->new_count;
    if (said != expected) {
        return yk_fail(YK_ERROR_INPUT,
                       "the id of \"%.*s\" is %" PRId64 ", but as %s it has %" PRId64, SHOWN_BYTES,
                       added->name, said,
                       earlier >= 0 ? "an earlier added token"
                       : known >= 0 ? "a token of \"vocab\""
                                    : "the next after \"vocab\"",
                       expected);
    }
    added->id = (int32_t)expected;
    if (earlier >= 0) {
        return YK_OK;
    }
    size_t ignored = 0;
    if (known < 0 && expected < YK_TOKEN_MAP_MAX_TOKENS &&
        yk_token_map_get_token(map, (int32_t)expected, &ignored)) {
        return yk_fail(YK_ERROR_INPUT, "the id of \"%.*s\", %" PRId64 ", is in \"vocab\" as well",
                       SHOWN_BYTES, added->name, expected);
    }
    YK_TRY(yk_token_map_add(tokens->names, added->name, strlen(added->name), expected));
    tokens->new_count += known < 0;
    return YK_OK;
}

static yk_status read_item(const struct yk_json *node, const struct yk_token_map *map,
                           const struct yk_normalizer *normalizer, struct yk_added_tokens *tokens)
{
    struct added added = {.normalized = true};
    const char *name = yk_json_string_value(yk_json_get_member(node, "content"));
    int64_t id = -1;
    if (!name) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"content\"");
    }
    if (name[0] == '\0') {
        return YK_OK;
    }
    if (strlen(name) > MAX_CONTENT_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "\"content\" has %zu bytes; at most %d are known",
                       strlen(name), MAX_CONTENT_BYTES);
    }
    YK_TRY(yk_json_get_integer(node, "id", 0, INT32_MAX, &id));
    YK_TRY(yk_json_get_bool(node, "special", &added.special));
    YK_TRY(yk_json_get_bool(node, "normalized", &added.normalized));
    YK_TRY(yk_json_get_bool(node, "lstrip", &added.strip_left));
    YK_TRY(yk_json_get_bool(node, "rstrip", &added.strip_right));
    YK_TRY(yk_json_get_bool(node, "single_word", &added.single_word));
    YK_TRY(yk_arena_strdup(tokens->arena, name, &added.name));
    YK_TRY(check_id(map, id, &added, tokens));
    YK_TRY(make_form(normalizer, tokens->arena, &added));
    tokens->items[tokens->count++] = added;
    return YK_OK;
}

/* As in Hugging Face's tokenizers, the last of several tokens with the same name counts; it is
 * special if one of them is. */
static yk_status index_ids(struct yk_added_tokens *tokens)
{
    const int32_t limit = yk_token_map_id_limit(tokens->names);
    YK_TRY_NEW(tokens->arena, tokens->by_id, limit);
    yk_number_fill_int32_array(tokens->by_id, limit, -1);
    for (int32_t i = 0; i < tokens->count; i++) {
        struct added *added = &tokens->items[i];
        int32_t *index = &tokens->by_id[added->id];
        added->special |= *index >= 0 && tokens->items[*index].special;
        *index = i;
    }
    return YK_OK;
}

static yk_status make_set(const struct yk_added_tokens *tokens, bool normalized,
                          struct yk_token_matcher **out)
{
    struct yk_token_pattern *names = NULL;
    int32_t count = 0;
    YK_TRY_NEW(tokens->arena, names, tokens->count);
    for (int32_t i = 0; i < tokens->count; i++) {
        const struct added *added = &tokens->items[i];
        /* A token of which normalization leaves nothing is in no text. */
        if (added->normalized == normalized && added->form_length > 0 &&
            tokens->by_id[added->id] == i) {
            names[count++] = (struct yk_token_pattern){
                .bytes = added->form, .length = added->form_length, .number = i};
        }
    }
    return yk_token_matcher_create(names, count, out);
}

static yk_status fill(const struct yk_json *node, const struct yk_token_map *map,
                      const struct yk_normalizer *normalizer, struct yk_added_tokens *tokens)
{
    /* A word character in Rust's regular expressions. */
    static const char letter[] = "[\\w\\x{200c}\\x{200d}]";
    const size_t count = yk_json_array_count(node);
    if (node && !yk_json_is_null(node) && !yk_json_is_array(node)) {
        return yk_fail(YK_ERROR_INPUT, "this must be a list, not %s", yk_json_type_name(node));
    }
    if (count > YK_TOKEN_MAP_MAX_TOKENS) {
        return yk_fail(YK_ERROR_INPUT, "%zu tokens, where at most %d are allowed", count,
                       YK_TOKEN_MAP_MAX_TOKENS);
    }
    YK_TRY_NEW(tokens->arena, tokens->items, count);
    YK_TRY(yk_token_map_create(&tokens->names));
    for (size_t i = 0; i < count; i++) {
        YK_TRY(read_item(yk_json_array_at(node, i), map, normalizer, tokens));
    }
    YK_TRY(index_ids(tokens));
    YK_TRY(make_set(tokens, false, &tokens->raw));
    YK_TRY(make_set(tokens, true, &tokens->done));
    return yk_regex_create(letter, strlen(letter), false, &tokens->letter);
}

yk_status yk_added_tokens_from_json(const struct yk_json *node, const struct yk_token_map *map,
                                    const struct yk_normalizer *normalizer,
                                    struct yk_added_tokens **out)
{
    struct yk_added_tokens *tokens = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(tokens);
    YK_TRY_OR_CLEAN_UP(
        yk_status_prefix_message(fill(node, map, normalizer, tokens), "added_tokens"),
        yk_added_tokens_destroy(tokens));
    *out = tokens;
    return YK_OK;
}

int32_t yk_added_tokens_find_id(const struct yk_added_tokens *tokens, const char *name,
                                size_t length)
{
    return yk_token_map_find_id(tokens->names, name, length);
}

int32_t yk_added_tokens_count_new(const struct yk_added_tokens *tokens)
{
    return tokens->new_count;
}

int32_t yk_added_tokens_id_limit(const struct yk_added_tokens *tokens)
{
    return yk_token_map_id_limit(tokens->names);
}

static const struct added *by_id(const struct yk_added_tokens *tokens, int32_t id)
{
    const bool within = id >= 0 && id < yk_token_map_id_limit(tokens->names);
    return within && tokens->by_id[id] >= 0 ? &tokens->items[tokens->by_id[id]] : NULL;
}

const char *yk_added_tokens_get_text(const struct yk_added_tokens *tokens, int32_t id,
                                     size_t *length)
{
    const struct added *added = by_id(tokens, id);
    if (!added) {
        return NULL;
    }
    *length = added->form_length;
    return added->form;
}

bool yk_added_tokens_is_special(const struct yk_added_tokens *tokens, int32_t id)
{
    const struct added *added = by_id(tokens, id);
    const int32_t named =
        added ? yk_token_map_find_id(tokens->names, added->form, added->form_length) : -1;
    return named >= 0 && by_id(tokens, named)->special;
}

static yk_status is_letter(const struct yk_added_tokens *tokens,
                           struct yk_regex_workspace *workspace, const char *text, size_t length,
                           bool *out)
{
    uint32_t character = 0;
    size_t begin = 0;
    size_t end = 0;
    char older[YK_UTF8_MAX_BYTES];
    (void)yk_utf8_decode(text, length, &character);
    const size_t used = yk_utf8_encode(yk_unicode_older_equivalent(character), older);
    return yk_regex_find(tokens->letter, workspace, older, used, 0, out, &begin, &end);
}

/* Whether the text from `begin` to `end` is not part of a longer word. */
static yk_status stands_alone(const struct yk_added_tokens *tokens,
                              struct yk_regex_workspace *workspace,
                              const struct yk_added_tokens_search *search, size_t begin, size_t end,
                              bool *out)
{
    bool left = false;
    bool right = false;
    if (begin > 0) {
        const size_t at = yk_utf8_previous_character_start(search->text, begin);
        YK_TRY(is_letter(tokens, workspace, search->text + at, begin - at, &left));
    }
    if (end < search->length) {
        YK_TRY(is_letter(tokens, workspace, search->text + end, search->length - end, &right));
    }
    *out = !left && !right;
    return YK_OK;
}

/* White space that belongs to the previous token is not skipped. */
static size_t skip_spaces_left(const struct yk_added_tokens_search *search, size_t at)
{
    at = at > search->done ? at : search->done;
    while (at > search->done) {
        uint32_t character = 0;
        const size_t previous = yk_utf8_previous_character_start(search->text, at);
        (void)yk_utf8_decode(search->text + previous, at - previous, &character);
        if (!yk_unicode_is_space(character)) {
            break;
        }
        at = previous;
    }
    return at;
}

static size_t skip_spaces_right(const struct yk_added_tokens_search *search, size_t at)
{
    while (at < search->length) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(search->text + at, search->length - at, &character);
        if (used == 0 || !yk_unicode_is_space(character)) {
            break;
        }
        at += used;
    }
    return at;
}

yk_status yk_added_tokens_find_next(const struct yk_added_tokens *tokens,
                                    struct yk_regex_workspace *workspace,
                                    struct yk_added_tokens_search *search)
{
    const struct yk_token_matcher *matcher = search->normalized ? tokens->done : tokens->raw;
    const struct yk_token_pattern *name = NULL;
    size_t begin = 0;
    while (
        (name = yk_token_matcher_find(matcher, search->text, search->length, search->at, &begin))) {
        const struct added *added = &tokens->items[name->number];
        size_t end = begin + name->length;
        bool alone = true;
        search->at = end;
        if (added->single_word) {
            YK_TRY(stands_alone(tokens, workspace, search, begin, end, &alone));
        }
        if (!alone) {
            continue;
        }
        if (added->strip_left) {
            begin = skip_spaces_left(search, begin);
        }
        if (added->strip_right) {
            end = skip_spaces_right(search, end);
        }
        /* Nothing is left of a token of white space that the previous token stripped. */
        if (begin >= end) {
            continue;
        }
        /* A token of white space may begin inside the white space of the previous token. */
        search->begin = search->done < begin ? search->done : begin;
        search->end = begin;
        search->id = added->id;
        search->done = end;
        return YK_OK;
    }
    search->begin = search->done;
    search->end = search->length;
    search->id = -1;
    return YK_OK;
}
