/*
 * Decoder: converts tokens to text. The "decoder" of a tokenizer.json defines how: ByteLevel,
 * WordPiece, or none (tokens are joined with spaces). Any other type is an error. A decoder is
 * immutable: any number of threads may share it. A yk_token_decoder_stream is the state of one text
 * that is being decoded. Only one thread at a time may use a stream.
 */
#ifndef YK_TOKENIZER_TOKEN_DECODER_H
#define YK_TOKENIZER_TOKEN_DECODER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_token_decoder;

yk_status yk_token_decoder_from_json(const struct yk_json *node,
                                     struct yk_token_decoder **out) YK_MUST_USE;
void yk_token_decoder_destroy(struct yk_token_decoder *decoder);

/* Initialize it with {.decoder, .out}. yk_token_decoder_stream_finish() frees the members. */
struct yk_token_decoder_stream {
    const struct yk_token_decoder *decoder;
    struct yk_text *out;
    struct yk_text bytes; /* bytes of ByteLevel tokens that must still be converted to UTF-8 */
    bool begun;           /* at least one token was added */
};

void yk_token_decoder_stream_add_token(struct yk_token_decoder_stream *decoding, const char *token,
                                       size_t length);
yk_status yk_token_decoder_stream_finish(struct yk_token_decoder_stream *decoding) YK_MUST_USE;

#endif
