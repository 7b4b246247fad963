/*
 * Tokenizer: how text becomes tokens and tokens text. Of three kinds:
 *   characters      the code points of a text (tokenizer/vocabulary.h),
 *   byte-level BPE  as GPT-2 and Llama 3 have it,
 *   WordPiece       as BERT has it,
 * the last two read from a tokenizer.json as Hugging Face's tokenizers write it. A file that needs
 * a part that is not known here is refused by the part's name.
 *
 * A tokenizer does not change once it is made: any number of threads may share one. Each thread
 * needs an encoder of its own. The rest of the room:
 *   normalizer, pre_tokenizer, post_processor, decoder, added_tokens  parts of the file
 *   bpe, bpe_merge, wordpiece, vocabulary             the models
 *   token_ids, token_map, token_set                   lists and tables of tokens
 *   byte_level, unicode, regex                        characters and patterns
 *   bpe_learn, bpe_pair_queue, word_counts, bpe_file  learning a byte-level BPE
 *   chat                                              Llama 3's chat template
 *   chunk_boundary                                    where a long text can be cut
 */
#ifndef YK_TOKENIZER_TOKENIZER_H
#define YK_TOKENIZER_TOKENIZER_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/vocabulary.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_tokenizer;

/* Tokens that stand for no text, found by the names that the common tokenizers have for them. */
enum yk_token_role {
    YK_TOKEN_PAD,       /* <pad>, [PAD], <|pad|>, <|finetune_right_pad_id|> */
    YK_TOKEN_UNKNOWN,   /* <unk>, [UNK] */
    YK_TOKEN_BEGIN,     /* <s>, <|begin_of_text|>, [CLS] */
    YK_TOKEN_END,       /* </s>, <|end_of_text|>, <|endoftext|>, [SEP] */
    YK_TOKEN_MASK,      /* [MASK], <mask> */
    YK_TOKEN_CLASS,     /* [CLS] */
    YK_TOKEN_SEPARATOR, /* [SEP] */
    YK_TOKEN_ROLES
};

/* What a tokenizer.json says, or a vocabulary file of characters; `source` begins messages. */
yk_status yk_tokenizer_read(const char *bytes, size_t length, const char *source,
                            struct yk_tokenizer **out) YK_MUST_USE;

/* The file at `path`, or the tokenizer.json, else vocabulary.json, in the folder at `path`. */
yk_status yk_tokenizer_open(const char *path, struct yk_tokenizer **out) YK_MUST_USE;

/* Characters; the vocabulary is copied. */
yk_status yk_tokenizer_create_characters(const struct yk_vocabulary *vocabulary,
                                         struct yk_tokenizer **out) YK_MUST_USE;
void yk_tokenizer_destroy(struct yk_tokenizer *tokenizer);

/* One more than the largest id: the rows a model needs. */
int32_t yk_tokenizer_count(const struct yk_tokenizer *tokenizer);

/* The id of a token by its name in the file, or −1. */
int32_t yk_tokenizer_id(const struct yk_tokenizer *tokenizer, const char *token);
int32_t yk_tokenizer_role(const struct yk_tokenizer *tokenizer, enum yk_token_role role);

/* The characters of one by characters; else NULL. It belongs to the tokenizer. */
const struct yk_vocabulary *yk_tokenizer_vocabulary(const struct yk_tokenizer *tokenizer);

/* "byte-level BPE, 50257 tokens". */
void yk_tokenizer_describe(const struct yk_tokenizer *tokenizer, struct yk_text *out);

/* Adds the tokenizer's file to `out`: what it was read from, byte for byte. */
void yk_tokenizer_write(const struct yk_tokenizer *tokenizer, struct yk_text *out);
/* What that file is called: "tokenizer.json" or "vocabulary.json". */
const char *yk_tokenizer_file_name(const struct yk_tokenizer *tokenizer);

/*
 * Adds the text of tokens to `out`, special ones left out with `skip_special`. What is no UTF-8
 * becomes U+FFFD. Ids that are not the tokenizer's are left out.
 */
yk_status yk_tokenizer_decode(const struct yk_tokenizer *tokenizer, const int32_t *ids,
                              int64_t count, bool skip_special, struct yk_text *out) YK_MUST_USE;

/* One thread's room for encoding. The tokenizer must outlive it. */
struct yk_tokenizer_encoder;

yk_status yk_tokenizer_encoder_create(const struct yk_tokenizer *tokenizer,
                                      struct yk_tokenizer_encoder **out) YK_MUST_USE;
void yk_tokenizer_encoder_destroy(struct yk_tokenizer_encoder *encoder);

/* Once the flag is set, encoding ends with YK_ERROR_STOPPED. NULL: none. */
void yk_tokenizer_encoder_set_stop(struct yk_tokenizer_encoder *encoder, const atomic_bool *stop);

enum yk_special_tokens {
    YK_SPECIAL_TOKENS_NONE,
    YK_SPECIAL_TOKENS_ADD, /* with what the post-processor puts around a text: [CLS] … [SEP] */
};

/*
 * Adds the tokens of UTF-8 text to `out`; added tokens that stand in the text are found as Hugging
 * Face's tokenizers find them. Text that is no UTF-8, and a character that a tokenizer of
 * characters does not have, is refused by line and column; `source` begins the message.
 */
yk_status yk_tokenizer_encode(struct yk_tokenizer_encoder *encoder, const char *text, size_t length,
                              const char *source, enum yk_special_tokens special,
                              struct yk_token_ids *out) YK_MUST_USE;

#endif
