/*
 * Inference: runs a net forward without training, for evaluation, generation and translation. All
 * layers share one set of buffers. Only one thread at a time may use an inference.
 */
#ifndef YK_NN_INFERENCE_INFERENCE_H
#define YK_NN_INFERENCE_INFERENCE_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_inference;

/* The shape of the largest batch. A run may have another shape. But the number of all tokens in
 * its source, and in its target, may not be larger than in this shape. Without a decoder, a
 * sequence may not be longer than `sequence`. With `last_only`, there may not be more than
 * `samples` samples.
 */
struct yk_inference_shape {
    int64_t samples;
    int64_t sequence;        /* not used if samples are images */
    int64_t target_sequence; /* target tokens per sample, for a decoder; 0 means: no decoder */
    bool last_only;          /* compute logits only for the last token of each sample, and no
                                losses */
};

/* Creates an inference for batches up to the shape `max`. The store must outlive the inference. */
yk_status yk_inference_create(const struct yk_parameter_store *store,
                              const struct yk_inference_shape *max,
                              struct yk_inference **out) YK_MUST_USE;
/* Creates an inference that uses device memory of the caller. The memory must have at least
 * yk_inference_memory_bytes() bytes. */
yk_status yk_inference_create_in_memory(const struct yk_parameter_store *store,
                                        const struct yk_inference_shape *max, void *memory,
                                        struct yk_inference **out) YK_MUST_USE;
size_t yk_inference_memory_bytes(const struct yk_parameter_store *store,
                                 const struct yk_inference_shape *max);
void yk_inference_destroy(struct yk_inference *inference);

/* Runs a net that is not an encoder–decoder, and waits for the device. `tokens` has `samples` rows
 * of `sequence` tokens. */
yk_status yk_inference_run(struct yk_inference *inference, const int32_t *tokens, int64_t samples,
                           int64_t sequence) YK_MUST_USE;

/* Runs the net on a slice of tokens or images. Negative targets have no loss. */
yk_status yk_inference_sum_losses(struct yk_inference *inference,
                                  const struct yk_sample_slice *slice,
                                  struct yk_loss_sums *out) YK_MUST_USE;

/* Runs the encoder. `tokens` has `samples` rows of `sequence` tokens. lengths[i] is the number of
 * tokens of sample i without padding. */
yk_status yk_inference_encode(struct yk_inference *inference, const int32_t *tokens,
                              const int32_t *lengths, int64_t samples,
                              int64_t sequence) YK_MUST_USE;

/* After yk_inference_encode(), sample i of the decoder attends to sample i of the encoder. This
 * function changes that: sample i then attends to the encoder output to which sample from[i]
 * attended before. It also sets the number of samples of the decoder. */
yk_status yk_inference_select_encoder_outputs(struct yk_inference *inference, const int32_t *from,
                                              int64_t samples) YK_MUST_USE;

/* Runs the decoder. `tokens` has one row of `sequence` tokens for each sample of the decoder. Each
 * call needs all tokens of the outputs, from the first on. */
yk_status yk_inference_decode(struct yk_inference *inference, const int32_t *tokens,
                              int64_t sequence) YK_MUST_USE;

/* Copies the V logits of one token to `out`. They are from the latest run. If `last_only` is set,
 * or if the model is a classifier, `position` must be 0. */
yk_status yk_inference_get_logits(const struct yk_inference *inference, int64_t sample,
                                  int64_t position, float *out) YK_MUST_USE;

/* Copies the logits of the last token of every sample to `out`, V numbers for each sample. Requires
 * `last_only`. */
yk_status yk_inference_get_last_logits(const struct yk_inference *inference,
                                       float *out) YK_MUST_USE;

#endif
