/*
 * BPE trainer: learns the tokens of a byte-level byte-pair encoding from words and their counts
 * (Sennrich, Haddow and Birch 2016). The tokens are the special tokens, the 256 byte characters
 * (tokenizer/byte_level.h), and then, repeatedly, the most frequent pair of neighbours, merged. Of
 * equally frequent pairs, the one with the smallest ids is merged first.
 *
 * Tokens and rules equal those of Hugging Face's BpeTrainer with train_from_iterator(), which
 * splits whole texts into words; its train() splits line by line. The caller owns the result. One
 * thread at a time may train.
 */
#ifndef YK_TOKENIZER_BPE_TRAINER_H
#define YK_TOKENIZER_BPE_TRAINER_H

#include "base/status.h"
#include "tokenizer/token_map.h"
#include "tokenizer/word_counts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_bpe_trainer_options {
    const struct yk_word_counts *words;
    const char *const
        *specials; /* (special_count) names of special tokens, which get the first ids */
    int32_t special_count;
    int32_t token_count; /* the size of the vocabulary to reach, including special tokens */
    const atomic_bool
        *stop; /* training fails with YK_ERROR_STOPPED once this is true; NULL means: no flag */
    int64_t min_times; /* the smallest count of a pair to be merged; 0 and 1 mean: any */
};

/* Two neighbouring tokens. */
struct yk_token_pair {
    int32_t left;
    int32_t right;
};

/* A plain struct, initialized with {0} and freed by yk_bpe_trainer_result_free(). */
struct yk_bpe_trainer_result {
    struct yk_token_map *tokens; /* in byte characters; fewer than requested if pairs ran out */
    struct yk_token_pair *rules; /* (rule_count) distinct, in the order in which they apply */
    int32_t rule_count;
};

yk_status yk_bpe_trainer_train(const struct yk_bpe_trainer_options *options,
                               struct yk_bpe_trainer_result *out) YK_MUST_USE;
void yk_bpe_trainer_result_free(struct yk_bpe_trainer_result *result);

/*
 * BPE pair queue: a priority queue of the pairs of neighbouring tokens in all words, by frequency,
 * with the words of each pair. Changes take effect with yk_bpe_pair_queue_flush(). A queued pair
 * may have an outdated count, which is corrected when it reaches the top. One thread at a time may
 * use a queue.
 */
struct yk_bpe_pair_queue;

/* The most frequent pair, which was removed from the queue. */
struct yk_bpe_pair_queue_top {
    struct yk_token_pair pair;
    int64_t times;
    int32_t *words; /* (word_count) words in which the pair was counted; the caller frees it */
    int32_t word_count;
};

yk_status yk_bpe_pair_queue_create(struct yk_bpe_pair_queue **out) YK_MUST_USE;
void yk_bpe_pair_queue_destroy(struct yk_bpe_pair_queue *queue);

/* Adds `times`, which may be negative, to the count of a pair in `word`. If it is positive, the
 * word is recorded for the pair. All changes of one word must be consecutive. */
yk_status yk_bpe_pair_queue_add_count(struct yk_bpe_pair_queue *queue, struct yk_token_pair pair,
                                      int64_t times, int32_t word) YK_MUST_USE;

/* Adds the pairs that have new words since the last flush to the queue, with these words. */
yk_status yk_bpe_pair_queue_flush(struct yk_bpe_pair_queue *queue) YK_MUST_USE;

/* Removes the most frequent pair, of equal ones that with the smallest left, then right id. Returns
 * false if the queue is empty. The count of the pair does not change. */
bool yk_bpe_pair_queue_pop(struct yk_bpe_pair_queue *queue, struct yk_bpe_pair_queue_top *out);

#endif
