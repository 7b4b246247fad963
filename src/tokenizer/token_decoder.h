/*
 * Decoder: converts tokens to text. The "decoder" of a tokenizer.json defines how: ByteLevel,
 * WordPiece, Metaspace, ByteFallback, Fuse, Strip, Replace, BPEDecoder, CTC, a Sequence of these,
 * or none (tokens are joined with spaces). Each step changes a list of strings, which are the names
 * of the tokens at first and are joined at the end. A decoder is immutable: any number of threads
 * may share it. Only one thread at a time may use a list.
 */
#ifndef YK_TOKENIZER_TOKEN_DECODER_H
#define YK_TOKENIZER_TOKEN_DECODER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/string_list.h"

struct yk_token_decoder;

yk_status yk_token_decoder_from_json(const struct yk_json *node,
                                     struct yk_token_decoder **out) YK_MUST_USE;
void yk_token_decoder_destroy(struct yk_token_decoder *decoder);

/* Appends the text of some tokens, whose names are in `tokens`, to `out`. Changes `tokens`. */
yk_status yk_token_decoder_decode(const struct yk_token_decoder *decoder,
                                  struct yk_string_list *tokens, struct yk_text *out) YK_MUST_USE;

#endif
