/*
 * Shard: the file of one rank in a checkpoint of several, and the names of what is in it.
 *
 *   shard-00002-of-00004.safetensors   of rank 1 of 4
 *
 * It holds slices of parameters as tensors of one dimension, named by what they are, the parameter,
 * and where in it they begin:
 *
 *   weights.transformer.wte.weight@4096   F32: numbers 4096 … of a trained parameter
 *   moment1.NAME@4096, moment2.NAME@4096  F32: the optimizer's state of these numbers
 *   bf16.NAME@8192                        U8: bytes 8192 … of a frozen one that is stored so; also
 *                                         fp32, fp16 and nf4
 *
 * The slices of all shards together are every parameter once. Pure functions; any thread.
 */
#ifndef YK_TRAIN_CHECKPOINT_SHARD_H
#define YK_TRAIN_CHECKPOINT_SHARD_H

#include "base/precision.h"
#include "base/status.h"
#include "base/text.h"
#include "nn/store/store.h"
#include "tensors/safetensors_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_SHARD_MAX_RANKS = 4096 /* ranks */
};

enum yk_shard_kind {
    YK_SHARD_WEIGHTS,
    YK_SHARD_MOMENT1,
    YK_SHARD_MOMENT2,
    YK_SHARD_FP32,
    YK_SHARD_BF16,
    YK_SHARD_FP16,
    YK_SHARD_NF4,
    YK_SHARD_KINDS,
};

/* What the name of a slice says. */
struct yk_shard_slice {
    enum yk_shard_kind kind;
    const char *parameter; /* in the name: not ended by a zero */
    size_t parameter_length;
    int64_t first;
};

/* Adds the file's name; ranks are counted from 0. */
void yk_shard_add_file_name(struct yk_text *out, int32_t rank, int32_t ranks);
/* False where it is not exactly such a name. */
bool yk_shard_read_file_name(const char *name, int32_t *rank, int32_t *ranks);

void yk_shard_add_slice_name(struct yk_text *out, enum yk_shard_kind kind, const char *parameter,
                             int64_t first);
bool yk_shard_read_slice_name(const char *name, struct yk_shard_slice *out);

/* "weights", "nf4" … */
const char *yk_shard_kind_name(enum yk_shard_kind kind);

/* Whether slices are bytes of a frozen parameter. */
static inline bool yk_shard_is_frozen(enum yk_shard_kind kind)
{
    return kind >= YK_SHARD_FP32;
}

/* What a store calls numbers of this kind. */
static inline enum yk_state_tensor yk_shard_state(enum yk_shard_kind kind)
{
    return kind == YK_SHARD_MOMENT1   ? YK_STATE_MOMENT1
           : kind == YK_SHARD_MOMENT2 ? YK_STATE_MOMENT2
                                      : YK_STATE_WEIGHTS;
}

/* How a frozen parameter of the net is stored. */
enum yk_shard_kind yk_shard_kind_of(const struct yk_net *net, const struct yk_parameter *parameter);

/* Numbers, or bytes of a frozen one, that a parameter of `count` numbers has in all. */
int64_t yk_shard_element_count(enum yk_shard_kind kind, int64_t count);

/* A number of trained ones has 4 bytes; bytes have one. */
static inline int64_t yk_shard_element_bytes(enum yk_shard_kind kind)
{
    return yk_shard_is_frozen(kind) ? 1 : (int64_t)sizeof(float);
}

/* Writes what `saves` (L) says of every layer, which the store must keep: weights and optimizer
 * state of trained parameters, and frozen ones as they are stored, unless they are saved elsewhere
 * (`frozen` is false). The file is synced. */
yk_status yk_shard_write(const struct yk_store *store, const struct yk_partition *saves,
                         bool frozen, const char *path,
                         struct yk_safetensors_written *out) YK_MUST_USE;

#endif
