/*
 * Sampler: maps a position n = 0, 1, 2 … of a run to the samples of that position.
 *
 * A sampler is stateless: the samples depend on n alone. A run that is resumed, or that uses other
 * ranks, reads the same samples in the same order. A sampler is immutable: any number of threads
 * may use one. It does not own the data, which must outlive it.
 *
 * Positions count units. For most kinds, a unit is one sample. The sampler of sentence pairs puts
 * pairs of similar length together; its unit is a whole micro-batch slice.
 * Each kind implements struct yk_sampler_kind: window_sampler.c and sentence_pair_sampler.c
 * (declared at the end of this file), masked_sampler.h, instruction_sampler.h.
 */
#ifndef YK_DATA_SAMPLER_H
#define YK_DATA_SAMPLER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_SAMPLER_NO_TARGET = -1 /* the target of a position that is not part of the loss */
};

/* The samples of one micro-batch slice in host memory, padded to the longest of them. The caller of
 * yk_sampler_fetch_slice() allocates the arrays, large enough for any slice of the sampler. */
struct yk_sample_slice {
    int64_t samples;         /* B */
    int64_t sequence;        /* T */
    int64_t target_sequence; /* S, the tokens that a decoder reads; 0 means: no decoder */
    int64_t first_sample;    /* number of the first sample, unique in the run */
    int64_t loss_targets;    /* targets that are part of the loss */
    int64_t token_count;     /* tokens that are not padding */
    int32_t *tokens;         /* (B, T) */
    int32_t *lengths;        /* (B) tokens of each sample without padding, at least 1 */
    int32_t *target_tokens;  /* (B, S); NULL without a decoder */
    int32_t *targets;        /* (B, S) with a decoder, else (B, T); negative: not in the loss */
};

struct yk_sampler;

/* The functions of one kind of sampler. A kind has either fetch_sample or fetch_slice. */
struct yk_sampler_kind {
    void (*destroy)(struct yk_sampler *sampler); /* NULL means: free() is enough */

    /* If a unit is a sample: writes T tokens and T targets, padded, and to `*present` how many of
     * the tokens are not padding. */
    yk_status (*fetch_sample)(const struct yk_sampler *sampler, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *present);

    /* If a unit is a slice: writes all of the slice except `counted`. */
    yk_status (*fetch_slice)(const struct yk_sampler *sampler, int64_t number,
                             struct yk_sample_slice *out);
};

/* The first member of the struct of every kind. */
struct yk_sampler {
    const struct yk_sampler_kind *kind;
    int64_t epoch_units;      /* units of one epoch; the same for all epochs */
    int64_t sequence;         /* the longest sample, in tokens */
    int64_t target_sequence;  /* the longest input of the decoder, in tokens; 0 means: no decoder */
    int64_t max_slice_tokens; /* a unit is a slice with at most this many tokens on each side; 0
                           means: a unit is a sample of `sequence` tokens */
    bool all_tokens_have_targets; /* every token of every sample has a target: no need to count them
                                   */
};

struct yk_sampler_options {
    int64_t sequence;   /* T, for kinds whose samples all have the same length */
    int64_t slice_rows; /* for pairs: the most tokens of one side in a slice, padding included */
    uint64_t seed;      /* of the order of training samples */
    bool packed;        /* for instructions: put several into one sample */
    bool sequential;    /* in data order, for evaluation */
};

void yk_sampler_destroy(struct yk_sampler *sampler);

/* Fetches the `count` units that begin at number `first`. If a unit is a slice, fetches one. */
yk_status yk_sampler_fetch_slice(const struct yk_sampler *sampler, int64_t first, int64_t count,
                                 struct yk_sample_slice *out) YK_MUST_USE;

/* The most tokens of one side in a slice of `units` units. */
int64_t yk_sampler_max_slice_tokens(const struct yk_sampler *sampler, int64_t units);

/*
 * The positions of equally long windows in a text. Sequential windows are adjacent and begin at the
 * first token; the last one may extend beyond the end. Shuffled windows are adjacent too, but every
 * epoch has its own order and its own position of the first window (its phase).
 */
struct yk_sampler_windows {
    int64_t count; /* windows of one epoch */
    int64_t length;
    int64_t phases; /* the phase of an epoch is below this; 1 if sequential */
    uint64_t seed;
    bool sequential;
};

/* Arranges windows of `length` tokens in a text of `tokens` tokens.
 * Sequential: every token is in one window; the text has at least one token.
 * Shuffled: the windows that fit at every phase, so that all epochs have the same number. A text
 * that is too short for all phases gets one window and fewer phases; it has at least `length`
 * tokens. */
struct yk_sampler_windows yk_sampler_windows_arrange(int64_t tokens, int64_t length,
                                                     const struct yk_sampler_options *options);

/* The first token of window `number`, which counts through all epochs. */
int64_t yk_sampler_windows_first_token(const struct yk_sampler_windows *windows, int64_t number);

/* A 64-bit hash of two numbers, the same on every machine. */
uint64_t yk_sampler_hash(uint64_t seed, uint64_t number);

/* Element `index` of a pseudo-random permutation of 0 … `count` - 1 that `key` selects. */
int64_t yk_sampler_permute(uint64_t key, int64_t count, int64_t index);

struct yk_corpus_range;
struct yk_sentence_pairs;

/*
 * Window sampler: a sample is a window of T tokens of a corpus; the target of each token is the
 * next token. Training uses shuffled windows, each exactly once per epoch. Fails if the range has
 * fewer than T + 1 tokens. Sequential: each token except the first is a target exactly once. The
 * last window is padded with token 0 and YK_SAMPLER_NO_TARGET. Fails if the range has fewer than 2
 * tokens.
 */
yk_status yk_window_sampler_create(const struct yk_corpus_range *range,
                                   const struct yk_sampler_options *options,
                                   struct yk_sampler **out) YK_MUST_USE;

/*
 * Sentence pair sampler: a unit is a micro-batch slice of sentence pairs of similar length.
 *
 * Pairs are sorted by the length of their longer side into buckets. The longest pair of a bucket is
 * at most 1/16 longer than its shortest. The buckets follow each other from short to long and are
 * cut into slices, each with as many pairs as fit: B T <= slice_rows and B S <= slice_rows.
 * In training, seed and epoch determine the order of the slices and of the pairs in each bucket.
 * Every pair occurs exactly once per epoch. The number of slices, and of pairs in each slice, is
 * the same in all epochs. Sequential: the pairs are ordered by the length of their longer side,
 * then by number. Both sides of a slice are padded to their own longest sentence, T and S.
 * `present` counts the tokens of both sides.
 *
 * Fails if a pair is longer than the options' `slice_rows`.
 */
yk_status yk_sentence_pair_sampler_create(const struct yk_sentence_pairs *pairs,
                                          const struct yk_sampler_options *options,
                                          struct yk_sampler **out) YK_MUST_USE;

#endif
