/* Weights merge: weights with their adapter added, as a model without adapters has them. */
#ifndef YK_NN_WEIGHTS_MERGE_H
#define YK_NN_WEIGHTS_MERGE_H

#include "base/status.h"
#include "nn/store/store.h"

/* Adds alpha / rank · B·A to the parameter's `numbers`; nothing where it has no adapter. */
yk_status yk_weights_merge(const struct yk_store *store, int32_t layer, int32_t parameter,
                           float *numbers) YK_MUST_USE;

#endif
