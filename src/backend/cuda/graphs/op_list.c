#include "backend/cuda/graphs/cuda_graph.h"

#include "backend/cuda/device.h"

#include <string.h>

/* Precedes every op in a list. */
struct heading {
    int32_t kind;
    int32_t bytes;
};

/* ---- the same bytes for the same work ---- */

/* Without this builtin, the padding of equal ops may differ. Then fewer lists are recognised. */
#if defined __has_builtin
#if __has_builtin(__builtin_clear_padding)
#define CLEAR_PADDING(op) __builtin_clear_padding(op)
#endif
#endif
#ifndef CLEAR_PADDING
#define CLEAR_PADDING(op) (void)(op)
#endif

#define CLEAR(KIND, name, function)                                                                \
    case YK_CUDA_OP_##KIND:                                                                        \
        CLEAR_PADDING((struct yk_##name##_op *)op);                                                \
        break;

static void clear_padding(enum yk_cuda_op_kind kind, void *op)
{
    switch (kind) {
    case YK_CUDA_OP_COPY_OR_CLEAR:
        break;
        YK_OPS_FOR_EACH(CLEAR)
    }
}

/* With a rate of 0 the sample numbers change in every step but have no effect. */
static void normalise_dropout(struct yk_dropout_options *dropout)
{
    if (dropout->rate == 0) {
        memset(dropout, 0, sizeof *dropout);
    }
}

static void normalise(enum yk_cuda_op_kind kind, void *op)
{
    clear_padding(kind, op);
    if (kind == YK_CUDA_OP_ATTENTION) {
        normalise_dropout(&((struct yk_attention_op *)op)->dropout);
    } else if (kind == YK_CUDA_OP_ATTENTION_BACKWARD) {
        normalise_dropout(&((struct yk_attention_backward_op *)op)->forward.dropout);
    } else if (kind == YK_CUDA_OP_DROPOUT) {
        normalise_dropout(&((struct yk_dropout_op *)op)->dropout);
    }
}

bool yk_cuda_op_list_add(struct yk_cuda_op_list *list, enum yk_cuda_op_kind kind, const void *op,
                         size_t bytes)
{
    const struct heading heading = {(int32_t)kind, (int32_t)bytes};
    if (sizeof heading + bytes > YK_CUDA_OP_LIST_BYTES - list->length) {
        return false;
    }
    char *at = list->bytes + list->length;
    memcpy(at, &heading, sizeof heading);
    memcpy(at + sizeof heading, op, bytes);
    normalise(kind, at + sizeof heading);
    list->length += sizeof heading + bytes;
    list->count++;
    return true;
}

/* ---- run ---- */

/* Ops follow each other without gaps, so every size must be a multiple of the alignment. */
#define KEEPS_ALIGNED(KIND, name, function)                                                        \
    _Static_assert(sizeof(struct yk_##name##_op) % sizeof(int64_t) == 0 &&                         \
                       _Alignof(struct yk_##name##_op) <= sizeof(int64_t),                         \
                   "ops stay aligned in a list");
YK_OPS_FOR_EACH(KEEPS_ALIGNED)

static void run_bytes(struct yk_backend_lane *lane, const struct yk_cuda_copy_or_clear_op *bytes)
{
    if (bytes->from) {
        yk_cuda_lane_enqueue_copy(lane, bytes->to, bytes->from, bytes->count);
    } else {
        yk_cuda_lane_enqueue_clear(lane, bytes->to, bytes->count);
    }
}

#define RUN(KIND, name, function)                                                                  \
    case YK_CUDA_OP_##KIND:                                                                        \
        yk_cuda_##function(lane, op);                                                              \
        break;

static void run_op(struct yk_backend_lane *lane, enum yk_cuda_op_kind kind, const void *op)
{
    switch (kind) {
    case YK_CUDA_OP_COPY_OR_CLEAR:
        run_bytes(lane, op);
        break;
        YK_OPS_FOR_EACH(RUN)
    }
}

void yk_cuda_op_list_enqueue(const struct yk_cuda_op_list *list, struct yk_backend_lane *lane)
{
    for (size_t at = 0; at < list->length;) {
        struct heading heading;
        memcpy(&heading, list->bytes + at, sizeof heading);
        at += sizeof heading;
        run_op(lane, (enum yk_cuda_op_kind)heading.kind, list->bytes + at);
        at += (size_t)heading.bytes;
    }
}
