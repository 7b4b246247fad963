/*
 * Beam search: finds likely outputs of an encoder–decoder token by token. A hypothesis is the
 * beginning of an output. The search keeps the best `width` hypotheses of each sentence (Sutskever
 * et al. 2014). Finished hypotheses are ranked by this score (Wu et al. 2016):
 *
 *   log probability / ((5 + length) / 6)^length_penalty
 *
 * Here, `length` is the number of tokens of the hypothesis, including the end token.
 *
 * A search state (`beam`) owns its memory on the host. Only one thread at a time may use it.
 */
#ifndef YK_NN_INFERENCE_BEAM_SEARCH_H
#define YK_NN_INFERENCE_BEAM_SEARCH_H

#include "base/status.h"
#include "nn/inference/inference.h"

#include <stdatomic.h>
#include <stdint.h>

struct yk_beam_search_options {
    int32_t width;         /* number of hypotheses per sentence; 1 means: greedy search */
    double length_penalty; /* 0 means: no penalty, so that short outputs are preferred */
    int32_t start;         /* token at the beginning of the decoder's input */
    int32_t end;           /* token that ends an output */
    int32_t pad; /* padding token, which is never generated; −1 means: there is no padding token */
};

/* The input sentences of one search, padded to the length of the longest sentence. */
struct yk_beam_search_input {
    const int32_t *tokens;  /* (sentences, sequence) */
    const int32_t *lengths; /* (sentences) number of tokens of each sentence without padding */
    const int64_t *longest; /* (sentences) maximum length of each output in tokens */
    int64_t sentences;
    int64_t sequence;
    const atomic_bool *stop; /* the search stops when this becomes true; may be NULL */
};

struct yk_beam_search_state;

/* Creates a state for searches with at most `sentences` sentences and outputs of at most `longest`
 * tokens. */
yk_status yk_beam_search_create(const struct yk_beam_search_options *options, int64_t sentences,
                                int64_t longest, int64_t vocabulary,
                                struct yk_beam_search_state **out) YK_MUST_USE;
void yk_beam_search_destroy(struct yk_beam_search_state *beam);

/* Searches for the best output of each sentence. `inference` must have space for `width` samples
 * per sentence. Returns YK_ERROR_NUMBERS if a logit is NaN or +∞, or if all logits of a hypothesis
 * are −∞. Returns YK_ERROR_STOPPED if `stop` became true. */
yk_status yk_beam_search_run(struct yk_beam_search_state *beam, struct yk_inference *inference,
                             const struct yk_beam_search_input *input) YK_MUST_USE;

/* Returns the best output that the latest yk_beam_search_run() found for a sentence, without start
 * token and end token. Sets `*count` to the number of its tokens, and `*score` to its score by the
 * formula above. The output is valid until the next search. */
const int32_t *yk_beam_search_get_best_output(const struct yk_beam_search_state *beam,
                                              int64_t sentence, int64_t *count, double *score);

#endif
