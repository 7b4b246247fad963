/*
 * Beam search: finds likely outputs of an encoder–decoder token by token. It keeps the best `width`
 * hypotheses of each sentence (Sutskever et al. 2014). Finished hypotheses are ranked by their log
 * probability divided by ((5 + length) / 6)^penalty (Wu et al. 2016); the length includes the end
 * token.
 *
 * A beam owns its memory on the host. One thread at a time.
 */
#ifndef YK_NN_INFERENCE_BEAM_H
#define YK_NN_INFERENCE_BEAM_H

#include "base/status.h"
#include "nn/inference/inference.h"

#include <stdatomic.h>
#include <stdint.h>

struct yk_beam_options {
    int32_t width;         /* hypotheses per sentence; 1: greedy search */
    double length_penalty; /* 0: none, which favours short outputs */
    int32_t start;         /* first token of the decoder */
    int32_t end;           /* token that ends an output */
    int32_t pad;           /* never generated; −1: there is none */
};

/* The sentences of one search, padded to the longest. */
struct yk_beam_input {
    const int32_t *tokens;  /* (sentences, sequence) */
    const int32_t *lengths; /* (sentences) tokens without padding */
    const int64_t *longest; /* (sentences) maximum output length in tokens */
    int64_t sentences;
    int64_t sequence;
    const atomic_bool *stop; /* the search ends when it becomes true; may be NULL */
};

struct yk_beam;

/* `sentences` and `longest` are the maxima of one search; outputs have up to `longest` tokens. */
yk_status yk_beam_create(const struct yk_beam_options *options, int64_t sentences, int64_t longest,
                         int64_t vocabulary, struct yk_beam **out) YK_MUST_USE;
void yk_beam_destroy(struct yk_beam *beam);

/* `inference` must be large enough for sentences · width samples. Returns YK_ERROR_NUMBERS if
 * logits are not finite, and YK_ERROR_STOPPED if `stop` became true. */
yk_status yk_beam_search(struct yk_beam *beam, struct yk_inference *inference,
                         const struct yk_beam_input *input) YK_MUST_USE;

/* The best output of a sentence of the last search, without start and end token, and its score as
 * described above. Valid until the next search. */
const int32_t *yk_beam_get_best_output(const struct yk_beam *beam, int64_t sentence, int64_t *count,
                                       double *score);

#endif
