/*
 * BPE file: writes a learned byte-level encoding as a tokenizer.json that Hugging Face's tokenizers
 * read, in one of a few styles: which special tokens there are, how a text is cut into words, and
 * what is put around it. Styles are constant. Any thread.
 */
#ifndef YK_TOKENIZER_BPE_FILE_H
#define YK_TOKENIZER_BPE_FILE_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/bpe_learn.h"

#include <stddef.h>
#include <stdint.h>

struct yk_bpe_file_style {
    const char *name;
    const char *summary;
    const char *const *specials;
    int32_t special_count;
    const char *pre_tokenizer; /* JSON */
    const char *before;        /* the special token put before a text, or NULL */
    const char *behind;        /* the one put behind it, or NULL */
};

/* The style of that number; NULL past the last one. The first has GPT-2's words. */
const struct yk_bpe_file_style *yk_bpe_file_style_at(size_t number);
/* The style of that name, or NULL. */
const struct yk_bpe_file_style *yk_bpe_file_style_find(const char *name);

/* Adds the file to `out`. The encoding was learned with the style's special tokens. */
void yk_bpe_file_write(const struct yk_bpe_learned *learned, const struct yk_bpe_file_style *style,
                       struct yk_text *out);

#endif
