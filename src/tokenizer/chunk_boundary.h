/*
 * Chunk boundary: finds places where a long text can be cut into chunks such that the tokens of the
 * chunks, concatenated, equal the tokens of the whole text. Such places are known for the
 * pre-tokenizers of GPT-2, Llama 3, Qwen 2 and BERT: before a space that is followed by a character
 * other than white space, and after a newline between two characters that are not white space.
 *
 * Proof:
 * - No alternative of their patterns matches a space after a character that is not white space, nor
 *   a space after another kind of white space.
 * - If white space ends with a space before a word, every alternative leaves that last space to the
 *   next match (\s+(?!\S)), as if the text ended before it.
 * - The patterns have no lookbehind.
 * - A single newline is a match of its own, or the end of a match of punctuation, as if the text
 *   ended after it.
 * - Unicode normalization does not combine white space with what follows it.
 * - BERT's pre-tokenizer removes spaces.
 * - Added tokens contain no white space. The pattern sees the end of the text where an added token
 *   begins. Therefore there is no cut before an added token, nor after one that strips the white
 *   space that follows.
 *
 * The rules of a tokenizer are a plain struct and immutable: any number of threads may share one.
 */
#ifndef YK_TOKENIZER_CHUNK_BOUNDARY_H
#define YK_TOKENIZER_CHUNK_BOUNDARY_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_chunk_boundary_rules {
    bool possible;
    bool lines;        /* also cut after a newline: the tokenizer adds no space before a text */
    bool strips_right; /* some added token strips the white space after it */
    bool begins_token[256]; /* bytes that begin an added token */
    bool ends_token[256];   /* last bytes of added tokens that strip the white space after them */
};

/* The rules of a tokenizer. A text for a character tokenizer is never cut, so that messages about
 * an unknown character can contain its position in the whole text. */
yk_status yk_chunk_boundary_from_tokenizer(const struct yk_tokenizer *tokenizer,
                                           struct yk_chunk_boundary_rules *out) YK_MUST_USE;

/* The rules of a tokenizer.json. If a component is unknown, no cut is possible. */
void yk_chunk_boundary_from_json(const struct yk_json *root, struct yk_chunk_boundary_rules *out);

/* The rules of a pre-tokenizer, for texts without added tokens. */
void yk_chunk_boundary_from_pre_tokenizer(const struct yk_json *pre_tokenizer,
                                          struct yk_chunk_boundary_rules *out);

/* The last place where UTF-8 text can be cut, or 0 if there is none. */
size_t yk_chunk_boundary_find(const struct yk_chunk_boundary_rules *cut, const char *text,
                              size_t length);

#endif
