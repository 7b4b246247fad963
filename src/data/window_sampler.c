#include "data/window_sampler.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct window_sampler {
    struct yk_sampler base;
    struct yk_corpus_range range;
    struct yk_sampler_windows windows; /* each has one more token, the last target */
};

static void destroy(struct yk_sampler *sampler)
{
    free(sampler);
}

static yk_status fetch_sample(const struct yk_sampler *base, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *out)
{
    const struct window_sampler *sampler = (const struct window_sampler *)base;
    const int64_t T = base->sequence;
    const int64_t first = yk_sampler_windows_first(&sampler->windows, number);
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

static const struct yk_sampler_kind windows_kind = {.destroy = destroy,
                                                    .fetch_sample = fetch_sample};

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
    const struct yk_sampler_windows windows =
        yk_sampler_windows_shuffled(range->count - 1, sequence, seed);
    const struct window_sampler values = {
        .base = {.kind = &windows_kind,
                 .epoch_units = windows.count,
                 .sequence = sequence,
                 .even = true},
        .range = *range,
        .windows = windows,
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
    const struct yk_sampler_windows windows =
        yk_sampler_windows_sequential(range->count - 1, sequence);
    const struct window_sampler values = {
        .base = {.kind = &windows_kind, .epoch_units = windows.count, .sequence = sequence},
        .range = *range,
        .windows = windows,
    };
    return create(&values, out);
}
