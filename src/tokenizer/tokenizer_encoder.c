#include "tokenizer/tokenizer_encoder.h"

#include "base/utf8.h"
#include "tokenizer/models/word_cache.h"
#include "tokenizer/tokenizer_parts.h"

#include <stdlib.h>

/* Encoding: finds the added tokens that are not normalized, normalizes the text between them, finds
 * the other added tokens in it, and splits the rest into words, which the model converts to tokens.
 */
struct yk_tokenizer_encoder {
    const struct yk_tokenizer *tokenizer;
    struct yk_regex_workspace *regex;
    struct yk_pre_tokenizer_workspace words;
    struct yk_normalizer_workspace normalizer;
    struct yk_tokenizer_model_workspace *model;
    struct yk_word_cache *parts; /* NULL means: parts are words, which the model caches */
    const atomic_bool *stop;     /* or NULL */
};

/* The state of one call. */
struct encoding {
    struct yk_tokenizer_encoder *encoder;
    const char *text;
    struct yk_token_ids *out;
    struct yk_token_spans *spans; /* NULL means: no spans are asked for */
    int64_t first;                /* index in `out` of the first token of the text */
};

yk_status yk_tokenizer_encoder_create(const struct yk_tokenizer *tokenizer,
                                      struct yk_tokenizer_encoder **out)
{
    struct yk_tokenizer_encoder *encoder = calloc(1, sizeof *encoder);
    YK_TRY_ALLOCATED(encoder);
    encoder->tokenizer = tokenizer;
    yk_status status = yk_regex_workspace_create(&encoder->regex);
    YK_IF_OK(yk_tokenizer_model_workspace_create(&encoder->model));
    if (tokenizer->pre_tokenizer && yk_pre_tokenizer_has_parts(tokenizer->pre_tokenizer)) {
        YK_IF_OK(yk_word_cache_create(&encoder->parts));
    }
    YK_TRY_OR_CLEAN_UP(status, yk_tokenizer_encoder_destroy(encoder));
    encoder->words.regex = encoder->regex;
    encoder->normalizer.regex = encoder->regex;
    *out = encoder;
    return YK_OK;
}

void yk_tokenizer_encoder_destroy(struct yk_tokenizer_encoder *encoder)
{
    if (encoder) {
        yk_regex_workspace_destroy(encoder->regex);
        yk_pre_tokenizer_workspace_free(&encoder->words);
        yk_normalizer_workspace_free(&encoder->normalizer);
        yk_tokenizer_model_workspace_destroy(encoder->model);
        yk_word_cache_destroy(encoder->parts);
        free(encoder);
    }
}

void yk_tokenizer_encoder_set_stop_flag(struct yk_tokenizer_encoder *encoder,
                                        const atomic_bool *stop)
{
    encoder->stop = stop;
    yk_tokenizer_model_workspace_set_stop_flag(encoder->model, stop);
}

/* Zeros are valid characters here, as in Hugging Face's tokenizers. */
static yk_status check_text(const char *text, size_t length, const char *source)
{
    for (size_t at = 0; at < length; at++) {
        at += yk_utf8_valid_prefix_length(text + at, length - at);
        if (at < length && text[at] != '\0') {
            return yk_character_vocabulary_unknown_error(text, length, at, source);
        }
    }
    return YK_OK;
}

/* Converts a span of a segment to the span of the source that it stands for, and trims it. */
static void finish_span(const struct encoding *encoding, const struct yk_aligned_segment *segment,
                        const char *token, size_t token_length, int64_t index,
                        struct yk_token_span *span)
{
    if (span->begin < span->end) {
        span->begin = segment->origins[span->begin].begin;
        span->end = segment->origins[span->end - 1].end;
    } else {
        span->begin += segment->origins[0].begin;
        span->end = span->begin;
    }
    yk_post_processor_trim_span(&encoding->encoder->tokenizer->post_processor, token, token_length,
                                index - encoding->first, encoding->text, span);
}

