/*
 * Shard: the file of one rank in a checkpoint that several ranks save together.
 *
 *   shard-00002-of-00004.safetensors   the shard of rank 1 of 4
 *
 * A shard contains slices of parameters as one-dimensional tensors. The name of a tensor consists
 * of its kind, the name of the parameter, and the first element of the slice:
 *
 *   weights.transformer.wte.weight@4096   F32: a trained parameter from element 4096 on
 *   moment1.NAME@4096, moment2.NAME@4096  F32: the optimizer state of the parameter NAME
 *   bf16.NAME@8192                        U8: a frozen bf16 parameter from byte 8192 on
 *
 * The kinds fp32, fp16 and nf4 are like bf16. All shards together contain every element exactly
 * once. The functions that format or parse names are pure.
 */
#ifndef YK_TRAIN_CHECKPOINT_SHARD_H
#define YK_TRAIN_CHECKPOINT_SHARD_H

#include "base/precision.h"
#include "base/status.h"
#include "base/text.h"
#include "nn/store/parameter_store.h"
#include "tensors/safetensors_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_SHARD_MAX_RANKS = 4096,
    YK_SHARD_FILE_NAME_SIZE = 64,
};

enum yk_shard_tensor_kind {
    YK_SHARD_WEIGHTS,
    YK_SHARD_MOMENT1,
    YK_SHARD_MOMENT2,
    YK_SHARD_FP32,
    YK_SHARD_BF16,
    YK_SHARD_FP16,
    YK_SHARD_NF4,
    YK_SHARD_TENSOR_KIND_COUNT,
};

/* The parsed name of a slice. */
struct yk_shard_slice_name {
    enum yk_shard_tensor_kind kind;
    const char *parameter; /* points into the name; not zero-terminated */
    size_t parameter_length;
    int64_t first;
};

/* Formats the name of the shard file of a rank. Ranks are counted from 0, but file names count from
 * 1. */
void yk_shard_format_file_name(int32_t rank, int32_t ranks, char out[YK_SHARD_FILE_NAME_SIZE]);
/* Parses the name of a shard file. Returns false if `name` is not the name of a shard file. */
bool yk_shard_parse_file_name(const char *name, int32_t *rank, int32_t *ranks);

void yk_shard_append_slice_name(struct yk_text *out, enum yk_shard_tensor_kind kind,
                                const char *parameter, int64_t first);
bool yk_shard_parse_slice_name(const char *name, struct yk_shard_slice_name *out);

/* Returns "weights", "nf4" … */
const char *yk_shard_tensor_kind_name(enum yk_shard_tensor_kind kind);

/* Returns whether the elements are bytes of a frozen parameter. Otherwise they are fp32 numbers. */
static inline bool yk_shard_tensor_kind_is_frozen(enum yk_shard_tensor_kind kind)
{
    return kind >= YK_SHARD_FP32;
}

/* Returns the state tensor of the store that corresponds to a kind. */
static inline enum yk_state_tensor
yk_shard_tensor_kind_to_state_tensor(enum yk_shard_tensor_kind kind)
{
    return kind == YK_SHARD_MOMENT1   ? YK_STATE_MOMENT1
           : kind == YK_SHARD_MOMENT2 ? YK_STATE_MOMENT2
                                      : YK_STATE_WEIGHTS;
}

/* Returns the kind for the format of a frozen parameter. */
enum yk_shard_tensor_kind
yk_shard_tensor_kind_of_frozen_parameter(const struct yk_net *net,
                                         const struct yk_parameter *parameter);

/* Returns the number of elements of a whole parameter of `count` numbers that is stored as tensors
 * of this kind. For frozen kinds this is the number of bytes. */
int64_t yk_shard_tensor_kind_element_count(enum yk_shard_tensor_kind kind, int64_t count);

static inline int64_t yk_shard_tensor_kind_element_bytes(enum yk_shard_tensor_kind kind)
{
    return yk_shard_tensor_kind_is_frozen(kind) ? 1 : (int64_t)sizeof(float);
}

/* Writes a shard and syncs it to disk. saves[l] is the part of layer l that the shard contains. The
 * store must hold these parts. The shard contains the weights and the optimizer state of trained
 * parameters, and the frozen parameters if `frozen` is true. */
yk_status yk_shard_write_file(const struct yk_parameter_store *store,
                              const struct yk_layer_partition *saves, bool frozen, const char *path,
                              struct yk_safetensors_size_and_hash *out) YK_MUST_USE;

#endif
