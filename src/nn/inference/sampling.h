/*
 * Sampling: the next token, drawn from a model's logits.
 *
 * Pure: the same logits, options and random numbers give the same token.
 */
#ifndef YK_NN_INFERENCE_SAMPLING_H
#define YK_NN_INFERENCE_SAMPLING_H

#include "base/random.h"
#include "base/status.h"

#include <stdint.h>

struct yk_sampling_options {
    double temperature; /* logits are divided by it; 0: always the most likely token */
    int64_t top_k;      /* only the so many most likely; 0: all */
    double top_p;       /* of those, the fewest most likely that together have this probability
                           (nucleus sampling, Holtzman et al. 2020); 1: all */
};

/* To sort in. */
struct yk_sampling_candidate {
    double weight;
    int32_t token;
};

/*
 * Draws a token: softmax(logits / temperature), cut to the top. `logits` and `scratch` are (V).
 * Equal logits are ordered by token. Logits that are not numbers fail with YK_ERROR_NUMBERS; −∞ is
 * a token that never comes.
 */
yk_status yk_sampling_draw(const float *logits, int64_t count,
                           const struct yk_sampling_options *options, struct yk_random *random,
                           struct yk_sampling_candidate *scratch, int32_t *out) YK_MUST_USE;

#endif