static yk_status encode_with_spans(struct encoding *encoding, const struct yk_aligned_segment *word)
{
    const struct yk_tokenizer *tokenizer = encoding->encoder->tokenizer;
    struct yk_token_spans *spans = encoding->spans;
    const int64_t first_id = encoding->out->count;
    const int64_t first_span = spans->count;
    YK_TRY(yk_tokenizer_model_encode(tokenizer->model, encoding->encoder->model, word->bytes,
                                     word->length, encoding->out, spans));
    YK_TRY(yk_token_ids_status(encoding->out));
    YK_TRY(yk_token_spans_status(spans));
    const int32_t named_by_text = yk_tokenizer_model_token_named_by_text(tokenizer->model);
    for (int64_t i = 0; i < spans->count - first_span; i++) {
        struct yk_token_span *span = &spans->items[first_span + i];
        size_t length = 0;
        const int32_t id = encoding->out->items[first_id + i];
        const char *name = yk_token_map_get_token(tokenizer->map, id, &length);
        if (id == named_by_text) {
            name = word->bytes + span->begin;
            length = span->end - span->begin;
        }
        finish_span(encoding, word, name, length, first_id + i, span);
    }
    return YK_OK;
}

static yk_status check_stop(const struct yk_tokenizer_encoder *encoder)
{
    return encoder->stop && atomic_load(encoder->stop)
               ? yk_fail(YK_ERROR_STOPPED, "stopped between two words")
               : YK_OK;
}

static yk_status encode_word(void *argument, const struct yk_aligned_segment *word)
{
    struct encoding *encoding = argument;
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    YK_TRY(check_stop(encoder));
    return encoding->spans
               ? encode_with_spans(encoding, word)
               : yk_tokenizer_model_encode(encoder->tokenizer->model, encoder->model, word->bytes,
                                           word->length, encoding->out, NULL);
}

/* Encodes a part of a segment, which always gives the same tokens. */
static yk_status encode_part(void *argument, const struct yk_aligned_segment *part)
{
    struct encoding *encoding = argument;
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    struct yk_token_ids *out = encoding->out;
    const int64_t first = out->count;
    YK_TRY(check_stop(encoder));
    if (yk_word_cache_find(encoder->parts, part->bytes, part->length, out)) {
        return YK_OK;
    }
    YK_TRY(yk_pre_tokenizer_split_part(encoder->tokenizer->pre_tokenizer, &encoder->words, part,
                                       encode_word, encoding));
    YK_TRY(yk_token_ids_status(out));
    if (out->count > first) {
        yk_word_cache_store(encoder->parts, part->bytes, part->length, out->items + first,
                            out->count - first);
    }
    return YK_OK;
}

static yk_status encode_segment(struct encoding *encoding, const struct yk_aligned_segment *segment)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    const struct yk_pre_tokenizer *pre_tokenizer = encoder->tokenizer->pre_tokenizer;
    return encoder->parts && !encoding->spans
               ? yk_pre_tokenizer_split_into_parts(pre_tokenizer, &encoder->words, segment,
                                                   encode_part, encoding)
               : yk_pre_tokenizer_split(pre_tokenizer, &encoder->words, segment, encode_word,
                                        encoding);
}

static void add_added_token(struct encoding *encoding, const struct yk_aligned_segment *segment,
                            const struct yk_added_tokens_search *search)
{
    if (encoding->spans) {
        struct yk_token_span span = {.begin = search->end, .end = search->done};
        finish_span(encoding, segment, segment->bytes + span.begin, span.end - span.begin,
                    encoding->out->count, &span);
        yk_token_spans_add(encoding->spans, span.begin, span.end);
    }
    yk_token_ids_add(encoding->out, search->id);
}

/* Encodes normalized text. */
static yk_status add_normalized(struct encoding *encoding, const struct yk_aligned_segment *text)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    struct yk_added_tokens_search search = {
        .text = text->bytes, .length = text->length, .normalized = true};
    do {
        YK_TRY(yk_added_tokens_find_next(encoder->tokenizer->added, encoder->regex, &search));
        const struct yk_aligned_segment segment =
            yk_aligned_text_slice_segment(text, search.begin, search.end);
        YK_TRY(encode_segment(encoding, &segment));
        if (search.id >= 0) {
            add_added_token(encoding, text, &search);
        }
    } while (search.id >= 0);
    return YK_OK;
}

/* How many of the first bytes of a text have an origin that begins at byte 0 of the source. */
static size_t count_start_bytes(const struct yk_aligned_segment *text)
{
    size_t count = 0;
    while (count < text->length && text->origins[count].begin == 0) {
        count++;
    }
    return count;
}

