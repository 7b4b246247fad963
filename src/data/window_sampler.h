/*
 * Window sampler: samples are windows of T tokens of a corpus and, for each token, the next one. In
 * training, the windows of an epoch lie end to end from a phase on that differs from epoch to
 * epoch, and each comes exactly once, in an order that differs too: both follow from seed and
 * epoch. In evaluation (sequential) the windows lie end to end from the first token on and come in
 * order.
 */
#ifndef YK_DATA_WINDOW_SAMPLER_H
#define YK_DATA_WINDOW_SAMPLER_H

#include "data/corpus.h"
#include "data/sampler.h"

/* `sequence` is T. Refuses a range of fewer than T + 1 tokens. */
yk_status yk_window_sampler_create(const struct yk_corpus_range *range, int64_t sequence,
                                   uint64_t seed, struct yk_sampler **out) YK_MUST_USE;

/*
 * In order, for evaluation: each token but the first is a target exactly once. The last window is
 * filled up with tokens 0 and targets YK_SAMPLER_NO_TARGET. Refuses a range of fewer than 2 tokens.
 */
yk_status yk_window_sampler_create_sequential(const struct yk_corpus_range *range, int64_t sequence,
                                              struct yk_sampler **out) YK_MUST_USE;

#endif
