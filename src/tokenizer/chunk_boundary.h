/*
 * Chunk boundary: where a long text can be cut so that the tokens of its chunks, one after the
 * other, are those of the whole. That is known of the words of GPT-2, Llama 3, Qwen 2 and BERT: a
 * text is cut before a space that something other than white space follows, or behind the end of a
 * line that stands alone between two characters other than white space.
 *
 * Why: no alternative of their patterns goes on from a character that is not white space to a
 * space, and none takes two kinds of white space where a space comes last; of white space that ends
 * with a space before a word, each leaves that last space to the next match (\s+(?!\S)), as it does
 * when the text ends before it. Nothing in them looks back. The end of a line alone is a match of
 * its own, or ends one of punctuation, as it does when the text ends behind it. Normal forms join
 * nothing to white space before it, BERT's pre-tokenizer drops spaces. Added tokens hold no white
 * space; a text ends for the pattern where one begins, so no cut is before one, nor behind one that
 * takes the white space next to it.
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
    bool lines;             /* also behind the end of a line: no space is put before a text */
    bool strips_right;      /* an added token takes the white space behind it */
    bool begins_token[256]; /* bytes that begin an added token */
    bool ends_token[256];   /* bytes that end one that takes what is behind it */
};

/* Of a tokenizer; of one of characters no cut is possible, so that messages tell the place of one
 * that it does not have. */
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
