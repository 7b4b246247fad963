/*
 * Beam search: the likeliest outputs of an encoder–decoder, word by word, keeping the best few
 * beginnings of each sentence (Sutskever et al. 2014). What has ended is ranked by its logarithmic
 * probability over ((5 + length) / 6)^penalty (Wu et al. 2016), the end token counted.
 *
 * A beam owns its memory on the host; the forward pass is the caller's. One thread at a time.
 */
#ifndef YK_NN_INFERENCE_BEAM_H
#define YK_NN_INFERENCE_BEAM_H

#include "base/status.h"
#include "nn/inference/forward.h"

#include <stdatomic.h>
#include <stdint.h>

struct yk_beam_options {
    int32_t width;         /* beginnings kept of each sentence; 1: the likeliest token each time */
    double length_penalty; /* 0: none, so that short ones win */
    int32_t start;         /* what the decoder is given first */
    int32_t end;           /* what ends an output */
    int32_t pad;           /* never generated; −1: there is none */
};

/* Sentences to be translated: encoded side by side, padded to the longest. */
struct yk_beam_input {
    const int32_t *tokens;  /* (sentences, sequence) */
    const int32_t *lengths; /* (sentences) */
    const int64_t *longest; /* (sentences): output, in tokens */
    int64_t sentences;
    int64_t sequence;
    const atomic_bool *stop; /* or NULL */
};

struct yk_beam;

/* For up to `sentences` at once with outputs of up to `longest` tokens over V tokens. */
yk_status yk_beam_create(const struct yk_beam_options *options, int64_t sentences, int64_t longest,
                         int64_t vocabulary, struct yk_beam **out) YK_MUST_USE;
void yk_beam_destroy(struct yk_beam *beam);

/* `forward` is large enough for width samples of each sentence. Logits that are not finite are
 * YK_ERROR_NUMBERS. Where `stop` is set it ends with YK_ERROR_STOPPED and finds nothing. */
yk_status yk_beam_search(struct yk_beam *beam, struct yk_forward *forward,
                         const struct yk_beam_input *input) YK_MUST_USE;

/* The best output of a sentence of the last search, without start and end; `score` as ranked. */
const int32_t *yk_beam_best(const struct yk_beam *beam, int64_t sentence, int64_t *count,
                            double *score);

#endif
