/*
 * Tokenizer: converts text to tokens and tokens to text. There are three kinds:
 *   characters      the code points of a text (tokenizer/character_vocabulary.h)
 *   byte-level BPE  as in GPT-2 and Llama 3
 *   WordPiece       as in BERT
 * The last two are read from a tokenizer.json in the format of Hugging Face's tokenizers. A file
 * with an unsupported component is an error; the message names the component.
 *
 * A tokenizer is immutable: any number of threads may share one. Each thread needs its own encoder.
 *
 * Files of this folder:
 *   normalizer, pre_tokenizer, post_processor, decoder, added_tokens  components of the file
 *   bpe, bpe_merge.c, wordpiece, character_vocabulary       the models
 *   token_ids, token_map, token_matcher                     collections of tokens
 *   byte_level, unicode, regex                              characters and patterns
 *   bpe_trainer, bpe_pair_queue.c, word_counts, bpe_file    training of a byte-level BPE
 *   chat_template                                           Llama 3's chat template
 *   chunk_boundary                                          places where a long text can be cut
 */
#ifndef YK_TOKENIZER_TOKENIZER_H
#define YK_TOKENIZER_TOKENIZER_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/character_vocabulary.h"
#include "tokenizer/token_ids.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_tokenizer;

/* The roles of special tokens, which are recognized by the names that common tokenizers use. */
enum yk_token_role {
    YK_TOKEN_PAD,       /* <pad>, [PAD], <|pad|>, <|finetune_right_pad_id|> */
    YK_TOKEN_UNKNOWN,   /* <unk>, [UNK] */
    YK_TOKEN_BEGIN,     /* <s>, <|begin_of_text|>, [CLS] */
    YK_TOKEN_END,       /* </s>, <|end_of_text|>, <|endoftext|>, [SEP] */
    YK_TOKEN_MASK,      /* [MASK], <mask> */
    YK_TOKEN_CLASS,     /* [CLS] */
    YK_TOKEN_SEPARATOR, /* [SEP] */
    YK_TOKEN_ROLE_COUNT
};

/* Reads a tokenizer.json, or the file of a character vocabulary. `source` is the prefix of error
 * messages. */
yk_status yk_tokenizer_read(const char *bytes, size_t length, const char *source,
                            struct yk_tokenizer **out) YK_MUST_USE;

/* Opens the file at `path`, or the tokenizer.json or else vocabulary.json in the folder at `path`.
 */
yk_status yk_tokenizer_open(const char *path, struct yk_tokenizer **out) YK_MUST_USE;

/* Creates a character tokenizer. Copies the vocabulary. */
yk_status yk_tokenizer_create_characters(const struct yk_character_vocabulary *vocabulary,
                                         struct yk_tokenizer **out) YK_MUST_USE;
void yk_tokenizer_destroy(struct yk_tokenizer *tokenizer);

/* The largest id + 1: the number of rows that the embedding of a model needs. */
int32_t yk_tokenizer_vocabulary_size(const struct yk_tokenizer *tokenizer);

/* The id of a token by its name in the file, or of the token with a role; -1 if there is none. */
int32_t yk_tokenizer_token_id(const struct yk_tokenizer *tokenizer, const char *token);
int32_t yk_tokenizer_role_id(const struct yk_tokenizer *tokenizer, enum yk_token_role role);
/* The id of the padding token, or 0 if there is none. */
int32_t yk_tokenizer_padding_id(const struct yk_tokenizer *tokenizer);

/* The vocabulary of a character tokenizer, which the tokenizer owns; NULL for the other kinds. */
const struct yk_character_vocabulary *yk_tokenizer_vocabulary(const struct yk_tokenizer *tokenizer);

/* Appends "byte-level BPE, 50257 tokens". */
void yk_tokenizer_describe(const struct yk_tokenizer *tokenizer, struct yk_text *out);

/* Appends the file of the tokenizer to `out`, byte for byte as it was read. */
void yk_tokenizer_write(const struct yk_tokenizer *tokenizer, struct yk_text *out);
/* The name of that file: "tokenizer.json" or "vocabulary.json". */
const char *yk_tokenizer_file_name(const struct yk_tokenizer *tokenizer);

/*
 * Appends the text of tokens to `out`, without special tokens if `skip_special`. Bytes that are not
 * UTF-8 become U+FFFD. Unknown ids are skipped.
 */
yk_status yk_tokenizer_decode(const struct yk_tokenizer *tokenizer, const int32_t *ids,
                              int64_t count, bool skip_special, struct yk_text *out) YK_MUST_USE;

/* The workspace of one thread for encoding. The tokenizer must outlive it. */
struct yk_tokenizer_encoder;

yk_status yk_tokenizer_encoder_create(const struct yk_tokenizer *tokenizer,
                                      struct yk_tokenizer_encoder **out) YK_MUST_USE;
void yk_tokenizer_encoder_destroy(struct yk_tokenizer_encoder *encoder);

/* Encoding fails with YK_ERROR_STOPPED once `*stop` is true. NULL means: no flag. */
void yk_tokenizer_encoder_set_stop(struct yk_tokenizer_encoder *encoder, const atomic_bool *stop);

enum yk_special_tokens {
    YK_SPECIAL_TOKENS_NONE,
    YK_SPECIAL_TOKENS_ADD, /* with the tokens of the post-processor: [CLS] … [SEP] */
};

/*
 * Appends the tokens of UTF-8 text to `out`. Added tokens inside the text are recognized as in
 * Hugging Face's tokenizers. Fails if the text is not UTF-8, or if a character tokenizer lacks a
 * character; the message begins with `source`, line and column.
 */
yk_status yk_tokenizer_encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                              const char *source, enum yk_special_tokens special,
                              struct yk_token_ids *out) YK_MUST_USE;

#endif
