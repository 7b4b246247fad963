/*
 * Sampler: returns the samples at position n = 0, 1, 2 … of a training run.
 *
 * A sampler is stateless: the samples at a position depend only on n. A run that is resumed, or
 * that continues on other ranks, reads the same samples in the same order. A sampler is immutable:
 * any number of threads may use the same sampler. The sampler does not own the data, which must
 * outlive it.
 *
 * Positions count units. For most kinds of samplers, a unit is one sample. The sampler of sentence
 * pairs puts pairs of similar length together; its unit is a whole slice. A slice is a micro-batch,
 * or the part of a micro-batch that one rank computes.
 *
 * A sample is a sequence of tokens or an image. An image is a sample of one token: `tokens` holds
 * 0, `targets` holds the label, and `pixels` holds the image.
 *
 * Each kind implements struct yk_sampler_callbacks: window_sampler.c and sentence_pair_sampler.c
 * (declared at the end of this file), masked_sampler.h, instruction_sampler.h,
 * images/image_sampler.h.
 */
#ifndef YK_DATA_SAMPLER_H
#define YK_DATA_SAMPLER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_SAMPLER_NO_TARGET = -1 /* the target of a position that is not part of the loss */
};

/* The samples of a slice in host memory, padded to equal length. The caller of
 * yk_sampler_fetch_slice() allocates the arrays, which must be large enough for any slice of the
 * sampler. */
struct yk_sample_slice {
    int64_t samples;         /* B, the number of samples */
    int64_t sequence;        /* T, the length of a sample in tokens */
    int64_t target_sequence; /* S, the length of a decoder's input in tokens; 0 means: no decoder */
    int64_t first_sample;    /* number of the first sample, counted over the whole run */
    int64_t loss_targets;    /* number of targets that are part of the loss */
    int64_t token_count;     /* number of tokens that are not padding */
    int32_t *tokens;         /* (B, T) */
    int32_t *lengths;        /* (B) number of tokens of each sample without padding, at least 1 */
    int32_t *target_tokens;  /* (B, S) input of the decoder; NULL means: no decoder */
    int32_t *targets; /* (B, S) with a decoder, otherwise (B, T); a negative target is not part of
                         the loss */
    uint8_t *pixels;  /* (B, channels, height, width) of images; NULL means: no images, or only
                         their labels are fetched */
};

struct yk_sampler;

/* The functions of one kind of sampler. A kind has one of fetch_sample, fetch_images and
 * fetch_slice. */
struct yk_sampler_callbacks {
    void (*destroy)(struct yk_sampler *sampler); /* NULL means: free() is enough */

    /* For units that are samples. Writes T tokens and T targets, padded. Sets `*present` to the
     * number of tokens that are not padding. */
    yk_status (*fetch_sample)(const struct yk_sampler *sampler, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *present);

    /* For units that are images. Writes the pixels and labels of the images `first` to `first` +
     * `count` - 1. The label of an image that is left out is YK_SAMPLER_NO_TARGET. If `pixels` is
     * NULL, writes only the labels and decodes nothing; `labels_need_pixels` must be false then. */
    yk_status (*fetch_images)(const struct yk_sampler *sampler, int64_t first, int64_t count,
                              uint8_t *pixels, int32_t *labels);

    /* For units that are slices. Writes all members of the slice except `loss_targets`. */
    yk_status (*fetch_slice)(const struct yk_sampler *sampler, int64_t number,
                             struct yk_sample_slice *out);
};

/* The common members of all kinds of samplers. The struct of each kind begins with this struct. */
struct yk_sampler {
    const struct yk_sampler_callbacks *kind;
    int64_t epoch_units;      /* number of units in one epoch; the same for all epochs */
    int64_t sequence;         /* length of the longest sample in tokens */
    int64_t target_sequence;  /* length of the longest input of the decoder in tokens; 0 means: no
                                 decoder */
    int64_t max_slice_tokens; /* a slice has at most this many source tokens, and at most this many
                                 target tokens; 0 means: a unit is a sample */
    bool all_tokens_have_targets; /* every token of every sample has a target, so targets need not
                                     be counted */
    int64_t pixel_bytes;          /* number of bytes of one image; 0 means: samples are tokens */
    bool labels_need_pixels;      /* which images are left out is known only once they are decoded,
                                     so labels cannot be fetched alone */
};

