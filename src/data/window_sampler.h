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

/*
 * Refuses a range of fewer than T + 1 tokens. In order, each token but the first is a target
 * exactly once, the last window is padded with tokens 0 and targets YK_SAMPLER_NO_TARGET, and a
 * range of fewer than 2 tokens is refused.
 */
yk_status yk_window_sampler_create(const struct yk_corpus_range *range,
                                   const struct yk_sampler_options *options,
                                   struct yk_sampler **out) YK_MUST_USE;

#endif
