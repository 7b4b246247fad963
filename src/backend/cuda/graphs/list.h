/*
 * Replay list: the ops of a range as bytes that can be compared. Equal ops give equal bytes:
 * padding is zeroed, and so is what an op does not read. A list belongs to one lane.
 */
#ifndef YK_BACKEND_CUDA_GRAPHS_LIST_H
#define YK_BACKEND_CUDA_GRAPHS_LIST_H

#include "backend/ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OP(NAME, name, what enqueues it) for every op of backend/ops.h. */
#define YK_REPLAY_OPS(OP)                                                                          \
    OP(MATMUL, matmul, yk_cuda_matmul)                                                             \
    OP(ATTENTION, attention, yk_cuda_attention)                                                    \
    OP(ATTENTION_BACKWARD, attention_backward, yk_cuda_attention_backward)                         \
    OP(NORM, norm, yk_cuda_norm)                                                                   \
    OP(NORM_BACKWARD, norm_backward, yk_cuda_norm_backward)                                        \
    OP(EMBEDDING, embedding, yk_cuda_embedding)                                                    \
    OP(EMBEDDING_BACKWARD, embedding_backward, yk_cuda_embedding_backward)                         \
    OP(ROTARY, rotary, yk_cuda_rotary)                                                             \
    OP(SWIGLU, swiglu, yk_cuda_swiglu)                                                             \
    OP(SWIGLU_BACKWARD, swiglu_backward, yk_cuda_swiglu_backward)                                  \
    OP(DROPOUT, dropout, yk_cuda_dropout)                                                          \
    OP(SUM_ROWS, sum_rows, yk_cuda_sum_rows)                                                       \
    OP(CROSS_ENTROPY, cross_entropy, yk_cuda_cross_entropy)                                        \
    OP(SUM_SQUARES, sum_squares, yk_cuda_sum_squares)                                              \
    OP(CLIP_NORM, clip_norm, yk_cuda_optimizer_clip_norm)                                          \
    OP(ADAMW, adamw, yk_cuda_optimizer_adamw)                                                      \
    OP(SGD, sgd, yk_cuda_optimizer_sgd)                                                            \
    OP(CAST, cast, yk_cuda_elementwise_cast)                                                       \
    OP(ADD, add, yk_cuda_elementwise_add)                                                          \
    OP(QUANTISE, quantise, yk_cuda_nf4_quantise)                                                   \
    OP(DEQUANTISE, dequantise, yk_cuda_prefetch_dequantise)

#define YK_REPLAY_KIND(CAPITALS, name, function) YK_REPLAY_##CAPITALS,
enum yk_replay_kind {
    YK_REPLAY_BYTES, /* struct yk_replay_bytes */
    YK_REPLAY_OPS(YK_REPLAY_KIND)
};
#undef YK_REPLAY_KIND

/* Bytes of the device that are copied, or cleared. */
struct yk_replay_bytes {
    void *to;
    const void *from; /* NULL: cleared */
    size_t count;
};

enum {
    YK_REPLAY_LIST_BYTES = 64 << 10, /* some 300 ops: more than a layer has */
};

struct yk_backend_lane;

struct yk_replay_list {
    char *bytes; /* (YK_REPLAY_LIST_BYTES), as malloc() aligns them */
    size_t length;
    int32_t count; /* of ops */
};

/* False where it does not fit, and then nothing was added. */
bool yk_replay_list_add(struct yk_replay_list *list, enum yk_replay_kind kind, const void *op,
                        size_t bytes);

/* Enqueues all of them. */
void yk_replay_list_run(const struct yk_replay_list *list, struct yk_backend_lane *lane);

#endif
