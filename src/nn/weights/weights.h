/*
 * Weights: a store's parameters to and from files as Hugging Face keeps them.
 *
 * A folder of a model holds config.json and model.safetensors, or several files with an index; that
 * of an adapter adapter_config.json and adapter_model.safetensors, as PEFT writes them.
 */
#ifndef YK_NN_WEIGHTS_WEIGHTS_H
#define YK_NN_WEIGHTS_WEIGHTS_H

#include "base/status.h"
#include "nn/store/store.h"

#include <stdint.h>

/*
 * Fills every parameter that is no adapter from a file or a folder. A tensor that is missing or of
 * another shape is named, with both shapes; those the model does not have are listed in a note.
 * Copies of a tied tensor, such as a tied head, may be missing or equal. Any floating type is read.
 */
yk_status yk_weights_load(struct yk_store *store, const char *path) YK_MUST_USE;

/*
 * Writes the model into `folder`, which exists: config.json, and model.safetensors in the precision
 * of the training; or several files of at most `max_bytes` (0: one file) with an index. Adapters
 * are left out, or added to the weights they adapt if `merged`.
 */
yk_status yk_weights_save(const struct yk_store *store, const char *folder, uint64_t max_bytes,
                          bool merged) YK_MUST_USE;

/* The adapter in `folder`: rank, alpha and target modules must be those of the net. */
yk_status yk_adapter_load(struct yk_store *store, const char *folder) YK_MUST_USE;
/* `base` is the name or path of the model that is adapted. */
yk_status yk_adapter_save(const struct yk_store *store, const char *folder,
                          const char *base) YK_MUST_USE;

#endif
