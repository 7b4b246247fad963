/*
 * Encoding a text (tokenizer/tokenizer.h): added tokens that are not normalized are found first;
 * what is between them is normalised, the other added tokens are found in that, and what is left is
 * cut into words, of which the model makes tokens.
 */
#include "base/utf8.h"
#include "tokenizer/tokenizer_parts.h"

#include <stdlib.h>

struct yk_tokenizer_encoder {
    const struct yk_tokenizer *tokenizer;
    struct yk_pre_tokenizer_workspace room;
    struct yk_bpe_workspace *bpe;
    struct yk_text normalised;
    const atomic_bool *stop; /* NULL: none */
};

/* What the words of one text are handed to. */
struct taker {
    struct yk_tokenizer_encoder *encoder;
    struct yk_token_ids *out;
};

yk_status yk_tokenizer_encoder_create(const struct yk_tokenizer *tokenizer,
                                      struct yk_tokenizer_encoder **out)
{
    struct yk_tokenizer_encoder *encoder = calloc(1, sizeof *encoder);
    yk_status status = YK_OK;
    if (!encoder) {
        return yk_fail_out_of_memory();
    }
    encoder->tokenizer = tokenizer;
    YK_TRY_GOTO(yk_regex_workspace_create(&encoder->room.patterns), fail);
    YK_TRY_GOTO(yk_bpe_workspace_create(&encoder->bpe), fail);
    *out = encoder;
    return YK_OK;
fail:
    yk_tokenizer_encoder_destroy(encoder);
    return status;
}

void yk_tokenizer_encoder_destroy(struct yk_tokenizer_encoder *encoder)
{
    if (encoder) {
        yk_regex_workspace_destroy(encoder->room.patterns);
        yk_text_free(&encoder->room.prefixed);
        yk_bpe_workspace_destroy(encoder->bpe);
        yk_text_free(&encoder->normalised);
        free(encoder);
    }
}

void yk_tokenizer_encoder_set_stop(struct yk_tokenizer_encoder *encoder, const atomic_bool *stop)
{
    encoder->stop = stop;
    yk_bpe_workspace_set_stop(encoder->bpe, stop);
}

static yk_status add_characters(const struct yk_vocabulary *vocabulary, const char *text,
                                size_t length, const char *source, struct yk_token_ids *out)
{
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t taken = yk_utf8_decode(text + at, length - at, &character);
        const int32_t id = taken > 0 ? yk_vocabulary_id(vocabulary, character) : -1;
        if (id < 0) {
            return yk_vocabulary_fail_unknown(text, length, at, source);
        }
        yk_token_ids_add(out, id);
        at += taken;
    }
    return yk_token_ids_status(out);
}

/* Zeros are characters like others here, as Hugging Face's tokenizers have it. */
static yk_status check_text(const char *text, size_t length, const char *source)
{
    for (size_t at = 0; at < length; at++) {
        at += yk_utf8_valid_length(text + at, length - at);
        if (at < length && text[at] != '\0') {
            return yk_vocabulary_fail_unknown(text, length, at, source);
        }
    }
    return YK_OK;
}

static yk_status take_word(void *taker, const char *word, size_t length)
{
    const struct taker *to = taker;
    const struct yk_tokenizer *tokenizer = to->encoder->tokenizer;
    if (to->encoder->stop && atomic_load(to->encoder->stop)) {
        return yk_fail(YK_ERROR_STOPPED, "stopped between two words");
    }
    if (tokenizer->bpe) {
        return yk_bpe_encode(tokenizer->bpe, to->encoder->bpe, word, length, to->out);
    }
    yk_wordpiece_encode(tokenizer->wordpiece, word, length, to->out);
    return YK_OK;
}

/* Text in which only those added tokens are left to be found that are normalized, as it is. */
static yk_status add_normalised(struct yk_tokenizer_encoder *encoder, const char *text,
                                size_t length, struct yk_token_ids *out)
{
    const struct yk_tokenizer *tokenizer = encoder->tokenizer;
    struct taker taker = {.encoder = encoder, .out = out};
    struct yk_added_tokens_search search = {.text = text, .length = length, .normalised = true};
    do {
        YK_TRY(yk_added_tokens_next(tokenizer->added, encoder->room.patterns, &search));
        YK_TRY(yk_pre_tokenizer_run(tokenizer->pre_tokenizer, &encoder->room, text + search.begin,
                                    search.end - search.begin, take_word, &taker));
        if (search.id >= 0) {
            yk_token_ids_add(out, search.id);
        }
    } while (search.id >= 0);
    return YK_OK;
}

static yk_status add_piece(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                           struct yk_token_ids *out)
{
    const struct yk_normalizer *normaliser = encoder->tokenizer->normaliser;
    if (!normaliser || length == 0) {
        return add_normalised(encoder, text, length, out);
    }
    struct yk_text *normalised = &encoder->normalised;
    normalised->length = 0;
    YK_TRY(yk_normalizer_apply(normaliser, text, length, normalised));
    return add_normalised(encoder, yk_text_chars(normalised), normalised->length, out);
}

static yk_status add_text(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                          struct yk_token_ids *out)
{
    struct yk_added_tokens_search search = {.text = text, .length = length};
    do {
        YK_TRY(yk_added_tokens_next(encoder->tokenizer->added, encoder->room.patterns, &search));
        YK_TRY(add_piece(encoder, text + search.begin, search.end - search.begin, out));
        if (search.id >= 0) {
            yk_token_ids_add(out, search.id);
        }
    } while (search.id >= 0);
    return YK_OK;
}

yk_status yk_tokenizer_encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                              const char *source, enum yk_special_tokens framing,
                              struct yk_token_ids *out)
{
    const struct yk_tokenizer *tokenizer = encoder->tokenizer;
    const struct yk_post_processor *frame = &tokenizer->frame;
    if (tokenizer->vocabulary) {
        return add_characters(tokenizer->vocabulary, text, length, source, out);
    }
    YK_TRY(check_text(text, length, source));
    if (framing == YK_SPECIAL_TOKENS_ADD) {
        yk_token_ids_add_all(out, frame->before.items, frame->before.count);
    }
    const yk_status status = add_text(encoder, text, length, out);
    if (status != YK_OK) {
        return yk_status_prefix(status, source);
    }
    if (framing == YK_SPECIAL_TOKENS_ADD) {
        yk_token_ids_add_all(out, frame->behind.items, frame->behind.count);
    }
    return yk_token_ids_status(out);
}
