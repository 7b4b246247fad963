/*
 * Sampling: draws the next token from a model's logits. Pure: the same logits, options and random
 * state give the same token.
 */
#ifndef YK_NN_INFERENCE_SAMPLING_H
#define YK_NN_INFERENCE_SAMPLING_H

#include "base/random.h"
#include "base/status.h"

#include <stdint.h>

struct yk_sampling_options {
    double temperature; /* logits are divided by it; 0: always the most likely token */
    int64_t top_k;      /* draw only from the k most likely tokens; 0: from all */
    double top_p;       /* draw only from the smallest set of most likely tokens with at least this
                           total probability (nucleus sampling, Holtzman et al. 2020); 1: all */
};

struct yk_sampling_candidate {
    double weight; /* unnormalised probability */
    int32_t token;
};

/*
 * Draws a token from softmax(logits / temperature), restricted by top_k and top_p. `logits` and
 * `scratch` have `count` elements. Equal logits are ordered by token. A logit of −∞ excludes a
 * token. NaN and +∞ fail with YK_ERROR_NUMBERS.
 */
yk_status yk_sampling_draw_token(const float *logits, int64_t count,
                                 const struct yk_sampling_options *options,
                                 struct yk_random *random, struct yk_sampling_candidate *scratch,
                                 int32_t *out) YK_MUST_USE;

#endif
