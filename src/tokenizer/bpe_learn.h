/*
 * BPE learning: the tokens of a byte-level byte-pair encoding, learned from words and their counts
 * (Sennrich, Haddow and Birch 2016). The tokens are the special ones, the characters of the 256
 * bytes (tokenizer/byte_level.h), and then, one after the other, the most frequent pair joined; of
 * equally frequent ones that of the smallest ids. Tokens and rules equal those of Hugging Face's
 * BpeTrainer with train_from_iterator(), which cuts whole texts into words; its train() cuts line
 * by line.
 * What was learned belongs to the caller. One thread.
 */
#ifndef YK_TOKENIZER_BPE_LEARN_H
#define YK_TOKENIZER_BPE_LEARN_H

#include "base/status.h"
#include "tokenizer/token_map.h"
#include "tokenizer/word_counts.h"

#include <stdatomic.h>
#include <stdint.h>

struct yk_bpe_learn_options {
    const struct yk_word_counts *words;
    const char *const *specials; /* names of tokens that stand for no text; the first ids */
    int32_t special_count;
    int32_t token_count;     /* to end with, the special ones among them */
    const atomic_bool *stop; /* NULL: none; once it is set, it ends with YK_ERROR_STOPPED */
    int64_t min_times;       /* a pair must stand to be joined; 0 or 1: each */
};

/* Two neighbours become one. */
struct yk_bpe_rule {
    int32_t left;
    int32_t right;
};

/* A plain struct that starts as {0} and is freed by yk_bpe_learned_free(). */
struct yk_bpe_learned {
    struct yk_token_map *tokens; /* written by letters; fewer than asked for where pairs ran out */
    struct yk_bpe_rule *rules;   /* in the order in which they are to be applied, none twice */
    int32_t rule_count;
};

yk_status yk_bpe_learn(const struct yk_bpe_learn_options *lesson,
                       struct yk_bpe_learned *out) YK_MUST_USE;
void yk_bpe_learned_free(struct yk_bpe_learned *learned);

#endif
