/*
 * Fuzz target of SentencePiece models: the bytes are a tokenizer.model. What is read is converted
 * to a tokenizer.json, which must be JSON; if it is a tokenizer, a text is encoded and decoded with
 * it.
 */
#include "fuzz/fuzz.h"

#include "base/arena.h"
#include "base/json.h"
#include "tokenizer/formats/sentencepiece_json.h"
#include "tokenizer/formats/sentencepiece_model.h"
#include "tokenizer/tokenizer_encoder.h"

#include <string.h>

static void check_tokenizer(const struct yk_tokenizer *tokenizer)
{
    static const char text[] = " the <unk> caf\xc3\xa9\xe2\x96\x81\tx  1\n";
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    struct yk_text decoded = {0};
    fuzz_expect(yk_tokenizer_encoder_create(tokenizer, &encoder) == YK_OK, "there is memory");
    if (yk_tokenizer_encoder_encode(encoder, text, strlen(text), "text", YK_ADD_SPECIAL_TOKENS_YES,
                                    &ids) == YK_OK) {
        for (int64_t i = 0; i < ids.count; i++) {
            fuzz_expect(ids.items[i] >= 0 && ids.items[i] < yk_tokenizer_vocabulary_size(tokenizer),
                        "tokens are below the count");
        }
        fuzz_expect(yk_tokenizer_decode(tokenizer, ids.items, ids.count, false, &decoded) == YK_OK,
                    "what was encoded can be decoded");
    }
    yk_text_free(&decoded);
    yk_token_ids_free(&ids);
    yk_tokenizer_encoder_destroy(encoder);
}

static void check_json(const struct yk_text *json)
{
    struct yk_json *root = NULL;
    struct yk_tokenizer *tokenizer = NULL;
    fuzz_expect(yk_json_parse(json->bytes, json->length, &root) == YK_OK,
                "what was converted is JSON");
    yk_json_destroy(root);
    if (yk_tokenizer_parse(json->bytes, json->length, "tokenizer.json", &tokenizer) == YK_OK) {
        fuzz_accept();
        check_tokenizer(tokenizer);
        yk_tokenizer_destroy(tokenizer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct yk_tokenizer_config config = {.class_name = "", .extra_ids = -1};
    struct yk_sentencepiece_model model;
    struct yk_arena *arena = NULL;
    struct yk_text json = {0};
    fuzz_expect(yk_arena_create(&arena) == YK_OK, "there is memory");
    if (yk_sentencepiece_model_parse((const char *)data, size, arena, &model) == YK_OK &&
        yk_sentencepiece_json_write(&model, &config, arena, &json) == YK_OK) {
        check_json(&json);
    }
    yk_text_free(&json);
    yk_arena_destroy(arena);
    return 0;
}
