/*
 * Sampling: draws the next token from a model's logits. The same logits, options and random state
 * always give the same token.
 */
#ifndef YK_NN_INFERENCE_SAMPLING_H
#define YK_NN_INFERENCE_SAMPLING_H

#include "base/random.h"
#include "base/status.h"

#include <stdint.h>

struct yk_sampling_options {
    double temperature; /* logits are divided by this number; 0 means: always take the most likely
                           token */
    int64_t top_k;      /* draw only from the k most likely tokens; 0 means: from all tokens */
    /* Draw only from the n most likely tokens, where n is the smallest number for which these
     * tokens together have at least this probability (nucleus sampling, Holtzman et al. 2020). 1
     * means: from all tokens. */
    double top_p;
};

struct yk_sampling_candidate {
    double weight; /* unnormalised probability */
    int32_t token;
};

/*
 * Draws a token from softmax(logits / temperature), restricted first by top_k and then by top_p.
 * `logits` and `scratch` have `count` elements. Among tokens with equal logits, those with lower
 * numbers count as more likely. A token with the logit −∞ is never drawn. Returns YK_ERROR_NUMBERS
 * if a logit is NaN or +∞, or if all logits are −∞.
 */
yk_status yk_sampling_draw_token(const float *logits, int64_t count,
                                 const struct yk_sampling_options *options,
                                 struct yk_random *random, struct yk_sampling_candidate *scratch,
                                 int32_t *out) YK_MUST_USE;

#endif
