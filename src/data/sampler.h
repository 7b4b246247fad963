/*
 * Sampler: which samples come at place n, for n = 0, 1, 2 … through a whole run. No state is kept:
 * n alone says which they are, so a run that is resumed or shared among other ranks sees the same
 * samples in the same order. A sampler does not change once it is made: any number of threads may
 * use one. It does not own the data.
 *
 * Places are counted in units. A unit is a sample; where samples of like length are put together
 * (pairs), a unit is a micro-batch slice. Each kind is a table of functions: data/window_sampler.h,
 * data/masked_sampler.h, data/pair_sampler.h, data/instruction_sampler.h.
 */
#ifndef YK_DATA_SAMPLER_H
#define YK_DATA_SAMPLER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_SAMPLER_NO_TARGET = -1 /* a place that bears no loss */
};

/* The samples of one micro-batch slice on the host, padded to the longest of them. The caller of
 * yk_sampler_fetch() allocates as much as the sampler says. */
struct yk_slice {
    int64_t samples;         /* B */
    int64_t sequence;        /* T */
    int64_t target_sequence; /* S of what a decoder reads; 0: there is none */
    int64_t first_sample;    /* its number in the run, each sample's being another */
    int64_t counted;         /* targets that bear loss */
    int64_t present;         /* tokens that are no padding */
    int32_t *tokens;         /* (B, T) */
    int32_t *lengths;        /* (B): how many of a sample's tokens are no padding, at least 1 */
    int32_t *target_tokens;  /* (B, S); NULL without */
    int32_t *targets;        /* (B, T), or (B, S) where there is a decoder; negative: no loss */
};

struct yk_sampler;

struct yk_sampler_kind {
    void (*destroy)(struct yk_sampler *sampler);
    /* One of the two. Where a unit is a sample: its tokens (T) and targets (T), padded, and how
     * many tokens are there. */
    yk_status (*fetch_sample)(const struct yk_sampler *sampler, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *there);
    /* Where a unit is a slice: all of it but `counted`. */
    yk_status (*fetch_slice)(const struct yk_sampler *sampler, int64_t number,
                             struct yk_slice *out);
};

/* What every kind has in front of its own. */
struct yk_sampler {
    const struct yk_sampler_kind *kind;
    int64_t epoch_units;     /* of one epoch: the same for each */
    int64_t sequence;        /* the most tokens of a sample */
    int64_t target_sequence; /* the same of what a decoder reads; 0: there is none */
    int64_t slice_rows; /* a unit is a slice of at most so many tokens on either side; 0: a unit
                           is a sample of `sequence` tokens */
    bool even; /* every place of every sample bears loss: nobody needs to look to count them */
};

/* What a sampler is created with; each kind reads what concerns it. */
struct yk_sampler_options {
    int64_t sequence;   /* T of samples that are all as long */
    int64_t slice_rows; /* of pairs: the most tokens of a side in a slice, padding included */
    uint64_t seed;      /* of training */
    bool packed;        /* instructions share samples */
    bool sequential;    /* in order, for evaluation */
};

void yk_sampler_destroy(struct yk_sampler *sampler);

/* Fetches `count` units from number `first` on; where a unit is a slice, one. */
yk_status yk_sampler_fetch(const struct yk_sampler *sampler, int64_t first, int64_t count,
                           struct yk_slice *out) YK_MUST_USE;

/* The tokens of either side that fit in a slice of `units`. */
int64_t yk_sampler_rows(const struct yk_sampler *sampler, int64_t units);

/*
 * Where samples of equal length begin in a text of so many tokens. In order they lie side by side
 * from the first token on, the last one perhaps beyond the end. Shuffled, each epoch has an order
 * of its own, and lays them side by side from a phase of its own on.
 */
struct yk_sampler_windows {
    int64_t count; /* of an epoch */
    int64_t length;
    int64_t phases; /* the first window begins at a token below; 1 when in order */
    uint64_t seed;
    bool sequential;
};

/* Shuffled: as many as fit from the last phase on, so that all epochs have as many; a text too
 * short for that has one, and the phases that leave space for it. It has `length` tokens at least.
 * In order: so many that every token is in one; there is one token at least. */
struct yk_sampler_windows yk_sampler_windows_lay(int64_t tokens, int64_t length,
                                                 const struct yk_sampler_options *options);

/* The first token of the window at place `number`, counted through all epochs. */
int64_t yk_sampler_windows_first(const struct yk_sampler_windows *windows, int64_t number);

/* 64 bits that look random, from two numbers. The same on every machine. */
uint64_t yk_sampler_mix(uint64_t seed, uint64_t number);

/* The number at place `index` of the order of `key`; 0 <= index < count. */
int64_t yk_sampler_permute(uint64_t key, int64_t count, int64_t index);

#endif
