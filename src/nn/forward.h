/*
 * Forward: a net run forward only, for evaluation and for making text.
 *
 * It owns its memory: what is between two layers, and what one layer needs, is used again by the
 * next. One thread at a time.
 */
#ifndef YK_NN_FORWARD_H
#define YK_NN_FORWARD_H

#include "base/status.h"
#include "nn/store.h"

#include <stddef.h>
#include <stdint.h>

struct yk_forward; /* opaque */

/* For up to `batch` samples of up to `sequence` tokens, in memory of its own. The store must
 * outlive it. */
yk_status yk_forward_create(const struct yk_store *store, int64_t batch, int64_t sequence,
                            struct yk_forward **out) YK_MUST_USE;
/* The same in memory of the device that is lent: at least yk_forward_bytes() of it, and nothing
 * else uses it meanwhile. */
yk_status yk_forward_create_in(const struct yk_store *store, int64_t batch, int64_t sequence,
                               void *memory, struct yk_forward **out) YK_MUST_USE;
size_t yk_forward_bytes(const struct yk_store *store, int64_t batch, int64_t sequence);
void yk_forward_destroy(struct yk_forward *forward);

/* Runs tokens (samples, sequence) and waits. */
yk_status yk_forward_run(struct yk_forward *forward, const int32_t *tokens, int64_t samples,
                         int64_t sequence) YK_MUST_USE;

/* The same with the sum of the losses of targets that are not negative. */
yk_status yk_forward_lose(struct yk_forward *forward, const int32_t *tokens, const int32_t *targets,
                          int64_t samples, int64_t sequence, double *out) YK_MUST_USE;

/* The logits (V) that the last run gave for one token. */
yk_status yk_forward_logits(const struct yk_forward *forward, int64_t sample, int64_t position,
                            float *out) YK_MUST_USE;

#endif
