/*
 * Weights: loads and saves the parameters of a store in Hugging Face format.
 *
 * The folder of a model contains config.json and model.safetensors, or several .safetensors files
 * with an index. The folder of an adapter contains adapter_config.json and
 * adapter_model.safetensors, as PEFT writes them.
 */
#ifndef YK_NN_WEIGHTS_WEIGHTS_H
#define YK_NN_WEIGHTS_WEIGHTS_H

#include "base/status.h"
#include "nn/store/parameter_store.h"

#include <stdint.h>

/*
 * Loads every parameter of the model, but no adapters, from a file or folder. Converts from any
 * floating-point type. Fails if a tensor has the wrong shape or a number that is not finite, or if
 * a tensor is missing that is not optional. Tensors that the model does not have are ignored; a
 * message names some of them. The file may also contain copies of tied tensors, such as the
 * weights of a tied head. A copy must equal the original.
 */
yk_status yk_weights_load(struct yk_parameter_store *store, const char *path) YK_MUST_USE;

/*
 * Saves the model into the existing `folder`: config.json, and model.safetensors in the precision
 * of the training run. If `max_bytes` is not 0, a larger model is written as several files with an
 * index. Each file has at most `max_bytes`, unless a single tensor is larger. If `merged` is true,
 * adds the adapters to the weights. Otherwise leaves the adapters out.
 */
yk_status yk_weights_save(const struct yk_parameter_store *store, const char *folder,
                          uint64_t max_bytes, bool merged) YK_MUST_USE;

/* Loads the adapter in `folder`. Its rank, alpha and modules must equal those of the net's
 * adapters. */
yk_status yk_adapter_load(struct yk_parameter_store *store, const char *folder) YK_MUST_USE;
/* Saves the adapter into `folder`. `base` is the name or path of the base model; it may be NULL. */
yk_status yk_adapter_save(const struct yk_parameter_store *store, const char *folder,
                          const char *base) YK_MUST_USE;

#endif
