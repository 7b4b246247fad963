#include "tokenizer/tokenizer_model.h"

#include "tokenizer/models/bpe.h"
#include "tokenizer/models/unigram.h"
#include "tokenizer/models/word_cache.h"
#include "tokenizer/models/wordlevel.h"
#include "tokenizer/models/wordpiece.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_BYTES = 60 /* of a name in messages */
};

struct yk_tokenizer_model_workspace {
    struct yk_word_cache *cache;
    struct yk_bpe_word word;
    struct yk_unigram_workspace unigram;
};

struct kind {
    const char *type;
    int32_t (*find_named_by_text)(const void *model); /* NULL means: none */
    yk_status (*read)(const struct yk_json *node, const struct yk_token_map *map, bool bytes,
                      void **out);
    void (*destroy)(void *model);
    yk_status (*encode)(const void *model, struct yk_tokenizer_model_workspace *workspace,
                        const char *word, size_t length, struct yk_token_ids *out,
                        struct yk_token_spans *spans);
};

struct yk_tokenizer_model {
    const struct kind *kind;
    void *model;
};

static yk_status read_bpe(const struct yk_json *node, const struct yk_token_map *map, bool bytes,
                          void **out)
{
    struct yk_bpe *bpe = NULL;
    YK_TRY(yk_bpe_from_json(node, map, bytes, &bpe));
    *out = bpe;
    return YK_OK;
}

static void destroy_bpe(void *model)
{
    yk_bpe_destroy(model);
}

static yk_status encode_bpe(const void *model, struct yk_tokenizer_model_workspace *workspace,
                            const char *word, size_t length, struct yk_token_ids *out,
                            struct yk_token_spans *spans)
{
    return spans ? yk_bpe_encode_with_spans(model, &workspace->word, word, length, out, spans)
                 : yk_bpe_encode(model, workspace->cache, &workspace->word, word, length, out);
}

static yk_status read_unigram(const struct yk_json *node, const struct yk_token_map *map,
                              bool bytes, void **out)
{
    (void)bytes;
    struct yk_unigram *unigram = NULL;
    YK_TRY(yk_unigram_from_json(node, map, &unigram));
    *out = unigram;
    return YK_OK;
}

static void destroy_unigram(void *model)
{
    yk_unigram_destroy(model);
}

static int32_t find_unigram_unknown(const void *model)
{
    return yk_unigram_unknown_id(model);
}

static yk_status encode_unigram(const void *model, struct yk_tokenizer_model_workspace *workspace,
                                const char *word, size_t length, struct yk_token_ids *out,
                                struct yk_token_spans *spans)
{
    if (spans) {
        return yk_unigram_encode(model, &workspace->unigram, word, length, out, spans);
    }
    if (yk_word_cache_find(workspace->cache, word, length, out)) {
        return YK_OK;
    }
    const int64_t first = out->count;
    YK_TRY(yk_unigram_encode(model, &workspace->unigram, word, length, out, NULL));
    YK_TRY(yk_token_ids_status(out));
    yk_word_cache_store(workspace->cache, word, length, out->items + first, out->count - first);
    return YK_OK;
}

static yk_status read_wordpiece(const struct yk_json *node, const struct yk_token_map *map,
                                bool bytes, void **out)
{
    (void)bytes;
    struct yk_wordpiece *wordpiece = NULL;
    YK_TRY(yk_wordpiece_from_json(node, map, &wordpiece));
    *out = wordpiece;
    return YK_OK;
}

static void destroy_wordpiece(void *model)
{
    yk_wordpiece_destroy(model);
}

static yk_status encode_wordpiece(const void *model, struct yk_tokenizer_model_workspace *workspace,
                                  const char *word, size_t length, struct yk_token_ids *out,
                                  struct yk_token_spans *spans)
{
    (void)workspace;
    return yk_wordpiece_encode(model, word, length, out, spans);
}

static yk_status read_wordlevel(const struct yk_json *node, const struct yk_token_map *map,
                                bool bytes, void **out)
{
    (void)bytes;
    struct yk_wordlevel *wordlevel = NULL;
    YK_TRY(yk_wordlevel_from_json(node, map, &wordlevel));
    *out = wordlevel;
    return YK_OK;
}

static void destroy_wordlevel(void *model)
{
    yk_wordlevel_destroy(model);
}

static yk_status encode_wordlevel(const void *model, struct yk_tokenizer_model_workspace *workspace,
                                  const char *word, size_t length, struct yk_token_ids *out,
                                  struct yk_token_spans *spans)
{
    (void)workspace;
    return yk_wordlevel_encode(model, word, length, out, spans);
}

static const struct kind kinds[] = {
    {.type = "BPE", .read = read_bpe, .destroy = destroy_bpe, .encode = encode_bpe},
    {.type = "Unigram",
     .find_named_by_text = find_unigram_unknown,
     .read = read_unigram,
     .destroy = destroy_unigram,
     .encode = encode_unigram},
    {.type = "WordPiece",
     .read = read_wordpiece,
     .destroy = destroy_wordpiece,
     .encode = encode_wordpiece},
    {.type = "WordLevel",
     .read = read_wordlevel,
     .destroy = destroy_wordlevel,
     .encode = encode_wordlevel},
};

