#include "data/sampler.h"

#include "base/number.h"
#include "data/corpus.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct window_sampler {
    struct yk_sampler base;
    struct yk_corpus_range range;
    struct yk_sampler_window_layout windows; /* each window has one more token: the last target */
};

static yk_status fetch_sample(const struct yk_sampler *base, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *out)
{
    const struct window_sampler *sampler = (const struct window_sampler *)base;
    const int64_t T = base->sequence;
    const int64_t first = yk_sampler_window_layout_window_start(&sampler->windows, number);
    const int64_t left = sampler->range.count - first - 1;
    const int64_t there = yk_number_min(left, T);
    const struct yk_corpus *corpus = sampler->range.corpus;
    const int64_t start = sampler->range.first + first;
    YK_TRY(yk_corpus_read_tokens(corpus, start, 1, tokens));
    YK_TRY(yk_corpus_read_tokens(corpus, start + 1, there, targets));
    memcpy(tokens + 1, targets, (size_t)(there - 1) * sizeof *tokens);
    yk_number_fill_int32_array(tokens + there, T - there, 0);
    yk_number_fill_int32_array(targets + there, T - there, YK_SAMPLER_NO_TARGET);
    *out = there;
    return YK_OK;
}

static const struct yk_sampler_callbacks windows_kind = {.fetch_sample = fetch_sample};

static yk_status check(const struct yk_corpus_range *range,
                       const struct yk_sampler_options *options)
{
    const int64_t T = options->sequence;
    if (T < 1 || T > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT,
                       "a context of %" PRId64 " tokens; it must be at least 1 token", T);
    }
    if (!options->sequential && range->count <= T) {
        return yk_fail(YK_ERROR_INPUT,
                       "there are %" PRId64 " tokens to train on, but a context of %" PRId64
                       " needs at least %" PRId64 "; use a longer text or a shorter context",
                       range->count, T, T + 1);
    }
    if (range->count < 2) {
        return yk_fail(YK_ERROR_INPUT,
                       "there are %" PRId64
                       " tokens to evaluate on, but at least 2 are needed; keep more of the text",
                       range->count);
    }
    return YK_OK;
}

yk_status yk_window_sampler_create(const struct yk_corpus_range *range,
                                   const struct yk_sampler_options *options,
                                   struct yk_sampler **out)
{
    YK_TRY(check(range, options));
    struct window_sampler *sampler = calloc(1, sizeof *sampler);
    YK_TRY_ALLOCATED(sampler);
    sampler->range = *range;
    sampler->windows = yk_sampler_window_layout_make(range->count - 1, options->sequence, options);
    sampler->base = (struct yk_sampler){
        .kind = &windows_kind,
        .epoch_units = sampler->windows.count,
        .sequence = options->sequence,
        .all_tokens_have_targets = !options->sequential,
    };
    *out = &sampler->base;
    return YK_OK;
}
