/*
 * Outputs: what a model gives for the first samples of a text, as a file that others can read and
 * that tells whether another device gives the same.
 */
#ifndef YK_JOB_MODELS_EVAL_OUTPUTS_H
#define YK_JOB_MODELS_EVAL_OUTPUTS_H

#include "data/dataset.h"
#include "nn/store/store.h"

/* Writes "logits" (samples, sequence, V) in fp32 into a safetensors file, and what they are for:
 * "tokens" (samples, sequence), of which the first "lengths" (samples) are there. At most
 * `samples`, fewer where the text has fewer. A model with a decoder of its own is refused. */
yk_status yk_eval_write_outputs(const struct yk_store *store, const struct yk_dataset *dataset,
                                int64_t samples, const char *path) YK_MUST_USE;

#endif
