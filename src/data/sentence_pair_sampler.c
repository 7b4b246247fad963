#include "data/sampler.h"

#include "base/number.h"
#include "data/sentence_pairs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A bucket's lengths are within 1/16 of its shortest; below 16 tokens each length has its own.
     * Simulated with sentences of about 16 tokens and slices of 4096, 8 % is padding: 22 % where
     * lengths are rounded up to multiples of 8, and 6 % with a bucket for each length, which mixes
     * less. */
    BUCKET_PART = 16
};

/* A position is the index of a pair in the order of the buckets. */
struct pair_sampler {
    struct yk_sampler base;
    const struct yk_sentence_pairs *pairs;
    int64_t *order;   /* (pairs) by length, then by number */
    int64_t *buckets; /* (bucket_count + 1) first position of each; the last one is the end */
    int64_t *slices;  /* (epoch_units + 1) first position of each; the last one is the end */
    int64_t bucket_count;
    uint64_t seed;
    bool sequential;
};

static void destroy(struct yk_sampler *base)
{
    struct pair_sampler *sampler = (struct pair_sampler *)base;
    free(sampler->order);
    free(sampler->buckets);
    free(sampler->slices);
    free(sampler);
}

/* The tokens of the longer side of pair `index`. */
static int64_t length_of(const struct pair_sampler *sampler, int64_t index)
{
    const struct yk_sentence_pair pair = yk_sentence_pairs_at(sampler->pairs, index);
    return yk_number_max(pair.source_count, pair.target_count);
}

static int64_t length_at(const struct pair_sampler *sampler, int64_t place)
{
    return length_of(sampler, sampler->order[place]);
}

/* An epoch; its key determines the order of slices and pairs. */
struct epoch {
    uint64_t key;
    int64_t number;
};

static struct epoch epoch_of(const struct pair_sampler *sampler, int64_t unit)
{
    const int64_t number = unit / sampler->base.epoch_units;
    return (struct epoch){yk_sampler_hash_seed_and_number(sampler->seed, (uint64_t)number), number};
}

static int64_t slice_of(const struct pair_sampler *sampler, struct epoch epoch, int64_t unit)
{
    const int64_t slices = sampler->base.epoch_units;
    return sampler->sequential ? unit % slices
                               : yk_sampler_permuted_index(epoch.key, slices, unit % slices);
}

/* The last bucket that begins at or before a position. */
static int64_t bucket_of(const struct pair_sampler *sampler, int64_t place)
{
    return yk_number_find_interval(sampler->buckets, sampler->bucket_count, place);
}

static struct yk_sentence_pair pair_at(const struct pair_sampler *sampler, struct epoch epoch,
                                       int64_t place)
{
    if (!sampler->sequential) {
        const int64_t bucket = bucket_of(sampler, place);
        const int64_t first = sampler->buckets[bucket];
        const uint64_t key = yk_sampler_hash_seed_and_number(epoch.key, (uint64_t)bucket + 1);
        place = first +
                yk_sampler_permuted_index(key, sampler->buckets[bucket + 1] - first, place - first);
    }
    return yk_sentence_pairs_at(sampler->pairs, sampler->order[place]);
}

/* Sets the sizes of the slice, T and S, and the number of tokens. */
static void measure(const struct pair_sampler *sampler, struct epoch epoch, int64_t slice,
                    struct yk_sample_slice *out)
{
    const int64_t first = sampler->slices[slice];
    out->samples = sampler->slices[slice + 1] - first;
    out->first_sample = epoch.number * sampler->pairs->count + first;
    out->sequence = 0;
    out->target_sequence = 0;
    out->token_count = 0;
    for (int64_t i = 0; i < out->samples; i++) {
        const struct yk_sentence_pair pair = pair_at(sampler, epoch, first + i);
        out->sequence = yk_number_max(out->sequence, pair.source_count);
        out->target_sequence = yk_number_max(out->target_sequence, pair.target_count);
        out->token_count += pair.source_count + pair.target_count;
    }
}

static void write_pair(const struct yk_sentence_pairs *pairs, const struct yk_sentence_pair *pair,
                       int64_t sample, struct yk_sample_slice *out)
{
    const int64_t T = out->sequence;
    const int64_t S = out->target_sequence;
    const int64_t target_padding = S - pair->target_count;
    int32_t *tokens = out->tokens + sample * T;
    int32_t *target_tokens = out->target_tokens + sample * S;
    int32_t *targets = out->targets + sample * S;
    memcpy(tokens, pair->source, (size_t)pair->source_count * sizeof *tokens);
    yk_number_fill_int32_array(tokens + pair->source_count, T - pair->source_count,
                               pairs->source_padding_id);
    out->lengths[sample] = (int32_t)pair->source_count;
    target_tokens[0] = pairs->start_id;
    memcpy(target_tokens + 1, pair->target,
           (size_t)(pair->target_count - 1) * sizeof *target_tokens);
    yk_number_fill_int32_array(target_tokens + pair->target_count, target_padding,
                               pairs->target_padding_id);
    memcpy(targets, pair->target, (size_t)pair->target_count * sizeof *targets);
    yk_number_fill_int32_array(targets + pair->target_count, target_padding, YK_SAMPLER_NO_TARGET);
}

