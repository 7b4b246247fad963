/*
 * Pair sampler: pieces of sentence pairs (data/pair_list.h) of like length, each piece of as many
 * tokens as there is room for. A unit is a piece.
 *
 * Pairs are put in buckets by the length of their longer side, a bucket's longest being at most a
 * sixteenth longer than its shortest. All buckets lie end to end, from short to long, and are cut
 * into pieces of as many pairs as have room on either side: B T <= rows and B S <= rows. In
 * training, the pairs of each bucket and the pieces come in orders that follow from seed and epoch,
 * so each pair comes exactly once an epoch, in the company of others; the numbers of pieces and of
 * the pairs in each stay the same. In evaluation (sequential) pairs come by the length of their
 * longer side, then by number.
 *
 * The sides of a piece are filled up to their own longest, T and S. `present` counts the tokens of
 * both sides.
 */
#ifndef YK_DATA_PAIR_SAMPLER_H
#define YK_DATA_PAIR_SAMPLER_H

#include "data/pair_list.h"
#include "data/sampler.h"

/* `piece_rows` is the most tokens of either side of a piece, filling included. Refuses a list with
 * a longer pair. The list must outlive the sampler. */
yk_status yk_pair_sampler_create(const struct yk_pair_list *list, int64_t piece_rows, uint64_t seed,
                                 struct yk_sampler **out) YK_MUST_USE;

yk_status yk_pair_sampler_create_sequential(const struct yk_pair_list *list, int64_t piece_rows,
                                            struct yk_sampler **out) YK_MUST_USE;

/* How much of the pieces of the first epoch is filling, of both sides together: from 0 to below 1.
 */
double yk_pair_sampler_padding(const struct yk_sampler *sampler);

#endif
