/*
 * Added tokens: the "added_tokens" of a tokenizer.json, both special tokens ("<|endoftext|>") and
 * others. A text is first searched for added tokens; then the text between them is split into
 * words. If a token is marked as normalized, its normalized name is searched for in the normalized
 * text. The name of any other token is searched for in the original text. Added tokens are
 * immutable: any number of threads may share them.
 */
#ifndef YK_TOKENIZER_ADDED_TOKENS_H
#define YK_TOKENIZER_ADDED_TOKENS_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/regex/regex.h"
#include "tokenizer/token_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_added_tokens;

/*
 * Reads the list. The list is empty if `node` is NULL or JSON null. A token that is also in `map`,
 * the vocabulary of the model, keeps its id from `map`. New tokens get the ids that follow the
 * vocabulary, as in Hugging Face's tokenizers. Fails if the ids in the file differ from these.
 */
yk_status yk_added_tokens_from_json(const struct yk_json *node, const struct yk_token_map *map,
                                    const struct yk_normalizer *normalizer,
                                    struct yk_added_tokens **out) YK_MUST_USE;
void yk_added_tokens_destroy(struct yk_added_tokens *tokens);

/* Returns the id of the token with this name, or -1 if no added token has this name. */
int32_t yk_added_tokens_find_id(const struct yk_added_tokens *tokens, const char *name,
                                size_t length);

/* Returns the number of added tokens that are not in the vocabulary of the model. */
int32_t yk_added_tokens_count_new(const struct yk_added_tokens *tokens);
/* Returns the largest id + 1, or 0 if there are no added tokens. */
int32_t yk_added_tokens_id_limit(const struct yk_added_tokens *tokens);

/* Returns the text to which a token is decoded, or NULL if `id` is not an added token. */
const char *yk_added_tokens_get_text(const struct yk_added_tokens *tokens, int32_t id,
                                     size_t *length);
/* Returns whether the text to which a token is decoded is the name of a special token. */
bool yk_added_tokens_is_special(const struct yk_added_tokens *tokens, int32_t id);

/* The state of a search for added tokens in one text, from its beginning to its end. */
struct yk_added_tokens_search {
    const char *text;
    size_t length;
    bool normalized; /* the text is normalized: search only for normalized tokens */

    /* The last result. From `begin` to `end`, the text has no added token; this range may be empty.
     * `id` is the token that follows; -1 means: the text ends at `end`. The token is from `end` to
     * `done`. */
    size_t begin;
    size_t end;
    int32_t id;
    size_t done;

    size_t at; /* internal: the search continues here */
};

/* Advances to the next token. If several tokens begin at the same place, finds the longest.
 * Initialize the search with {.text, .length, .normalized}. */
yk_status yk_added_tokens_find_next(const struct yk_added_tokens *tokens,
                                    struct yk_regex_workspace *workspace,
                                    struct yk_added_tokens_search *search) YK_MUST_USE;

/*
 * Token matcher: searches a text for the names of several tokens at once. A matcher is immutable:
 * any number of threads may share it. The names are not copied and must outlive the matcher.
 */
struct yk_token_matcher;

struct yk_token_pattern {
    const char *bytes; /* the name, at least one byte */
    size_t length;
    int32_t number; /* that the caller chooses; of equal names, the one with the smallest counts */
};

yk_status yk_token_matcher_create(const struct yk_token_pattern *names, int32_t count,
                                  struct yk_token_matcher **out) YK_MUST_USE;
void yk_token_matcher_destroy(struct yk_token_matcher *matcher);
/* Returns the leftmost name in `text` that begins at or after byte `from`, and sets `*begin` to its
 * index. If several names begin there, returns the longest. Returns NULL if `text` contains no
 * name. */
const struct yk_token_pattern *yk_token_matcher_find(const struct yk_token_matcher *matcher,
                                                     const char *text, size_t length, size_t from,
                                                     size_t *begin);

#endif
