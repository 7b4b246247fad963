/*
 * Pair sampler: micro-batch slices of sentence pairs (data/pair_list.h) of like length, each of as
 * many tokens as fit. A unit is a slice.
 *
 * Pairs are sorted into buckets by the length of their longer side, a bucket's longest being at
 * most a sixteenth longer than its shortest. All buckets lie end to end, from short to long, and
 * are cut into slices of as many pairs as fit on either side: B T <= rows and B S <= rows. In
 * training, the pairs of each bucket and the slices come in orders that follow from seed and epoch,
 * so each pair comes exactly once an epoch, together with others; the numbers of slices and of the
 * pairs in each stay the same. In evaluation (sequential) pairs come by the length of their longer
 * side, then by number. The sides of a slice are padded to their own longest, T and S. `present`
 * counts the tokens of both sides.
 */
#ifndef YK_DATA_PAIR_SAMPLER_H
#define YK_DATA_PAIR_SAMPLER_H

#include "data/pair_list.h"
#include "data/sampler.h"

/* Refuses a list with a pair longer than the options' `slice_rows`. The list must outlive it. */
yk_status yk_pair_sampler_create(const struct yk_pair_list *list,
                                 const struct yk_sampler_options *options,
                                 struct yk_sampler **out) YK_MUST_USE;

#endif
