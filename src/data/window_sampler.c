#include "data/window_sampler.h"

#include "data/permutation.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct window_sampler {
    struct yk_sampler base;
    struct yk_corpus_range range;
    int64_t phases; /* the first window begins at a token below; 1 when in order */
    uint64_t seed;
    bool sequential;
};

static void destroy(struct yk_sampler *sampler)
{
    free(sampler);
}

/* The first token of a sample, counted from the range's own first. */
static int64_t first_token(const struct window_sampler *sampler, int64_t number)
{
    const int64_t windows = sampler->base.epoch_units;
    const int64_t window = number % windows;
    if (sampler->sequential) {
        return window * sampler->base.sequence;
    }
    const uint64_t epoch = (uint64_t)(number / windows);
    const uint64_t key = yk_permutation_mix(sampler->seed, epoch);
    /* So few phases of 2^64 that the remainder's bias cannot be seen. */
    const int64_t phase = (int64_t)(yk_permutation_mix(key, 0) % (uint64_t)sampler->phases);
    return phase + yk_permutation_at(key, windows, window) * sampler->base.sequence;
}

static yk_status take_sample(const struct yk_sampler *base, int64_t number, int32_t *tokens,
                             int32_t *targets, int64_t *out)
{
    const struct window_sampler *sampler = (const struct window_sampler *)base;
    const int64_t T = base->sequence;
    const int64_t first = first_token(sampler, number);
    const int64_t left = sampler->range.count - first - 1;
    const int64_t there = left < T ? left : T;
    const struct yk_corpus *corpus = sampler->range.corpus;
    const int64_t start = sampler->range.first + first;
    YK_TRY(yk_corpus_read(corpus, start, 1, tokens));
    YK_TRY(yk_corpus_read(corpus, start + 1, there, targets));
    memcpy(tokens + 1, targets, (size_t)(there - 1) * sizeof *tokens);
    for (int64_t i = there; i < T; i++) {
        tokens[i] = 0;
        targets[i] = YK_SAMPLER_NO_TARGET;
    }
    *out = there;
    return YK_OK;
}

static const struct yk_sampler_kind windows_kind = {.destroy = destroy, .take_sample = take_sample};

static yk_status create(const struct window_sampler *values, struct yk_sampler **out)
{
    struct window_sampler *sampler = malloc(sizeof *sampler);
    if (!sampler) {
        return yk_fail_out_of_memory();
    }
    *sampler = *values;
    *out = &sampler->base;
    return YK_OK;
}

static yk_status check_sequence(int64_t sequence)
{
    if (sequence < 1 || sequence > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT,
                       "a context of %" PRId64 " tokens; it must be at least 1 token", sequence);
    }
    return YK_OK;
}

yk_status yk_window_sampler_create(const struct yk_corpus_range *range, int64_t sequence,
                                   uint64_t seed, struct yk_sampler **out)
{
    YK_TRY(check_sequence(sequence));
    if (range->count <= sequence) {
        return yk_fail(YK_ERROR_INPUT,
                       "there are %" PRId64 " tokens to train on, but a context of %" PRId64
                       " needs at least %" PRId64 "; use a longer text or a shorter context",
                       range->count, sequence, sequence + 1);
    }
    /* As many windows as fit from the last phase, T - 1, on, so that all epochs have as many; a
     * text too short for that has one window, and the phases that leave room for it. The last
     * window ends T windows + phase tokens in, and needs one more token as a target. */
    int64_t windows = (range->count - sequence) / sequence;
    windows = windows > 0 ? windows : 1;
    const int64_t room = range->count - sequence * windows;
    const struct window_sampler values = {
        .base = {.kind = &windows_kind, .epoch_units = windows, .sequence = sequence, .even = true},
        .range = *range,
        .phases = room < sequence ? room : sequence,
        .seed = seed,
    };
    return create(&values, out);
}

yk_status yk_window_sampler_create_sequential(const struct yk_corpus_range *range, int64_t sequence,
                                              struct yk_sampler **out)
{
    YK_TRY(check_sequence(sequence));
    if (range->count < 2) {
        return yk_fail(YK_ERROR_INPUT,
                       "there are %" PRId64
                       " tokens to evaluate on, but at least 2 are needed; keep more of the text",
                       range->count);
    }
    const int64_t windows = (range->count - 2) / sequence + 1;
    const struct window_sampler values = {
        .base = {.kind = &windows_kind, .epoch_units = windows, .sequence = sequence},
        .range = *range,
        .phases = 1,
        .sequential = true,
    };
    return create(&values, out);
}
