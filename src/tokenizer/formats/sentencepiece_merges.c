#include "tokenizer/formats/sentencepiece_merges.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>

/* The bytes that are looked up for all halves: about a second. Gemma's 256,000 pieces take a
 * hundredth of it. */
#define MAX_BYTES (UINT64_C(1) << 31)
/* The bytes of all merges that are found; Gemma's have a fifth of it. */
#define MAX_MERGE_BYTES (UINT64_C(1) << 25)

static yk_status fail_too_long(void)
{
    return yk_fail(YK_ERROR_INPUT, "its pieces are too long to find the merges");
}

void yk_sentencepiece_merges_free(struct yk_sentencepiece_merges *merges)
{
    free(merges->items);
    *merges = (struct yk_sentencepiece_merges){0};
}

/* Whether SentencePiece finds a piece in a text. */
static bool is_in_texts(const struct yk_sentencepiece *token)
{
    return token->type == YK_SENTENCEPIECE_NORMAL || token->type == YK_SENTENCEPIECE_USER_DEFINED ||
           token->type == YK_SENTENCEPIECE_UNUSED;
}

static bool is_half(const struct yk_sentencepiece_model *model,
                    const struct yk_token_map *vocabulary, const char *text, size_t length)
{
    const int32_t id = yk_token_map_find_id(vocabulary, text, length);
    return id >= 0 && id < model->count && is_in_texts(&model->tokens[id]);
}

static yk_status add_halves(const struct yk_sentencepiece_model *model, int32_t id,
                            const struct yk_token_map *vocabulary, uint64_t *bytes,
                            struct yk_sentencepiece_merges *out)
{
    const struct yk_sentencepiece *token = &model->tokens[id];
    for (size_t left = 1; left < token->length; left++) {
        const bool inside = ((unsigned char)token->text[left] & 0xc0) == 0x80; /* of a character */
        if (inside || !is_half(model, vocabulary, token->text, left) ||
            !is_half(model, vocabulary, token->text + left, token->length - left)) {
            continue;
        }
        *bytes += token->length;
        if (*bytes > MAX_MERGE_BYTES) {
            return fail_too_long();
        }
        YK_TRY_GROW_ARRAY(out->items, out->capacity, out->count);
        out->items[out->count++] = (struct yk_sentencepiece_merge){token->score, id, left};
    }
    return YK_OK;
}

/* A higher score first, then a lower id, then a shorter left half. */
static int compare(const void *a, const void *b)
{
    const struct yk_sentencepiece_merge *left = a;
    const struct yk_sentencepiece_merge *right = b;
    if (left->score != right->score) {
        return left->score > right->score ? -1 : 1;
    }
    if (left->token != right->token) {
        return left->token < right->token ? -1 : 1;
    }
    return (left->left_length > right->left_length) - (left->left_length < right->left_length);
}

yk_status yk_sentencepiece_merges_find(const struct yk_sentencepiece_model *model,
                                       const struct yk_token_map *vocabulary,
                                       struct yk_sentencepiece_merges *out)
{
    uint64_t bytes = 0;
    uint64_t merge_bytes = 0;
    for (int32_t i = 0; i < model->count; i++) {
        const uint64_t length = model->tokens[i].length;
        bytes += length < UINT32_MAX ? length * length : MAX_BYTES;
        if (bytes > MAX_BYTES) {
            return fail_too_long();
        }
        if (is_in_texts(&model->tokens[i])) {
            YK_TRY(add_halves(model, i, vocabulary, &merge_bytes, out));
        }
    }
    if (out->count > 0) {
        qsort(out->items, (size_t)out->count, sizeof *out->items, compare);
    }
    return YK_OK;
}
