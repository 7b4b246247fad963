/*
 * Weights: loads and saves the parameters of a store in Hugging Face format.
 *
 * The folder of a model contains config.json and model.safetensors, or several files with an index.
 * The folder of an adapter contains adapter_config.json and adapter_model.safetensors, as in PEFT.
 */
#ifndef YK_NN_WEIGHTS_WEIGHTS_H
#define YK_NN_WEIGHTS_WEIGHTS_H

#include "base/status.h"
#include "nn/store/parameter_store.h"

#include <stdint.h>

/*
 * Loads every parameter of the model, but no adapters, from a file or folder. Any floating-point
 * type is converted. Fails if a tensor is missing or has another shape. Tensors that the model does
 * not have are listed in a note. Copies of a tied tensor, such as a tied head, may be missing; if
 * present, they must be equal.
 */
yk_status yk_weights_load(struct yk_parameter_store *store, const char *path) YK_MUST_USE;

/*
 * Saves the model into the existing `folder`: config.json, and model.safetensors in the precision
 * of the training, or several files of at most `max_bytes` with an index (0: one file). `merged`:
 * adapters are added to the weights; else they are left out.
 */
yk_status yk_weights_save(const struct yk_parameter_store *store, const char *folder,
                          uint64_t max_bytes, bool merged) YK_MUST_USE;

/* Loads the adapter in `folder`. Its rank, alpha and modules must equal those of the net. */
yk_status yk_adapter_load(struct yk_parameter_store *store, const char *folder) YK_MUST_USE;
/* Saves the adapter. `base` is the name or path of the base model; may be NULL. */
yk_status yk_adapter_save(const struct yk_parameter_store *store, const char *folder,
                          const char *base) YK_MUST_USE;

#endif
