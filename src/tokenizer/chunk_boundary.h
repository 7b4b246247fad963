/*
 * Chunk boundary: finds places where a long text can be cut into chunks such that the tokens of the
 * chunks, concatenated, equal the tokens of the whole text. For the pre-tokenizers of GPT-2, Llama
 * 3, Qwen 2 and BERT, a text can be cut at two kinds of places: before a space that is followed by
 * a character other than white space, and after a newline between two characters that are not white
 * space.
 *
 * Proof:
 * - In the patterns of these pre-tokenizers, no match continues with a space after a character that
 *   is not white space.
 * - If a word comes after several characters of white space, and the last of them is a space, then
 *   a match stops before this space (\s+(?!\S)), just as it would at the end of a text.
 * - The patterns have no lookbehind.
 * - A single newline is a match of its own, or the end of a match of punctuation. In both cases,
 *   the match is the same as if the text ended after the newline.
 * - NFC, NFD and Lowercase do not change white space or combine it with the next character.
 * - NFKC, NFKD, StripAccents and BertNormalizer change each character alone or with the marks after
 *   it. They may remove a character, replace it with white space or put spaces around it, as
 *   BertNormalizer does with ideographs. Each character is therefore normalized once: those that
 *   these normalizers change in such a way must not be next to a cut (`neighbours`). The text
 *   before the space of a cut may change in any way, because white space at its end is at the end
 *   of a text in both cases. If the normalizer changes a newline, no text is cut after one.
 * - BERT's pre-tokenizer splits at all white space and removes it, so white space that these
 *   normalizers add or remove next to a cut does not change its words.
 * - Added tokens contain no white space. For the pattern, the text ends where an added token
 *   begins. White space before an added token is therefore at the end of a text and not before a
 *   word. So a text is not cut before a space that is followed by an added token, nor between a
 *   newline and an added token, nor after an added token that strips the white space after it.
 *
 * Tokenizers of SentencePiece's kind, such as those of T5 and Mistral, can be cut before a single
 * space between two characters that are not white space.
 *
 * Proof:
 * - Metaspace, alone or behind WhitespaceSplit, begins a word at each space. The second chunk
 *   begins with a space, so that nothing is put before it.
 * - If the model is BPE and the text is one word, then its merges do not cross the place before a
 *   "▁" behind another character (tokenizer/models/bpe.h).
 * - Normalizers change characters one by one or with the marks behind them. The two characters next
 *   to the space are none that become white space (`neighbours`). A Replace of two or more spaces
 *   does not match a single space; other strings to replace have no space. Strip leaves a chunk as
 *   it is that ends with no white space, if it strips only the right side.
 * - A Prepend of "▁" at the beginning of the normalizers, as Llama 2 and Phi-3 have it, puts one
 *   before each chunk. The second chunk therefore begins behind the space, which would become the
 *   same "▁" (`omits_space`).
 *
 * The rules of a tokenizer are a plain struct. They are immutable: any number of threads may share
 * them.
 */
#ifndef YK_TOKENIZER_CHUNK_BOUNDARY_H
#define YK_TOKENIZER_CHUNK_BOUNDARY_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_CHUNK_BOUNDARY_CHARACTERS = 0x10000 /* characters beyond these are no neighbours */
};

struct yk_chunk_boundary_rules {
    bool possible;          /* false means: the text must not be cut */
    bool lines;             /* also cut after a newline; false if a space is added before a text */
    bool strips_right;      /* at least one added token strips the white space after it */
    bool begins_token[256]; /* first bytes of added tokens */
    bool ends_token[256];   /* last bytes of added tokens that strip the white space after them */
    bool omits_space;       /* the space that a text is cut before belongs to no chunk */
    bool single_spaces;     /* cut only before a single space, with neighbours on both sides */
    bool tests_neighbours;  /* characters next to a cut must be among these: */
    unsigned char neighbours[YK_CHUNK_BOUNDARY_CHARACTERS / 8]; /* one bit for each character */
};

/* Determines the rules of a tokenizer. A text for a character tokenizer is never cut, so that the
 * message about an unknown character can contain the position in the whole text. */
yk_status yk_chunk_boundary_rules_from_tokenizer(const struct yk_tokenizer *tokenizer,
                                                 struct yk_chunk_boundary_rules *out) YK_MUST_USE;

/* Determines the rules of a tokenizer.json. If a component is unknown, no cut is possible. */
yk_status yk_chunk_boundary_rules_from_json(const struct yk_json *root,
                                            struct yk_chunk_boundary_rules *out) YK_MUST_USE;

/* Determines the rules of a pre-tokenizer, for texts without added tokens. */
void yk_chunk_boundary_rules_from_pre_tokenizer(const struct yk_json *pre_tokenizer,
                                                struct yk_chunk_boundary_rules *out);

/* Returns the index of the last byte before which UTF-8 text can be cut, or 0 if the text cannot be
 * cut. */
size_t yk_chunk_boundary_find_last(const struct yk_chunk_boundary_rules *cut, const char *text,
                                   size_t length);

#endif