struct yk_sampler_options {
    int64_t
        sequence; /* T, the length of a sample; for all kinds except sentence pairs and images */
    int64_t slice_rows; /* for sentence pairs: with padding, a slice has at most this many source
                           tokens, and at most this many target tokens */
    uint64_t seed;      /* seed of the random order of training samples */
    bool packed;        /* for instructions: put several instructions into one sample */
    bool sequential;    /* do not shuffle the samples; for evaluation */
};

void yk_sampler_destroy(struct yk_sampler *sampler);

/* Fetches units `first` to `first` + `count` - 1 as one slice. If a unit is a slice, ignores
 * `count` and fetches slice `first`. */
yk_status yk_sampler_fetch_slice(const struct yk_sampler *sampler, int64_t first, int64_t count,
                                 struct yk_sample_slice *out) YK_MUST_USE;

/* Returns a number n: a slice of `units` units has at most n source tokens and at most n target
 * tokens. */
int64_t yk_sampler_max_slice_tokens(const struct yk_sampler *sampler, int64_t units);

/*
 * The positions of equally long, adjacent windows in a text. If sequential, the leftmost window
 * begins at the first token, and the rightmost window may extend beyond the end of the text. If
 * shuffled, every epoch has its own order of the windows, and its own number of tokens before the
 * leftmost window (the phase of the epoch).
 */
struct yk_sampler_window_layout {
    int64_t count; /* number of windows in one epoch */
    int64_t length;
    int64_t phases; /* number of possible phases; a phase is 0 to phases − 1. If sequential, there
                       is only phase 0 */
    uint64_t seed;
    bool sequential;
};

/*
 * Arranges windows of `length` tokens in a text of `tokens` tokens.
 *
 * Sequential: every token is in one window. The text must have at least one token.
 *
 * Shuffled: there are `length` phases. All epochs have the same number of windows: the number that
 * fits into the text at the last phase. If no window fits at the last phase, there is one window
 * and fewer phases. The text must have at least `length` tokens.
 */
struct yk_sampler_window_layout
yk_sampler_window_layout_make(int64_t tokens, int64_t length,
                              const struct yk_sampler_options *options);

/* Returns the index of the first token of window `number`. Windows are numbered consecutively over
 * all epochs. */
int64_t yk_sampler_window_layout_window_start(const struct yk_sampler_window_layout *windows,
                                              int64_t number);

/* Returns a 64-bit hash of two numbers, which is the same on every machine. */
uint64_t yk_sampler_hash_seed_and_number(uint64_t seed, uint64_t number);

/* Returns element `index` of a pseudo-random permutation of 0 … `count` - 1. `key` selects the
 * permutation. */
int64_t yk_sampler_permuted_index(uint64_t key, int64_t count, int64_t index);

struct yk_corpus_range;
struct yk_sentence_pairs;

/*
 * Window sampler: a sample is a window of T tokens of a corpus; the target of each token is the
 * next token. In training, the windows are shuffled, and each window occurs exactly once per epoch;
 * the function fails if the range has fewer than T + 1 tokens. If sequential, each token except the
 * first token of the range is a target exactly once per epoch, and the last window is padded with
 * token 0 and YK_SAMPLER_NO_TARGET; the function fails if the range has fewer than 2 tokens.
 */
yk_status yk_window_sampler_create(const struct yk_corpus_range *range,
                                   const struct yk_sampler_options *options,
                                   struct yk_sampler **out) YK_MUST_USE;

/*
 * Sentence pair sampler: a unit is a slice of sentence pairs of similar length.
 *
 * The length of a pair is the length of its longer side. For training, the pairs are sorted into
 * buckets by length. The longest pair of a bucket is at most 1/16 longer than the shortest. The
 * sequence of all buckets, from short to long, is cut into slices. The seed and the epoch determine
 * the order of the slices, and the order of the pairs in each bucket. Every pair occurs exactly
 * once per epoch. All epochs have the same number of slices, and slices of the same sizes. If
 * sequential, the pairs are ordered by length, then by number, and cut into slices.
 *
 * The B sources of a slice are padded to the longest source (T tokens), the B targets to the
 * longest target (S tokens). Neither B · T nor B · S is larger than `slice_rows`. `token_count` is
 * the number of tokens of both sides.
 *
 * The function fails if a pair is longer than `slice_rows`.
 */
yk_status yk_sentence_pair_sampler_create(const struct yk_sentence_pairs *pairs,
                                          const struct yk_sampler_options *options,
                                          struct yk_sampler **out) YK_MUST_USE;

#endif
