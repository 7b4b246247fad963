/*
 * Sampler: which tokens of a corpus make up sample number n, for n = 0, 1, 2 … through a whole run.
 *
 * A sample is a window of T tokens and, for each, the token that follows. Nothing is remembered
 * between samples: n alone says which they are, so a run that is resumed or that is shared among
 * other ranks sees the same samples in the same order. A sampler does not change once it is made:
 * any number of threads may use one. It does not own the corpus.
 *
 * In training, the windows of an epoch lie end to end from a phase on that differs from epoch to
 * epoch, and each comes exactly once, in an order that differs too: both follow from seed and
 * epoch. In evaluation (sequential) the windows lie end to end from the first token on and come in
 * order.
 */
#ifndef YK_DATA_SAMPLER_H
#define YK_DATA_SAMPLER_H

#include "base/status.h"
#include "data/corpus.h"

#include <stdint.h>

enum {
    YK_SAMPLER_NO_TARGET = -1 /* a place that bears no loss */
};

struct yk_sampler;

/* `sequence` is T. Refuses a range of fewer than T + 1 tokens. */
yk_status yk_sampler_create(const struct yk_corpus_range *range, int64_t sequence, uint64_t seed,
                            struct yk_sampler **out) YK_MUST_USE;

/*
 * In order, for evaluation: each token but the first is a target exactly once. The last window is
 * filled up with tokens 0 and targets YK_SAMPLER_NO_TARGET. Refuses a range of fewer than 2 tokens.
 */
yk_status yk_sampler_create_sequential(const struct yk_corpus_range *range, int64_t sequence,
                                       struct yk_sampler **out) YK_MUST_USE;
void yk_sampler_destroy(struct yk_sampler *sampler);

/* Samples of one epoch: the same for each. */
int64_t yk_sampler_epoch_samples(const struct yk_sampler *sampler);
int64_t yk_sampler_sequence(const struct yk_sampler *sampler);

/* Sample `number`, from 0 on: tokens (T) and targets (T). */
yk_status yk_sampler_take(const struct yk_sampler *sampler, int64_t number, int32_t *tokens,
                          int32_t *targets) YK_MUST_USE;

#endif
