#include "tokenizer/token_decoder.h"

#include "base/utf8.h"
#include "tokenizer/byte_level.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_SPACES,
    KIND_BYTE_LEVEL,
    KIND_WORDPIECE
};

enum {
    SHOWN_BYTES = 60 /* of a name in messages */
};

struct yk_token_decoder {
    enum kind kind;
    char *prefix; /* of tokens that continue a word */
    bool clean_up;
};

void yk_token_decoder_destroy(struct yk_token_decoder *decoder)
{
    if (decoder) {
        free(decoder->prefix);
        free(decoder);
    }
}

static yk_status read_wordpiece(const struct yk_json *node, struct yk_token_decoder *out)
{
    const struct yk_json *prefix = yk_json_get_member(node, "prefix");
    const struct yk_json *clean_up = yk_json_get_member(node, "cleanup");
    const char *text = prefix ? yk_json_string_value(prefix) : "##";
    out->kind = KIND_WORDPIECE;
    out->clean_up = true;
    if (!text || (clean_up && !yk_json_boolean_value(clean_up, &out->clean_up))) {
        return yk_fail(YK_ERROR_INPUT, "\"prefix\" must be a string and \"cleanup\" true or false");
    }
    out->prefix = strdup(text);
    return out->prefix ? YK_OK : yk_fail_out_of_memory();
}

static yk_status read_node(const struct yk_json *node, struct yk_token_decoder *out)
{
    const char *type = yk_json_string_value(yk_json_get_member(node, "type"));
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\"");
    }
    if (strcmp(type, "ByteLevel") == 0) {
        out->kind = KIND_BYTE_LEVEL;
        return YK_OK;
    }
    if (strcmp(type, "WordPiece") == 0) {
        return read_wordpiece(node, out);
    }
    return yk_fail(YK_ERROR_INPUT, "\"%.*s\" is not supported", SHOWN_BYTES, type);
}

yk_status yk_token_decoder_from_json(const struct yk_json *node, struct yk_token_decoder **out)
{
    struct yk_token_decoder *decoder = calloc(1, sizeof *decoder);
    YK_TRY_ALLOCATED(decoder);
    YK_TRY_OR_CLEAN_UP(yk_status_prefix_message(read_node(node, decoder), "decoder"),
                       yk_token_decoder_destroy(decoder));
    *out = decoder;
    return YK_OK;
}

/* Replacements that remove spaces which come from tokenization. They apply to each token, in this
 * order. */
static const struct {
    const char *from;
    const char *to;
} repairs[] = {
    {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
    {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
    {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};

/* Replaces from `start` on, in place: no replacement makes the text longer. */
static void repair(struct yk_text *text, size_t start, const char *from, const char *to)
{
    const size_t from_length = strlen(from);
    const size_t to_length = strlen(to);
    size_t written = start;
    for (size_t at = start; at < text->length;) {
        if (text->length - at >= from_length && memcmp(text->bytes + at, from, from_length) == 0) {
            memcpy(text->bytes + written, to, to_length);
            written += to_length;
            at += from_length;
        } else {
            text->bytes[written++] = text->bytes[at++];
        }
    }
    text->length = written;
    text->bytes[written] = '\0';
}

static void add_wordpiece(struct yk_token_decoder_stream *decoding, const char *token,
                          size_t length)
{
    const struct yk_token_decoder *decoder = decoding->decoder;
    const size_t prefix = strlen(decoder->prefix);
    const size_t start = decoding->out->length;
    if (!decoding->begun) {
        yk_text_add_bytes(decoding->out, token, length);
    } else if (length >= prefix && memcmp(token, decoder->prefix, prefix) == 0) {
        yk_text_add_bytes(decoding->out, token + prefix, length - prefix);
    } else {
        yk_text_add(decoding->out, " ");
        yk_text_add_bytes(decoding->out, token, length);
    }
    if (!decoder->clean_up || decoding->out->failed) {
        return;
    }
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        repair(decoding->out, start, repairs[i].from, repairs[i].to);
    }
}

void yk_token_decoder_stream_add_token(struct yk_token_decoder_stream *decoding, const char *token,
                                       size_t length)
{
    switch (decoding->decoder->kind) {
    case KIND_BYTE_LEVEL:
        /* A token with a character that does not represent a byte is copied. */
        if (!yk_byte_level_decode_token(token, length, &decoding->bytes)) {
            yk_text_add_bytes(&decoding->bytes, token, length);
        }
        break;
    case KIND_WORDPIECE:
        add_wordpiece(decoding, token, length);
        break;
    case KIND_SPACES:
        yk_text_add(decoding->out, decoding->begun ? " " : "");
        yk_text_add_bytes(decoding->out, token, length);
        break;
    }
    decoding->begun = true;
}

/*
 * How many bytes one U+FFFD replaces at an invalid byte: the longest prefix of a character, at
 * least one byte (Unicode Standard, section 3.9, "maximal subparts").
 */
static size_t broken_length(const unsigned char *bytes, size_t length)
{
    const unsigned char first = bytes[0];
    const size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    unsigned char min = 0x80;
    unsigned char max = 0xbf;
    if (first < 0xc2 || first > 0xf4) {
        return 1;
    }
    min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : min;
    max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : max;
    size_t used = 1;
    while (used < wanted && used < length && bytes[used] >= min && bytes[used] <= max) {
        min = 0x80;
        max = 0xbf;
        used++;
    }
    return used;
}

static void add_repaired(struct yk_text *out, const char *bytes, size_t length)
{
    size_t done = 0;
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(bytes + at, length - at, &character);
        if (used > 0) {
            at += used;
            continue;
        }
        yk_text_add_bytes(out, bytes + done, at - done);
        yk_text_add(out, "\xef\xbf\xbd");
        at += broken_length((const unsigned char *)bytes + at, length - at);
        done = at;
    }
    yk_text_add_bytes(out, bytes + done, length - done);
}

yk_status yk_token_decoder_stream_finish(struct yk_token_decoder_stream *decoding)
{
    const yk_status status = yk_text_status(&decoding->bytes);
    if (status == YK_OK && decoding->bytes.length > 0) {
        add_repaired(decoding->out, decoding->bytes.bytes, decoding->bytes.length);
    }
    yk_text_free(&decoding->bytes);
    return status == YK_OK ? yk_text_status(decoding->out) : status;
}
