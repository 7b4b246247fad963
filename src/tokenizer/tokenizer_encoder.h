/*
 * Tokenizer encoder: converts text to tokens, and holds the memory that one thread needs for it.
 * The tokenizer must outlive the encoder.
 */
#ifndef YK_TOKENIZER_TOKENIZER_ENCODER_H
#define YK_TOKENIZER_TOKENIZER_ENCODER_H

#include "base/status.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_spans.h"
#include "tokenizer/tokenizer.h"

#include <stdatomic.h>
#include <stddef.h>

struct yk_tokenizer_encoder;

yk_status yk_tokenizer_encoder_create(const struct yk_tokenizer *tokenizer,
                                      struct yk_tokenizer_encoder **out) YK_MUST_USE;
void yk_tokenizer_encoder_destroy(struct yk_tokenizer_encoder *encoder);

/* Sets a flag that stops the encoder: encoding fails with YK_ERROR_STOPPED once `*stop` is true.
 * NULL means: no flag. */
void yk_tokenizer_encoder_set_stop_flag(struct yk_tokenizer_encoder *encoder,
                                        const atomic_bool *stop);

enum yk_add_special_tokens {
    YK_ADD_SPECIAL_TOKENS_NO,
    YK_ADD_SPECIAL_TOKENS_YES, /* add the tokens of the post-processor, such as [CLS] and [SEP] */
};

/*
 * Converts UTF-8 text to tokens and appends them to `out`. Added tokens inside the text are
 * recognized as in Hugging Face's tokenizers. Fails if the text is not UTF-8, or if a character
 * tokenizer lacks a character. The message then begins with `source`, line and column.
 */
yk_status yk_tokenizer_encoder_encode(struct yk_tokenizer_encoder *encoder, const char *text,
                                      size_t length, const char *source,
                                      enum yk_add_special_tokens special,
                                      struct yk_token_ids *out) YK_MUST_USE;

/*
 * Does the same and also appends to `spans`, for each token, the bytes of `text` that it stands
 * for: Hugging Face's "offsets", counted in bytes instead of characters. Tokens that the
 * post-processor adds have the span {0, 0}. Takes several times as long as
 * yk_tokenizer_encoder_encode().
 */
yk_status yk_tokenizer_encoder_encode_with_offsets(struct yk_tokenizer_encoder *encoder,
                                                   const char *text, size_t length,
                                                   const char *source,
                                                   enum yk_add_special_tokens special,
                                                   struct yk_token_ids *out,
                                                   struct yk_token_spans *spans) YK_MUST_USE;

#endif
