#include "tokenizer/models/wordlevel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_BYTES = 60 /* the longest part of a word in messages */
};

struct yk_wordlevel {
    const struct yk_token_map *map;
    int32_t unknown; /* -1 means: none */
};

yk_status yk_wordlevel_from_json(const struct yk_json *model, const struct yk_token_map *map,
                                 struct yk_wordlevel **out)
{
    const char *unknown = yk_json_string_value(yk_json_get_member(model, "unk_token"));
    if (!unknown) {
        return yk_fail(YK_ERROR_INPUT, "\"unk_token\" of a WordLevel model must be a string");
    }
    struct yk_wordlevel *wordlevel = calloc(1, sizeof *wordlevel);
    YK_TRY_ALLOCATED(wordlevel);
    wordlevel->map = map;
    wordlevel->unknown = yk_token_map_find_id(map, unknown, strlen(unknown));
    *out = wordlevel;
    return YK_OK;
}

void yk_wordlevel_destroy(struct yk_wordlevel *wordlevel)
{
    free(wordlevel);
}

yk_status yk_wordlevel_encode(const struct yk_wordlevel *wordlevel, const char *word, size_t length,
                              struct yk_token_ids *out, struct yk_token_spans *spans)
{
    const int32_t known = yk_token_map_find_id(wordlevel->map, word, length);
    const int32_t id = known >= 0 ? known : wordlevel->unknown;
    if (id < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the vocabulary has neither \"%.*s\" nor an unknown token for it",
                       length < SHOWN_BYTES ? (int)length : SHOWN_BYTES, word);
    }
    yk_token_ids_add(out, id);
    if (spans) {
        yk_token_spans_add(spans, 0, length);
    }
    return YK_OK;
}
