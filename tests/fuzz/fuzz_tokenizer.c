/*
 * Fuzz target of tokenizers: the bytes up to the first zero are a tokenizer.json, those behind it a
 * text that is encoded, framed and not, with spans and without, and decoded again.
 */
#include "fuzz/fuzz.h"

#include "base/text.h"
#include "tokenizer/tokenizer_encoder.h"

#include <string.h>

static void check_decoded(const struct yk_tokenizer *tokenizer, const struct yk_token_ids *ids)
{
    struct yk_text whole = {0};
    struct yk_text bare = {0};
    fuzz_expect(yk_tokenizer_decode(tokenizer, ids->items, ids->count, false, &whole) == YK_OK &&
                    yk_tokenizer_decode(tokenizer, ids->items, ids->count, true, &bare) == YK_OK,
                "what was encoded can be decoded");
    yk_text_free(&whole);
    yk_text_free(&bare);
}

/* Encoding with spans gives the same tokens, and spans within the text. */
static void check_spans(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                        const struct yk_token_ids *expected)
{
    struct yk_token_ids ids = {0};
    struct yk_token_spans spans = {0};
    fuzz_expect(yk_tokenizer_encoder_encode_with_offsets(encoder, text, length, "text",
                                                         YK_ADD_SPECIAL_TOKENS_YES, &ids,
                                                         &spans) == YK_OK,
                "spans are no reason to fail");
    fuzz_expect(ids.count == expected->count && spans.count == ids.count &&
                    (ids.count == 0 || memcmp(ids.items, expected->items,
                                              (size_t)ids.count * sizeof *ids.items) == 0),
                "there are the same tokens with spans");
    for (int64_t i = 0; i < spans.count; i++) {
        fuzz_expect(spans.items[i].begin <= spans.items[i].end && spans.items[i].end <= length,
                    "spans are within the text");
    }
    yk_token_ids_free(&ids);
    yk_token_spans_free(&spans);
}

static void check_text(const struct yk_tokenizer *tokenizer, const char *text, size_t length)
{
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids plain = {0};
    struct yk_token_ids again = {0};
    fuzz_expect(yk_tokenizer_encoder_create(tokenizer, &encoder) == YK_OK, "there is memory");
    const yk_status status = yk_tokenizer_encoder_encode(encoder, text, length, "text",
                                                         YK_ADD_SPECIAL_TOKENS_NO, &plain);
    fuzz_expect(yk_tokenizer_encoder_encode(encoder, text, length, "text", YK_ADD_SPECIAL_TOKENS_NO,
                                            &again) == status,
                "the second time is like the first");
    if (status == YK_OK) {
        fuzz_expect(
            plain.count == again.count &&
                (plain.count == 0 ||
                 memcmp(plain.items, again.items, (size_t)plain.count * sizeof *plain.items) == 0),
            "the second time gives the same tokens");
        for (int64_t i = 0; i < plain.count; i++) {
            fuzz_expect(plain.items[i] >= 0 &&
                            plain.items[i] < yk_tokenizer_vocabulary_size(tokenizer),
                        "tokens are below the count");
        }
        again.count = 0;
        fuzz_expect(yk_tokenizer_encoder_encode(encoder, text, length, "text",
                                                YK_ADD_SPECIAL_TOKENS_YES, &again) == YK_OK,
                    "a frame is no reason to fail");
        check_spans(encoder, text, length, &again);
        check_decoded(tokenizer, &again);
    }
    yk_token_ids_free(&plain);
    yk_token_ids_free(&again);
    yk_tokenizer_encoder_destroy(encoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct yk_tokenizer *tokenizer = NULL;
    const size_t length = strnlen(bytes, size);
    if (yk_tokenizer_parse(bytes, length, "tokenizer.json", &tokenizer) == YK_OK) {
        fuzz_accept();
        struct yk_text words = {0};
        yk_tokenizer_append_file_contents(tokenizer, &words);
        fuzz_expect(words.length == length && memcmp(words.bytes, bytes, length) == 0,
                    "a tokenizer writes what it read");
        yk_text_free(&words);
        if (length < size) {
            check_text(tokenizer, bytes + length + 1, size - length - 1);
        }
        for (int role = 0; role < YK_TOKEN_ROLE_COUNT; role++) {
            fuzz_expect(yk_tokenizer_find_role_id(tokenizer, (enum yk_token_role)role) <
                            yk_tokenizer_vocabulary_size(tokenizer),
                        "roles are tokens");
        }
        yk_tokenizer_destroy(tokenizer);
    }
    return 0;
}
