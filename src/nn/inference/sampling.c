#include "nn/inference/sampling.h"

#include <math.h>
#include <stdlib.h>

static yk_status find_likeliest(const float *logits, int64_t count, int32_t *out)
{
    int64_t best = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(logits[i]) || (isinf(logits[i]) && logits[i] > 0)) {
            return yk_fail(YK_ERROR_NUMBERS,
                           "the model's opinion of token %lld is not a number; its weights have "
                           "gone bad",
                           (long long)i);
        }
        best = logits[i] > logits[best] ? i : best;
    }
    if (isinf(logits[best])) {
        return yk_fail(YK_ERROR_NUMBERS, "the model rules out every token");
    }
    *out = (int32_t)best;
    return YK_OK;
}

/* Sorts by descending weight, then by token. */
static int compare(const void *a, const void *b)
{
    const struct yk_sampling_candidate *left = a;
    const struct yk_sampling_candidate *right = b;
    if (left->weight != right->weight) {
        return left->weight > right->weight ? -1 : 1;
    }
    return (left->token > right->token) - (left->token < right->token);
}

static double sum_weights(const struct yk_sampling_candidate *candidates, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += candidates[i].weight;
    }
    return sum;
}

/* How many of the sorted candidates together have the probability `top_p`: at least one. */
static int64_t find_nucleus(const struct yk_sampling_candidate *candidates, int64_t count,
                            double top_p)
{
    const double enough = top_p * sum_weights(candidates, count);
    double sum = candidates[0].weight;
    int64_t kept = 1;
    while (kept < count && sum < enough) {
        sum += candidates[kept++].weight;
    }
    return kept;
}

yk_status yk_sampling_draw_token(const float *logits, int64_t count,
                                 const struct yk_sampling_options *options,
                                 struct yk_random *random, struct yk_sampling_candidate *scratch,
                                 int32_t *out)
{
    int32_t best = 0;
    YK_TRY(find_likeliest(logits, count, &best));
    if (options->temperature <= 0) {
        *out = best;
        return YK_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        const double below = (double)logits[i] - (double)logits[best];
        scratch[i] = (struct yk_sampling_candidate){exp(below / options->temperature), (int32_t)i};
    }
    qsort(scratch, (size_t)count, sizeof *scratch, compare);
    int64_t kept = options->top_k > 0 && options->top_k < count ? options->top_k : count;
    if (options->top_p < 1) {
        kept = find_nucleus(scratch, kept, options->top_p);
    }
    double left = yk_random_uniform(random) * sum_weights(scratch, kept);
    int64_t chosen = 0;
    while (chosen + 1 < kept && left >= scratch[chosen].weight) {
        left -= scratch[chosen++].weight;
    }
    *out = scratch[chosen].token;
    return YK_OK;
}