static yk_status fetch_slice(const struct yk_sampler *base, int64_t number,
                             struct yk_sample_slice *out)
{
    const struct pair_sampler *sampler = (const struct pair_sampler *)base;
    const struct epoch epoch = epoch_of(sampler, number);
    const int64_t slice = slice_of(sampler, epoch, number);
    measure(sampler, epoch, slice, out);
    for (int64_t i = 0; i < out->samples; i++) {
        const struct yk_sentence_pair pair = pair_at(sampler, epoch, sampler->slices[slice] + i);
        write_pair(sampler->pairs, &pair, i, out);
    }
    return YK_OK;
}

static const struct yk_sampler_callbacks pairs_kind = {.destroy = destroy,
                                                       .fetch_slice = fetch_slice};

/* Sorts the pairs by length with a stable counting sort. */
static yk_status sort(struct pair_sampler *sampler, int64_t longest)
{
    const int64_t count = sampler->pairs->count;
    int64_t *next = calloc((size_t)longest + 2, sizeof *next);
    sampler->order = calloc((size_t)count, sizeof *sampler->order);
    if (!next || !sampler->order) {
        free(next);
        return yk_fail_out_of_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        next[length_of(sampler, i) + 1]++;
    }
    for (int64_t length = 0; length < longest; length++) {
        next[length + 1] += next[length];
    }
    for (int64_t i = 0; i < count; i++) {
        sampler->order[next[length_of(sampler, i)]++] = i;
    }
    free(next);
    return YK_OK;
}

/* Only for training: in evaluation the pairs are not shuffled. */
static yk_status make_buckets(struct pair_sampler *sampler, int64_t longest)
{
    const int64_t count = sampler->pairs->count;
    sampler->buckets = calloc((size_t)yk_number_min(longest, count) + 1, sizeof *sampler->buckets);
    YK_TRY_ALLOCATED(sampler->buckets);
    for (int64_t place = 0; place < count;) {
        const int64_t shortest = length_at(sampler, place);
        const int64_t max = shortest + shortest / BUCKET_PART;
        sampler->buckets[sampler->bucket_count++] = place;
        while (place < count && length_at(sampler, place) <= max) {
            place++;
        }
    }
    sampler->buckets[sampler->bucket_count] = count;
    return YK_OK;
}

/* The most tokens of the pair at a position on either side, in any epoch. */
static int64_t bound_at(const struct pair_sampler *sampler, int64_t place)
{
    if (sampler->sequential) {
        return length_at(sampler, place);
    }
    return length_at(sampler, sampler->buckets[bucket_of(sampler, place) + 1] - 1);
}

/* The bounds increase with the position, so the bound of a slice is that of its last position. */
static yk_status cut_slices(struct pair_sampler *sampler)
{
    const int64_t count = sampler->pairs->count;
    const int64_t rows = sampler->base.max_slice_tokens;
    sampler->slices = calloc((size_t)count + 1, sizeof *sampler->slices);
    YK_TRY_ALLOCATED(sampler->slices);
    int64_t slices = 1;
    for (int64_t place = 1; place < count; place++) {
        const int64_t pairs = place - sampler->slices[slices - 1] + 1;
        if (pairs > rows / bound_at(sampler, place)) {
            sampler->slices[slices++] = place;
        }
    }
    sampler->slices[slices] = count;
    sampler->base.epoch_units = slices;
    return YK_OK;
}

static yk_status fill(struct pair_sampler *sampler)
{
    const struct yk_sentence_pair_totals totals = yk_sentence_pairs_compute_totals(sampler->pairs);
    struct yk_sampler *base = &sampler->base;
    const int64_t longest = yk_number_max(totals.longest_source, totals.longest_target);
    base->kind = &pairs_kind;
    base->sequence = totals.longest_source;
    base->target_sequence = totals.longest_target;
    if (longest > base->max_slice_tokens) {
        return yk_fail(YK_ERROR_INPUT,
                       "a micro-batch has room for %" PRId64
                       " tokens, but the longest sentence has %" PRId64
                       "; give it more room, or leave longer sentences out",
                       base->max_slice_tokens, longest);
    }
    YK_TRY(sort(sampler, longest));
    if (!sampler->sequential) {
        YK_TRY(make_buckets(sampler, longest));
    }
    return cut_slices(sampler);
}

yk_status yk_sentence_pair_sampler_create(const struct yk_sentence_pairs *pairs,
                                          const struct yk_sampler_options *options,
                                          struct yk_sampler **out)
{
    struct pair_sampler *sampler = calloc(1, sizeof *sampler);
    YK_TRY_ALLOCATED(sampler);
    sampler->base.max_slice_tokens = options->slice_rows;
    sampler->pairs = pairs;
    sampler->seed = options->seed;
    sampler->sequential = options->sequential;
    YK_TRY_OR_CLEAN_UP(fill(sampler), destroy(&sampler->base));
    *out = &sampler->base;
    return YK_OK;
}