/* Old files have no type. */
static const char *type_of(const struct yk_json *model)
{
    const char *type = yk_json_string_value(yk_json_get_member(model, "type"));
    if (type || !yk_json_get_member(model, "vocab")) {
        return type;
    }
    if (yk_json_get_member(model, "merges")) {
        return "BPE";
    }
    if (yk_json_is_array(yk_json_get_member(model, "vocab"))) {
        return "Unigram";
    }
    return yk_json_get_member(model, "max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

static yk_status find_kind(const struct yk_json *model, const struct kind **out)
{
    const char *type = type_of(model);
    const struct yk_json *node = yk_json_get_member(model, "type");
    if (!type || (node && !yk_json_is_null(node) && !yk_json_string_value(node))) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\", which is a string");
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) == 0) {
            *out = &kinds[i];
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT,
                   "\"%.*s\" is not supported; it must be \"BPE\", \"Unigram\", \"WordPiece\" or "
                   "\"WordLevel\"",
                   SHOWN_BYTES, type);
}

static yk_status read_object(const struct yk_json *object, struct yk_token_map *map)
{
    struct yk_json_member_iterator member = {0};
    while (yk_json_next_member(object, &member)) {
        double id = 0;
        if (!yk_json_number_value(member.value, &id) || id != trunc(id)) {
            return yk_fail(YK_ERROR_INPUT, "the id of \"%.*s\" must be a whole number", SHOWN_BYTES,
                           member.name);
        }
        /* A number beyond 64 bits is out of range as well. */
        YK_TRY(yk_token_map_add(map, member.name, strlen(member.name),
                                fabs(id) < 0x1p53 ? (int64_t)id : INT64_MAX));
    }
    return YK_OK;
}

/* The list of a Unigram model: [["<unk>", 0.0], ["▁the", -3.2], …]. */
static yk_status read_list(const struct yk_json *list, struct yk_token_map *map)
{
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        size_t length = 0;
        const char *token =
            yk_json_string_bytes(yk_json_array_at(yk_json_array_at(list, i), 0), &length);
        if (!token) {
            return yk_fail(YK_ERROR_INPUT, "vocab[%zu] must be a list of a token and its score", i);
        }
        YK_TRY(yk_token_map_add(map, token, length, (int64_t)i));
    }
    return YK_OK;
}

yk_status yk_tokenizer_model_read_vocabulary(const struct yk_json *model, struct yk_token_map **out)
{
    const struct yk_json *vocabulary = yk_json_get_member(model, "vocab");
    const struct kind *kind = NULL;
    YK_TRY(find_kind(model, &kind));
    const bool is_list = strcmp(kind->type, "Unigram") == 0;
    if (is_list ? !yk_json_is_array(vocabulary) : !yk_json_is_object(vocabulary)) {
        return yk_fail(YK_ERROR_INPUT, "\"vocab\" must be %s, not %s",
                       is_list ? "a list of tokens and scores" : "an object of tokens and ids",
                       yk_json_type_name(vocabulary));
    }
    YK_TRY(yk_token_map_create(out));
    YK_TRY(is_list ? read_list(vocabulary, *out) : read_object(vocabulary, *out));
    if (yk_token_map_count(*out) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"vocab\" is empty");
    }
    return YK_OK;
}

bool yk_tokenizer_model_reads_bytes(const struct yk_json *model, const struct yk_token_map *map)
{
    const char *type = type_of(model);
    return type && strcmp(type, "BPE") == 0 && yk_bpe_reads_bytes(model, map);
}

yk_status yk_tokenizer_model_from_json(const struct yk_json *model, const struct yk_token_map *map,
                                       bool bytes, struct yk_tokenizer_model **out)
{
    const struct kind *kind = NULL;
    YK_TRY(find_kind(model, &kind));
    struct yk_tokenizer_model *made = calloc(1, sizeof *made);
    YK_TRY_ALLOCATED(made);
    made->kind = kind;
    YK_TRY_OR_CLEAN_UP(kind->read(model, map, bytes, &made->model), free(made));
    *out = made;
    return YK_OK;
}

void yk_tokenizer_model_destroy(struct yk_tokenizer_model *model)
{
    if (model) {
        model->kind->destroy(model->model);
        free(model);
    }
}

const char *yk_tokenizer_model_type(const struct yk_tokenizer_model *model)
{
    return model->kind->type;
}

int32_t yk_tokenizer_model_token_named_by_text(const struct yk_tokenizer_model *model)
{
    return model->kind->find_named_by_text ? model->kind->find_named_by_text(model->model) : -1;
}

yk_status yk_tokenizer_model_workspace_create(struct yk_tokenizer_model_workspace **out)
{
    struct yk_tokenizer_model_workspace *workspace = calloc(1, sizeof *workspace);
    YK_TRY_ALLOCATED(workspace);
    YK_TRY_OR_CLEAN_UP(yk_word_cache_create(&workspace->cache), free(workspace));
    *out = workspace;
    return YK_OK;
}

void yk_tokenizer_model_workspace_destroy(struct yk_tokenizer_model_workspace *workspace)
{
    if (workspace) {
        yk_word_cache_destroy(workspace->cache);
        yk_bpe_merge_word_free(&workspace->word);
        yk_unigram_workspace_free(&workspace->unigram);
        free(workspace);
    }
}

void yk_tokenizer_model_workspace_set_stop_flag(struct yk_tokenizer_model_workspace *workspace,
                                                const atomic_bool *stop)
{
    workspace->word.stop = stop;
    workspace->unigram.stop = stop;
}

yk_status yk_tokenizer_model_encode(const struct yk_tokenizer_model *model,
                                    struct yk_tokenizer_model_workspace *workspace,
                                    const char *word, size_t length, struct yk_token_ids *out,
                                    struct yk_token_spans *spans)
{
    return model->kind->encode(model->model, workspace, word, length, out, spans);
}
