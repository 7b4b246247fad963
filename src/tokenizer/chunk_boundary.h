/*
 * Chunk boundary: where a long text can be cut so that the tokens of its chunks, one after the
 * other, are those of the whole text. Such places are known for the pre-tokenizers of GPT-2,
 * Llama 3, Qwen 2 and BERT: before a space that is followed by something other than white space,
 * and after a newline between two characters that are not white space.
 *
 * Why this is right:
 * - No alternative of their patterns matches a character that is not white space and then a space,
 *   nor two kinds of white space of which a space is the last.
 * - Of white space that ends with a space before a word, every alternative leaves that last space
 *   to the next match (\s+(?!\S)), just as if the text ended before it.
 * - The patterns have no lookbehind.
 * - A single newline is a match of its own, or the end of a match of punctuation, just as if the
 *   text ended after it.
 * - Unicode normalization joins nothing to white space before it.
 * - BERT's pre-tokenizer drops spaces.
 * - Added tokens contain no white space. The pattern sees the text end where an added token begins,
 *   so there is no cut before one, nor after one that strips the white space that follows.
 *
 * A plain struct that does not change once it is read: any number of threads may share one.
 */
#ifndef YK_TOKENIZER_CHUNK_BOUNDARY_H
#define YK_TOKENIZER_CHUNK_BOUNDARY_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_chunk_boundary {
    bool possible;
    bool lines;             /* also after a newline: the tokenizer adds no space before a text */
    bool strips_right;      /* an added token strips the white space after it */
    bool begins_token[256]; /* bytes that begin an added token */
    bool ends_token[256];   /* last bytes of added tokens that strip what follows */
};

/* Of a tokenizer. A text for a character tokenizer is never cut, so that messages about an unknown
 * character can give its position in the whole text. */
yk_status yk_chunk_boundary_of(const struct yk_tokenizer *tokenizer,
                               struct yk_chunk_boundary *out) YK_MUST_USE;

/* Of a tokenizer.json. Where nothing is known of its parts, no cut is possible. */
void yk_chunk_boundary_read(const struct yk_json *root, struct yk_chunk_boundary *out);

/* Of a pre-tokenizer alone, for texts without added tokens. */
void yk_chunk_boundary_read_pre_tokenizer(const struct yk_json *pre_tokenizer,
                                          struct yk_chunk_boundary *out);

/* The last place before the end where UTF-8 text may be cut; 0 where there is none. */
size_t yk_chunk_boundary_find(const struct yk_chunk_boundary *cut, const char *text, size_t length);

#endif
