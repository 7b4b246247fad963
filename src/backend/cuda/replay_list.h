/*
 * Replay list: the ops of a range, one behind the other, as bytes that can be compared.
 *
 * Ops that ask for the same give the same bytes: what lies between the fields of a struct is
 * zeroed, and so is what an op does not look at. A list belongs to one lane.
 */
#ifndef YK_BACKEND_CUDA_REPLAY_LIST_H
#define YK_BACKEND_CUDA_REPLAY_LIST_H

#include "backend/ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OP(a part of names in capitals, the same in small, what puts it on a lane) for every op of
 * backend/ops.h. */
#define YK_REPLAY_OPS(OP)                                                                          \
    OP(MATMUL, matmul, yk_cuda_matmul)                                                             \
    OP(ATTEND, attend, yk_cuda_attend)                                                             \
    OP(ATTEND_BACK, attend_back, yk_cuda_attend_back)                                              \
    OP(NORMALISE, normalise, yk_cuda_normalise)                                                    \
    OP(NORMALISE_BACK, normalise_back, yk_cuda_normalise_back)                                     \
    OP(EMBED, embed, yk_cuda_embed)                                                                \
    OP(EMBED_BACK, embed_back, yk_cuda_embed_back)                                                 \
    OP(ROTATE, rotate, yk_cuda_rotate)                                                             \
    OP(GATE, gate, yk_cuda_gate)                                                                   \
    OP(GATE_BACK, gate_back, yk_cuda_gate_back)                                                    \
    OP(DROP, drop, yk_cuda_drop)                                                                   \
    OP(SUM_ROWS, sum_rows, yk_cuda_sum_rows)                                                       \
    OP(LOSE, lose, yk_cuda_lose)                                                                   \
    OP(SUM_SQUARES, sum_squares, yk_cuda_sum_squares)                                              \
    OP(JUDGE, judge, yk_cuda_judge)                                                                \
    OP(ADAMW, adamw, yk_cuda_adamw)                                                                \
    OP(SGD, sgd, yk_cuda_sgd)                                                                      \
    OP(CAST, cast, yk_cuda_cast)                                                                   \
    OP(ADD, add, yk_cuda_add)                                                                      \
    OP(QUANTISE, quantise, yk_cuda_quantise)                                                       \
    OP(DEQUANTISE, dequantise, yk_cuda_dequantise_ahead)

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

/* Puts all of them on the lane. */
void yk_replay_list_run(const struct yk_replay_list *list, struct yk_backend_lane *lane);

#endif