/* Encodes the text from `begin` to `end`, which has no added token that is not normalized. */
static yk_status add_section(struct encoding *encoding, size_t begin, size_t end)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    const struct yk_normalizer *normalizer = encoder->tokenizer->normalizer;
    const bool needs_start =
        begin == 0 && yk_pre_tokenizer_depends_on_start(encoder->tokenizer->pre_tokenizer);
    const bool tracked = encoding->spans || (needs_start && normalizer);
    struct yk_aligned_segment text = {0};
    if (begin == end) {
        return YK_OK;
    }
    YK_TRY(yk_normalizer_run(normalizer, &encoder->normalizer, encoding->text + begin, end - begin,
                             begin, tracked, &text));
    if (!encoding->spans) {
        text.start_bytes = tracked ? count_start_bytes(&text) : needs_start;
        text.origins = NULL;
    }
    return add_normalized(encoding, &text);
}

static yk_status add_text(struct encoding *encoding, size_t length)
{
    struct yk_tokenizer_encoder *encoder = encoding->encoder;
    struct yk_added_tokens_search search = {.text = encoding->text, .length = length};
    do {
        YK_TRY(yk_added_tokens_find_next(encoder->tokenizer->added, encoder->regex, &search));
        YK_TRY(add_section(encoding, search.begin, search.end));
        if (search.id >= 0 && encoding->spans) {
            struct yk_token_span span = {.begin = search.end, .end = search.done};
            yk_post_processor_trim_span(&encoder->tokenizer->post_processor,
                                        encoding->text + span.begin, span.end - span.begin,
                                        encoding->out->count - encoding->first, encoding->text,
                                        &span);
            yk_token_spans_add(encoding->spans, span.begin, span.end);
        }
        if (search.id >= 0) {
            yk_token_ids_add(encoding->out, search.id);
        }
    } while (search.id >= 0);
    return YK_OK;
}

/* Adds the tokens of a character tokenizer. */
static yk_status add_character_tokens(const struct yk_tokenizer *tokenizer, const char *text,
                                      size_t length, const char *source, struct yk_token_ids *out,
                                      struct yk_token_spans *spans)
{
    YK_TRY(yk_character_vocabulary_encode(tokenizer->vocabulary, text, length, source, out));
    for (size_t at = 0; spans && at < length;) {
        uint32_t ignored = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &ignored);
        yk_token_spans_add(spans, at, at + (used ? used : 1));
        at += used ? used : 1;
    }
    return YK_OK;
}

static void add_special(const struct yk_token_ids *special, struct yk_token_ids *out,
                        struct yk_token_spans *spans)
{
    yk_token_ids_add_all(out, special->items, special->count);
    if (spans) {
        yk_token_spans_add_repeated(spans, (struct yk_token_span){0}, (size_t)special->count);
    }
}

static yk_status encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                        const char *source, enum yk_add_special_tokens special,
                        struct yk_token_ids *out, struct yk_token_spans *spans)
{
    const struct yk_tokenizer *tokenizer = encoder->tokenizer;
    const struct yk_post_processor *processor = &tokenizer->post_processor;
    if (tokenizer->vocabulary) {
        return add_character_tokens(tokenizer, text, length, source, out, spans);
    }
    YK_TRY(check_text(text, length, source));
    if (special == YK_ADD_SPECIAL_TOKENS_YES) {
        add_special(&processor->prefix, out, spans);
    }
    struct encoding encoding = {
        .encoder = encoder, .text = text, .out = out, .spans = spans, .first = out->count};
    YK_TRY(yk_status_prefix_message(add_text(&encoding, length), source));
    if (special == YK_ADD_SPECIAL_TOKENS_YES) {
        add_special(&processor->suffix, out, spans);
    }
    return yk_token_ids_status(out);
}

yk_status yk_tokenizer_encoder_encode(struct yk_tokenizer_encoder *encoder, const char *text,
                                      size_t length, const char *source,
                                      enum yk_add_special_tokens special, struct yk_token_ids *out)
{
    return encode(encoder, text, length, source, special, out, NULL);
}

yk_status yk_tokenizer_encoder_encode_with_offsets(
    struct yk_tokenizer_encoder *encoder, const char *text, size_t length, const char *source,
    enum yk_add_special_tokens special, struct yk_token_ids *out, struct yk_token_spans *spans)
{
    YK_TRY(encode(encoder, text, length, source, special, out, spans));
    return yk_token_spans_status(spans);
}
