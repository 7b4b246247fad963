/*
 * Tokenizer: converts text to tokens and tokens to text. There are two kinds:
 *   characters       each code point is a token (tokenizer/character_vocabulary.h)
 *   tokenizer.json   everything that Hugging Face's tokenizers read from such a file, with the same
 *                    results: normalizers, pre-tokenizers, the models BPE, Unigram, WordPiece and
 *                    WordLevel, post-processors, decoders and added tokens
 * Reading fails if the file has an unsupported component; the message contains its name.
 *
 * "truncation" and "padding" of a tokenizer.json are checked, but not applied: a text always
 * becomes all of its tokens. Hugging Face's transformers do the same, they replace both settings in
 * each call. How long samples are is up to the samplers of src/data, and what was encoded for a
 * file on disk must not depend on what some earlier training had set.
 *
 * A tokenizer is immutable: any number of threads may share it. Each thread needs its own encoder
 * (tokenizer/tokenizer_encoder.h).
 *
 * Files of this folder:
 *   normalizer with normalizers/, pre_tokenizer with        components of tokenizer.json
 *   pre_tokenizers/, post_processor, token_decoder,
 *   added_tokens
 *   aligned_text, text_pattern                              what these components work on
 *   tokenizer_encoder, tokenizer_parts.h                    a tokenizer at work
 *   tokenizer_model                                         the models:
 *   bpe, bpe_merge.c, unigram, wordpiece, wordlevel,
 *   character_vocabulary, word_cache
 *   token_ids, token_spans, token_map, token_matcher.c,     collections of tokens
 *   token_trie
 *   byte_level, unicode, regex                              characters and patterns
 *   bpe_trainer, bpe_pair_queue.c, word_counts, bpe_file    training of a byte-level BPE
 *   chat_files, chat_conversation, chat_template, chat_mask chats by the template of a model
 *   jinja/                                                  the language of these templates
 *   chunk_boundary                                          places where a long text can be cut
 *   formats/                                                files in other formats
 */
#ifndef YK_TOKENIZER_TOKENIZER_H
#define YK_TOKENIZER_TOKENIZER_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/character_vocabulary.h"
#include "tokenizer/chat/chat_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_tokenizer;

/* The roles of special tokens. A token has a role if its name is one of the names that common
 * tokenizers use for this role. */
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

/* Reads a tokenizer from the contents of a tokenizer.json or of a character vocabulary file.
 * `source` is the prefix of error messages. */
yk_status yk_tokenizer_parse(const char *bytes, size_t length, const char *source,
                             struct yk_tokenizer **out) YK_MUST_USE;

/* Opens the tokenizer file at `path`, or the one in the folder `path`. Files of SentencePiece,
 * GPT-2 and BERT are converted; see tokenizer/formats/tokenizer_files.h. Reads the chat files
 * beside it, too. */
yk_status yk_tokenizer_open(const char *path, struct yk_tokenizer **out) YK_MUST_USE;

/* Reads the chat files of a folder, or a chat template from the file `path`, which replaces the one
 * that the tokenizer has. To be called before the tokenizer is shared. */
yk_status yk_tokenizer_read_chat_files(struct yk_tokenizer *tokenizer,
                                       const char *folder) YK_MUST_USE;
yk_status yk_tokenizer_read_chat_template(struct yk_tokenizer *tokenizer,
                                          const char *path) YK_MUST_USE;

/* Returns the chat files, which the tokenizer owns. */
const struct yk_chat_files *yk_tokenizer_get_chat_files(const struct yk_tokenizer *tokenizer);

/* Creates a character tokenizer. Copies the vocabulary. */
yk_status yk_tokenizer_create_character_level(const struct yk_character_vocabulary *vocabulary,
                                              struct yk_tokenizer **out) YK_MUST_USE;
void yk_tokenizer_destroy(struct yk_tokenizer *tokenizer);

/* Returns the largest id + 1, which is the number of rows that the embedding of a model needs. */
int32_t yk_tokenizer_vocabulary_size(const struct yk_tokenizer *tokenizer);

/* Returns the id of the token with this name in the file, or -1 if there is none. */
int32_t yk_tokenizer_find_token_id(const struct yk_tokenizer *tokenizer, const char *token);
/* Returns the id of the token with this role, or -1 if there is none. */
int32_t yk_tokenizer_find_role_id(const struct yk_tokenizer *tokenizer, enum yk_token_role role);
/* Returns whether an id is that of a special token. */
bool yk_tokenizer_is_special_id(const struct yk_tokenizer *tokenizer, int32_t id);
/* Returns the id of the padding token, or 0 if there is none. */
int32_t yk_tokenizer_padding_id_or_zero(const struct yk_tokenizer *tokenizer);

/* Returns the vocabulary of a character tokenizer, or NULL for the other kinds. The tokenizer owns
 * the vocabulary. */
const struct yk_character_vocabulary *
yk_tokenizer_get_character_vocabulary(const struct yk_tokenizer *tokenizer);

/* Appends a description such as "byte-level BPE, 50257 tokens". */
void yk_tokenizer_append_description(const struct yk_tokenizer *tokenizer, struct yk_text *out);

/* Appends the contents of the tokenizer file to `out`, exactly as they were read. */
void yk_tokenizer_append_file_contents(const struct yk_tokenizer *tokenizer, struct yk_text *out);
/* Returns the usual name of the tokenizer file: "tokenizer.json" or "vocabulary.json". */
const char *yk_tokenizer_file_name(const struct yk_tokenizer *tokenizer);

/*
 * Converts tokens to text and appends the text to `out`. If `skip_special`, leaves out special
 * tokens. Bytes that are not UTF-8 become U+FFFD. Unknown ids are skipped.
 */
yk_status yk_tokenizer_decode(const struct yk_tokenizer *tokenizer, const int32_t *ids,
                              int64_t count, bool skip_special, struct yk_text *out) YK_MUST_USE;

#endif
