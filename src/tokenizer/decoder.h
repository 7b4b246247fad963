/*
 * Decoder: how tokens become text again, as the "decoder" of a tokenizer.json says: ByteLevel,
 * WordPiece, or none, when tokens are joined by spaces. Another kind is refused by its name.
 * A decoder does not change once it is read: any number of threads may share one. The state of one
 * text while it is decoded is a yk_decoder_stream, owned by one thread.
 */
#ifndef YK_TOKENIZER_DECODER_H
#define YK_TOKENIZER_DECODER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_decoder;

yk_status yk_decoder_read(const struct yk_json *node, struct yk_decoder **out) YK_MUST_USE;
void yk_decoder_destroy(struct yk_decoder *decoder);

/* Starts as {.decoder, .out}; freed by yk_decoder_stream_finish(). */
struct yk_decoder_stream {
    const struct yk_decoder *decoder;
    struct yk_text *out;
    struct yk_text bytes; /* that are to become UTF-8 */
    bool begun;           /* a token was added */
};

void yk_decoder_stream_add(struct yk_decoder_stream *decoding, const char *token, size_t length);
yk_status yk_decoder_stream_finish(struct yk_decoder_stream *decoding) YK_MUST_USE;

#endif
