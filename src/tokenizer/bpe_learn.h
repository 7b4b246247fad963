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
#include <stdbool.h>
#include <stdint.h>

struct yk_bpe_learn_options {
    const struct yk_word_counts *words;
    const char *const *specials; /* names of tokens that stand for no text; the first ids */
    int32_t special_count;
    int32_t token_count;     /* to end with, the special ones among them */
    const atomic_bool *stop; /* NULL: none; once it is set, it ends with YK_ERROR_STOPPED */
    int64_t min_times;       /* a pair must stand to be joined; 0 or 1: each */
};

/* Two neighbouring tokens. */
struct yk_token_pair {
    int32_t left;
    int32_t right;
};

/* A plain struct that starts as {0} and is freed by yk_bpe_learned_free(). */
struct yk_bpe_learned {
    struct yk_token_map *tokens; /* written by letters; fewer than asked for where pairs ran out */
    struct yk_token_pair *rules; /* in the order in which they are to be applied, none twice */
    int32_t rule_count;
};

yk_status yk_bpe_learn(const struct yk_bpe_learn_options *lesson,
                       struct yk_bpe_learned *out) YK_MUST_USE;
void yk_bpe_learned_free(struct yk_bpe_learned *learned);

/*
 * BPE pair queue: how often pairs of neighbouring tokens occur in words, in which words, and which
 * pair is the most frequent. Changes are collected and enter the queue with
 * yk_bpe_pair_queue_flush(). A queued pair may have an older count, which is corrected when it
 * comes to the top. One thread.
 */
struct yk_bpe_pair_queue;

/* The top of the queue. */
struct yk_bpe_pair_top {
    struct yk_token_pair pair;
    int64_t times;
    int32_t *words; /* those where the pair was noted; belongs to the caller, who frees it */
    int32_t word_count;
};

yk_status yk_bpe_pair_queue_create(struct yk_bpe_pair_queue **out) YK_MUST_USE;
void yk_bpe_pair_queue_destroy(struct yk_bpe_pair_queue *queue);

/* The pair stands so many times more in a word, or less; where it is more, the word is noted. The
 * changes of one word come one after the other. */
yk_status yk_bpe_pair_queue_change(struct yk_bpe_pair_queue *queue, struct yk_token_pair pair,
                                   int64_t times, int32_t word) YK_MUST_USE;

/* Puts the pairs whose words were noted since the last time in the queue, with those words. */
yk_status yk_bpe_pair_queue_flush(struct yk_bpe_pair_queue *queue) YK_MUST_USE;

/* Takes the most frequent pair out, of equal ones that of the smallest ids, left before right;
 * false where none is left. Its count stays. */
bool yk_bpe_pair_queue_pop(struct yk_bpe_pair_queue *queue, struct yk_bpe_pair_top *out);

#endif
