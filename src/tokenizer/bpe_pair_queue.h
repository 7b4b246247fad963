/*
 * BPE pair queue: how often pairs of neighbouring tokens occur in words, in which words, and which
 * pair is the most frequent. Changes are collected and enter the queue with
 * yk_bpe_pair_queue_flush(). A queued pair may have an older count, which is corrected when it
 * comes to the top. One thread.
 */
#ifndef YK_TOKENIZER_BPE_PAIR_QUEUE_H
#define YK_TOKENIZER_BPE_PAIR_QUEUE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_bpe_pair_queue;

struct yk_token_pair {
    int32_t left;
    int32_t right;
};

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
