/*
 * Exchanges: the records of all that a rank's program gathers, scatters and reduces, made once and
 * put on the comm lane again and again.
 *
 * They point into the store and into the memory of train/buffers, which must stay where they are.
 */
#ifndef YK_TRAIN_EXCHANGES_H
#define YK_TRAIN_EXCHANGES_H

#include "base/arena.h"
#include "base/status.h"
#include "comm/ranks.h"
#include "nn/store.h"
#include "program/program.h"
#include "train/buffers.h"

#include <stdbool.h>

/* Records of one op follow each other. */
struct yk_exchange_span {
    int32_t first;
    int32_t count;
};

struct yk_exchanges {
    const struct yk_comm *comm;
    struct yk_comm_gather *gathers;
    struct yk_comm_scatter *scatters;
    struct yk_comm_reduce *reduces;
    int32_t gather_count;
    int32_t scatter_count;
    int32_t reduce_count;
    struct yk_exchange_span *of;   /* (ops) in the records of the op's kind */
    struct yk_comm_group **groups; /* (groups of the plan); NULL: alone, or not in it */
    int32_t group_count;
};

struct yk_exchanges_wish {
    const struct yk_program *program;
    const struct yk_ranks *ranks;
    const struct yk_store *store;
    const struct yk_buffers *buffers;
    char *memory; /* that the buffers lie in */
    bool wide;    /* 16-bit gradients are summed as fp32 */
};

/* All ranks make theirs at the same time: groups are made together. */
yk_status yk_exchanges_make(const struct yk_exchanges_wish *wish, struct yk_arena *arena,
                            struct yk_exchanges *out) YK_MUST_USE;
void yk_exchanges_end(struct yk_exchanges *exchanges);

/* Puts an op that gathers, scatters or reduces on the comm lane. */
void yk_exchanges_put(const struct yk_exchanges *exchanges, const struct yk_program_rank *list,
                      int32_t op);

/* The order in which a store should keep gradients, so that a bucket's lie behind each other: (L)
 * layers, in the arena. */
yk_status yk_exchanges_order(const struct yk_program *program, struct yk_arena *arena,
                             int32_t **out) YK_MUST_USE;

#endif
