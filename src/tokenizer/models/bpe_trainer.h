/*
 * BPE trainer: learns the tokens of a byte-level byte-pair encoding from words and their counts
 * (Sennrich, Haddow and Birch 2016). The first tokens are the special tokens and the 256 byte
 * characters (tokenizer/byte_level.h). Then the trainer repeatedly merges the most frequent pair of
 * neighbouring tokens into a new token. Of equally frequent pairs, it merges the pair with the
 * smallest left id; if these ids are also equal, the pair with the smallest right id.
 *
 * The tokens and rules equal those of Hugging Face's BpeTrainer with train_from_iterator(), which
 * splits whole texts into words. (Its train() splits each line separately.) The caller owns the
 * result.
 */
#ifndef YK_TOKENIZER_MODELS_BPE_TRAINER_H
#define YK_TOKENIZER_MODELS_BPE_TRAINER_H

#include "base/status.h"
#include "tokenizer/models/word_counts.h"
#include "tokenizer/token_map.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_bpe_trainer_options {
    const struct yk_word_counts *words;
    const char *const
        *specials; /* (special_count) names of the special tokens, which get the first ids */
    int32_t special_count;
    int32_t token_count; /* wanted size of the vocabulary, including special tokens */
    const atomic_bool
        *stop; /* training fails with YK_ERROR_STOPPED once this is true; NULL means: no flag */
    int64_t min_times; /* pairs that occur less often than this are not merged; 0 and 1 mean: all
                          pairs are merged */
};

/* Two neighbouring tokens. */
struct yk_token_pair {
    int32_t left;
    int32_t right;
};

/* A plain struct: initialize it with {0} and free it with yk_bpe_trainer_result_free(). */
struct yk_bpe_trainer_result {
    struct yk_token_map *tokens; /* names, written with byte characters; fewer tokens than wanted if
                                    no pair was left to merge */
    struct yk_token_pair *rules; /* (rule_count) the merged pairs, all different, in the order in
                                    which they are applied */
    int32_t rule_count;
};

yk_status yk_bpe_trainer_train(const struct yk_bpe_trainer_options *options,
                               struct yk_bpe_trainer_result *out) YK_MUST_USE;
void yk_bpe_trainer_result_free(struct yk_bpe_trainer_result *result);

/*
 * BPE pair queue: a priority queue of the pairs of neighbouring tokens in all words, sorted by
 * frequency. Each pair has a list of the words that contain it. New pairs and words enter the
 * queue when yk_bpe_pair_queue_flush() is called. A pair in the queue may have an outdated count,
 * which is corrected when the pair reaches the top. Only one thread at a time may use a queue.
 */
struct yk_bpe_pair_queue;

/* The most frequent pair, removed from the queue. */
struct yk_bpe_pair_queue_top {
    struct yk_token_pair pair;
    int64_t times;
    int32_t *words; /* (word_count) words with this pair; the caller frees the array */
    int32_t word_count;
};

yk_status yk_bpe_pair_queue_create(struct yk_bpe_pair_queue **out) YK_MUST_USE;
void yk_bpe_pair_queue_destroy(struct yk_bpe_pair_queue *queue);

/* Adds `times`, which may be negative, to the count of a pair. If `times` is positive, adds `word`
 * to the words of the pair. All calls for the same word must be consecutive. */
yk_status yk_bpe_pair_queue_add_count(struct yk_bpe_pair_queue *queue, struct yk_token_pair pair,
                                      int64_t times, int32_t word) YK_MUST_USE;

/* Adds to the queue all pairs that got words since the last flush, together with these words. */
yk_status yk_bpe_pair_queue_flush(struct yk_bpe_pair_queue *queue) YK_MUST_USE;

/* Removes the most frequent pair from the queue. Of equally frequent pairs, removes the pair with
 * the smallest left id; if these ids are also equal, the pair with the smallest right id. Returns
 * false if the queue is empty. Does not change the count of the pair. */
bool yk_bpe_pair_queue_pop(struct yk_bpe_pair_queue *queue, struct yk_bpe_pair_queue_top *out);

#endif
