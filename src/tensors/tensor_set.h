/*
 * Tensor set: the weights of a model, stored in one or more files. A set is opened from one
 * .safetensors file, or from a folder. In a folder, the first of these files that exists is used:
 *   model.safetensors              all weights
 *   model.safetensors.index.json   an index; its weight_map names the file of each tensor
 *   adapter_model.safetensors      a LoRA adapter
 * If there is an index, the set consists of the tensors that the index names. A set owns its files.
 * Any number of threads may read from one set.
 */
#ifndef YK_TENSORS_TENSOR_SET_H
#define YK_TENSORS_TENSOR_SET_H

#include "base/arena.h"
#include "base/name_index.h"
#include "base/status.h"
#include "tensors/safetensors.h"

#include <stdint.h>

/* The file and the entry of a tensor, which are the first two arguments of
 * yk_safetensors_read_tensor_range(). */
struct yk_tensor_location {
    const struct yk_safetensors_file *file;
    const struct yk_tensor_file_entry *entry;
};

/* Callers must not change the members. */
struct yk_tensor_set {
    const char *path; /* path that the set was opened with */
    struct yk_safetensors_file **files;
    int32_t file_count;
    struct yk_tensor_location *locations; /* (count): one for each tensor */
    int32_t count;

    struct yk_arena *arena;      /* owns this struct and the paths */
    struct yk_name_index *names; /* finds the index in `locations` by the name of the tensor */
    int32_t file_capacity;
    int32_t capacity; /* allocated length of `locations` */
};

yk_status yk_tensor_set_open(const char *path, struct yk_tensor_set **out) YK_MUST_USE;
/* Opens `count` files of a folder as one set. Fails if two files contain the same tensor. */
yk_status yk_tensor_set_open_files(const char *folder, const char *const *names, int32_t count,
                                   struct yk_tensor_set **out) YK_MUST_USE;
void yk_tensor_set_close(struct yk_tensor_set *set);

/* Returns the location of the tensor called `name`, or NULL if the set does not have this
 * tensor. */
const struct yk_tensor_location *yk_tensor_set_find_tensor(const struct yk_tensor_set *set,
                                                           const char *name);

/* Like yk_tensor_set_find_tensor(), but fails if the tensor is missing. The message suggests the
 * most similar name. */
yk_status yk_tensor_set_find_tensor_or_fail(const struct yk_tensor_set *set, const char *name,
                                            const struct yk_tensor_location **out) YK_MUST_USE;

#endif
