/*
 * Tokens 13a: sentences cut into the words that BLEU counts, as mteval-v13a.pl of NIST and WMT cuts
 * them and as sacreBLEU's tokenizer "13a" does to the byte.
 *
 * Entities of XML are undone, ASCII punctuation stands alone, but for full stops and commas between
 * digits and for hyphens that follow none. Words end where Python's str.split() ends them: at any
 * white space of Unicode.
 *
 * Tokens are a plain struct that starts as {0}, is used for one sentence after another and is freed
 * by yk_bleu_tokens_free(). One thread at a time.
 */
#ifndef YK_DATA_TOKENS_13A_H
#define YK_DATA_TOKENS_13A_H

#include "base/status.h"

#include <stddef.h>

struct yk_bleu_tokens {
    char *words;   /* with one space between two of them, and a terminating zero */
    size_t length; /* of `words` in bytes */
    size_t capacity;
    char *spare;
    size_t spare_capacity;
};

/* Makes `tokens` those of one sentence. Bytes that are no UTF-8 are parts of words. */
yk_status yk_bleu_tokens_split(const char *sentence, size_t length,
                               struct yk_bleu_tokens *tokens) YK_MUST_USE;

void yk_bleu_tokens_free(struct yk_bleu_tokens *tokens);

#endif
