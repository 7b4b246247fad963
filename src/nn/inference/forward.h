/*
 * Forward: a net run forward alone: for evaluation, generation and translation.
 *
 * It owns its memory, which every layer uses again. One thread at a time.
 */
#ifndef YK_NN_INFERENCE_FORWARD_H
#define YK_NN_INFERENCE_FORWARD_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_forward; /* opaque */

/* The largest batch; a run may have another shape with no more tokens. */
struct yk_forward_shape {
    int64_t samples;
    int64_t sequence;
    int64_t target_sequence; /* of a decoder; 0 without */
    bool last_only;          /* only the last token of each sample gets logits; then there are no
                                losses */
};

/* In memory of its own. The store must outlive it. */
yk_status yk_forward_create(const struct yk_store *store, const struct yk_forward_shape *max,
                            struct yk_forward **out) YK_MUST_USE;
/* The same in the caller's device memory: at least yk_forward_bytes() of it, which nothing else
 * uses meanwhile. */
yk_status yk_forward_create_in(const struct yk_store *store, const struct yk_forward_shape *max,
                               void *memory, struct yk_forward **out) YK_MUST_USE;
size_t yk_forward_bytes(const struct yk_store *store, const struct yk_forward_shape *max);
void yk_forward_destroy(struct yk_forward *forward);

/* Runs tokens (samples, sequence) through a net without an encoder, and waits. */
yk_status yk_forward_run(struct yk_forward *forward, const int32_t *tokens, int64_t samples,
                         int64_t sequence) YK_MUST_USE;

/* Runs a slice; the sum of the losses of targets that are not negative. */
yk_status yk_forward_loss(struct yk_forward *forward, const struct yk_slice *slice,
                          double *out) YK_MUST_USE;

/* Runs the encoder: tokens (samples, sequence), of which lengths (samples) count. */
yk_status yk_forward_encode(struct yk_forward *forward, const int32_t *tokens,
                            const int32_t *lengths, int64_t samples, int64_t sequence) YK_MUST_USE;

/* Sample i of the decoder attends to sample from[i] of the encoder, for `samples` of them,
 * instead of one to each. */
yk_status yk_forward_expand(struct yk_forward *forward, const int32_t *from,
                            int64_t samples) YK_MUST_USE;

/* Runs the decoder over tokens (samples, sequence) from their beginning on. */
yk_status yk_forward_decode(struct yk_forward *forward, const int32_t *tokens,
                            int64_t sequence) YK_MUST_USE;

/* The logits (V) of one token of the last run; where only the last has any, position 0. */
yk_status yk_forward_logits(const struct yk_forward *forward, int64_t sample, int64_t position,
                            float *out) YK_MUST_USE;

/* Those of all samples, where only the last token has any: (samples, V). */
yk_status yk_forward_last_logits(const struct yk_forward *forward, float *out) YK_MUST_USE;

#endif
