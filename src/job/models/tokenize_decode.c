#include "data/token_shard.h"
#include "job/models/tokenize.h"
#include "tokenizer/tokenizer.h"

#include <inttypes.h>
#include <string.h>

enum {
    PIECE_TOKENS = 1 << 16,
    FURTHEST = 1 << 10 /* tokens from the end that are looked at for a place to cut */
};

/* A shard on its way to text. */
struct decoding {
    const struct yk_tokenize_decode_request *request;
    struct yk_tokenizer *tokenizer;
    struct yk_token_shard *shard;
    struct yk_token_ids ids; /* that were read and not handed out */
    struct yk_text text;     /* of one or two tokens */
};

/* The text of `count` tokens, until the next call. */
static yk_status text_of(struct decoding *decoding, const int32_t *ids, int64_t count)
{
    decoding->text.length = 0;
    YK_TRY(yk_tokenizer_decode(decoding->tokenizer, ids, count, false, &decoding->text));
    return yk_text_status(&decoding->text);
}

/*
 * Whether the tokens before `ids` + 1 and those from there on can be decoded apart: their texts are
 * the text of both, with no space between them or dropped, and the second begins with a character
 * of one byte, before which any other is finished or broken for good.
 */
static yk_status can_cut(struct decoding *decoding, const int32_t *ids, bool *out)
{
    struct yk_text apart = {0};
    yk_status status = text_of(decoding, ids, 1);
    yk_text_add_bytes(&apart, yk_text_chars(&decoding->text), decoding->text.length);
    if (status == YK_OK) {
        status = text_of(decoding, ids + 1, 1);
    }
    const bool plain = status == YK_OK && decoding->text.length > 0 &&
                       (unsigned char)decoding->text.bytes[0] < 0x80;
    yk_text_add_bytes(&apart, yk_text_chars(&decoding->text), decoding->text.length);
    if (status == YK_OK) {
        status = text_of(decoding, ids, 2);
    }
    if (status == YK_OK) {
        status = yk_text_status(&apart);
    }
    *out = status == YK_OK && plain && decoding->text.length == apart.length &&
           memcmp(decoding->text.bytes, apart.bytes, apart.length) == 0;
    yk_text_free(&apart);
    return status;
}

/* How many of the tokens held can be handed out now. */
static yk_status find_cut(struct decoding *decoding, int64_t *out)
{
    const int64_t count = decoding->ids.count;
    const int64_t last = count > FURTHEST ? count - FURTHEST : 1;
    bool found = false;
    *out = 0;
    for (int64_t i = count - 1; i >= last && !found; i--) {
        YK_TRY(can_cut(decoding, decoding->ids.items + i - 1, &found));
        *out = found ? i : 0;
    }
    return YK_OK;
}

static yk_status hand_out(struct decoding *decoding, int64_t count)
{
    struct yk_token_ids *ids = &decoding->ids;
    YK_TRY(text_of(decoding, ids->items, count));
    YK_TRY(decoding->request->text(decoding->request->user, yk_text_chars(&decoding->text),
                                   decoding->text.length));
    memmove(ids->items, ids->items + count, (size_t)(ids->count - count) * sizeof *ids->items);
    ids->count -= count;
    return YK_OK;
}

static yk_status check_ids(const struct decoding *decoding, int64_t first, const int32_t *piece,
                           int64_t count)
{
    const int32_t known = yk_tokenizer_count(decoding->tokenizer);
    for (int64_t i = 0; i < count; i++) {
        if (piece[i] >= known) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: token %" PRId64 " is %" PRId32 "; the tokenizer has 0 to %" PRId32
                           ": it is another one that made these",
                           decoding->request->shard, first + i, piece[i], known - 1);
        }
    }
    return YK_OK;
}

static yk_status decode(struct decoding *decoding)
{
    static int32_t piece[PIECE_TOKENS];
    const int64_t total = yk_token_shard_count(decoding->shard);
    for (int64_t first = 0; first < total; first += PIECE_TOKENS) {
        const int64_t left = total - first;
        const int64_t count = left < PIECE_TOKENS ? left : PIECE_TOKENS;
        YK_TRY(yk_token_shard_read(decoding->shard, first, count, piece));
        YK_TRY(check_ids(decoding, first, piece, count));
        yk_token_ids_add_all(&decoding->ids, piece, count);
        YK_TRY(yk_token_ids_status(&decoding->ids));
        int64_t ready = decoding->ids.count;
        if (count < left) {
            YK_TRY(find_cut(decoding, &ready));
        }
        if (ready > 0) {
            YK_TRY(hand_out(decoding, ready));
        }
    }
    return YK_OK;
}

yk_status yk_tokenize_decode(const struct yk_tokenize_decode_request *request)
{
    struct decoding decoding = {.request = request};
    yk_status status = yk_tokenizer_open(request->tokenizer, &decoding.tokenizer);
    if (status == YK_OK) {
        status = yk_token_shard_open(request->shard, &decoding.shard);
    }
    if (status == YK_OK) {
        status = decode(&decoding);
    }
    yk_token_ids_free(&decoding.ids);
    yk_text_free(&decoding.text);
    yk_token_shard_close(decoding.shard);
    yk_tokenizer_destroy(decoding.tokenizer);
    return status;
}
