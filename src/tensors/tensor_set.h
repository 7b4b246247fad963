/*
 * Tensor set: the weights of a model, in one file or several. A path is one .safetensors file, or a
 * folder with (the first that is there)
 *   model.safetensors              all weights,
 *   model.safetensors.index.json   whose weight_map says which tensor is in which file,
 *   adapter_model.safetensors      a LoRA adapter.
 * With an index, the tensors of the set are those it names. A set owns its files. Any number of
 * threads may read from one.
 */
#ifndef YK_TENSORS_TENSOR_SET_H
#define YK_TENSORS_TENSOR_SET_H

#include "base/status.h"
#include "tensors/safetensors.h"

#include <stdint.h>

struct yk_tensor_set;

/* Where a tensor is: read it with yk_safetensors_read(place->file, place->entry, …). */
struct yk_tensor_location {
    const struct yk_safetensors *file;
    const struct yk_tensor_entry *entry;
};

yk_status yk_tensor_set_open(const char *path, struct yk_tensor_set **out) YK_MUST_USE;
/* All tensors of `count` files of a folder; none may be in two of them. */
yk_status yk_tensor_set_open_files(const char *folder, const char *const *names, int32_t count,
                                   struct yk_tensor_set **out) YK_MUST_USE;
void yk_tensor_set_close(struct yk_tensor_set *set);

/* The path it was opened with. */
const char *yk_tensor_set_path(const struct yk_tensor_set *set);

int32_t yk_tensor_set_count(const struct yk_tensor_set *set);
const struct yk_tensor_location *yk_tensor_set_at(const struct yk_tensor_set *set, int32_t number);

/* NULL when there is no such tensor. */
const struct yk_tensor_location *yk_tensor_set_find(const struct yk_tensor_set *set,
                                                    const char *name);

/* The same, where it has to be there: a refusal offers the nearest name. */
yk_status yk_tensor_set_require(const struct yk_tensor_set *set, const char *name,
                                const struct yk_tensor_location **out) YK_MUST_USE;

int32_t yk_tensor_set_file_count(const struct yk_tensor_set *set);
const struct yk_safetensors *yk_tensor_set_file_at(const struct yk_tensor_set *set, int32_t number);

#endif
