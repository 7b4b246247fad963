/*
 * Comm: how the ranks of a run exchange numbers, as one table of functions.
 *
 *   comm.h          the table
 *   self, staged    comms: for one rank alone, and for devices through the memory of the host
 *   mpi/, nccl/     comms as plug-ins, which export their table as `yk_comm_plugin`; load opens one
 *   ranks           a world that was joined, with the group of all
 *   exchange        what ranks exchange between steps: sums, texts, failures, clocks
 *   elements        numbers added and converted on the host
 *   failure         the first failure of a world
 *   rendezvous/     how ranks without MPI come together
 *   watch/          which rank is to blame when exchanges hang
 *
 * A world is all ranks of the run; a group is some of them, in an order of its own. Every exchange
 * is enqueued on the world's comm lane and runs later, in its turn there. Over MPI that is on the
 * lane's thread, which is the only one that ever calls the library underneath, and messages go out
 * in blocks, so that a lane never holds a link for long. Ranks must enqueue the exchanges of a
 * group in one order, and sends in the order of the receives that they match. One thread at a time
 * enqueues.
 *
 * An exchange cannot fail when it is enqueued. A failure afterwards stays with the world, later
 * exchanges then do nothing, and check() returns it. The record of an exchange must stay as it is
 * until it has run.
 */
#ifndef YK_COMM_COMM_H
#define YK_COMM_COMM_H

#include "backend/backend.h"
#include "base/precision.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_COMM_ABI = 2,
    /* CTAs of a device that a comm may occupy whose messages go from there: while one waits for a
     * link, computation lacks it. YOKE_NCCL_CTAS sets another number. */
    YK_COMM_MAX_CTAS = 2,
};

struct yk_comm_world; /* opaque; the comm's own */
struct yk_comm_group;
struct yk_ranks;

/* How ranks that cannot reach each other yet come together: rank 0's bytes become those of all. */
struct yk_comm_bootstrap {
    int32_t rank;
    int32_t size; /* ranks */
    /* All ranks call it, those as well that have failed before: `mine` is what this rank has come
     * to, and a failure of its own is returned to it. Others fail as well, at once where they can
     * be reached, or when they have waited for it in vain. */
    yk_status (*share)(void *user, yk_status mine, void *bytes, size_t size);
    void *user;
};

struct yk_comm_options {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane; /* the comm lane */
    size_t block_bytes;           /* messages are cut to this; 0: as the comm likes best */
    const struct yk_comm_bootstrap *bootstrap; /* NULL: the comm finds the ranks by itself, as MPI
                                              does; needed until open() returns */
    const struct yk_ranks *through; /* of comm/staged: the world that carries its messages */
};

enum yk_comm_type {
    YK_COMM_FP32,
    YK_COMM_BF16,
    YK_COMM_FP16,
    YK_COMM_FP64,
};

/* numbers (count) = the sum of every member's. */
struct yk_comm_all_reduce {
    struct yk_comm_group *group;
    void *numbers;
    int64_t count;
    enum yk_comm_type type;
    bool wide; /* 16-bit numbers are summed and sent as fp32, and rounded once */
};

/* whole[firsts[i] .. firsts[i + 1]) = member i's `own`; elements of `size` bytes. */
struct yk_comm_all_gather {
    struct yk_comm_group *group;
    const void *own; /* may be the place in `whole` itself */
    void *whole;
    const int64_t *firsts; /* (members + 1); a member may have none */
    size_t size;
};

/* own = the sum of every member's whole[firsts[me] .. firsts[me + 1]). `whole` may be changed. */
struct yk_comm_reduce_scatter {
    struct yk_comm_group *group;
    void *whole;
    void *own;
    bool added;            /* to what is in `own` already */
    const int64_t *firsts; /* (members + 1) */
    enum yk_comm_type type;
    bool wide;
};

/* To or from one rank of the world. */
struct yk_comm_message {
    struct yk_comm_world *world;
    void *bytes;
    size_t size; /* both sides say the same */
    int32_t peer;
    int32_t number; /* which message it is: both sides say the same; at least 0 */
};

/* The bytes of member `from` to all. */
struct yk_comm_broadcast {
    struct yk_comm_group *group;
    void *bytes;
    size_t size;
    int32_t from;
};

struct yk_comm {
    const char *name; /* "self", "mpi", "nccl" */
    int32_t abi;      /* YK_COMM_ABI */

    /* Joins the world: all its ranks call it, and it waits for them. */
    yk_status (*open)(const struct yk_comm_options *options, struct yk_comm_world **out);
    /* Leaves it, waiting for the others unless something went wrong. NULL is fine. */
    void (*close)(struct yk_comm_world *world);
    int32_t (*rank)(const struct yk_comm_world *world);
    int32_t (*size)(const struct yk_comm_world *world);
    /* "Open MPI 4.1.4 over shared memory". */
    void (*describe)(const struct yk_comm_world *world, struct yk_text *out);

    /* All ranks of the world call it, in one order, and wait for it; `out` is NULL for those that
     * are not in `ranks`. */
    yk_status (*group_create)(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                              struct yk_comm_group **out);
    void (*group_destroy)(struct yk_comm_group *group); /* NULL is fine */

    void (*all_reduce)(const struct yk_comm_all_reduce *op);
    void (*all_gather)(const struct yk_comm_all_gather *op);
    void (*reduce_scatter)(const struct yk_comm_reduce_scatter *op);
    void (*broadcast)(const struct yk_comm_broadcast *op);
    void (*send)(const struct yk_comm_message *op);
    void (*recv)(const struct yk_comm_message *op);

    /* What has gone wrong so far; any thread. */
    yk_status (*check)(const struct yk_comm_world *world);
    /* Ends every rank of the world with this exit code, as soon as that can be done; any thread,
     * and it may return before this process ends. */
    void (*abort)(struct yk_comm_world *world, int code);
    /* Or NULL: what waits for other ranks leaves the device, so that this process can end without
     * harm to others there. Nothing is exchanged afterwards; any thread, and it may take seconds.
     */
    void (*let_go)(struct yk_comm_world *world);
};

/* What a table says of the world, where its file calls the functions `open_world`, `close_world`,
 * `rank_of`, `size_of`, `describe`, `check` and `end_all`. */
#define YK_COMM_WORLD_ENTRIES                                                                      \
    .abi = YK_COMM_ABI, .open = open_world, .close = close_world, .rank = rank_of,                 \
    .size = size_of, .describe = describe, .check = check, .abort = end_all

/* And of what it exchanges, where these functions are called `prefix`_reduce and so on. */
#define YK_COMM_OPS(prefix)                                                                        \
    .all_reduce = prefix##_all_reduce, .all_gather = prefix##_all_gather,                          \
    .reduce_scatter = prefix##_reduce_scatter, .broadcast = prefix##_broadcast,                    \
    .send = prefix##_send, .recv = prefix##_recv

/* One rank alone: sums and gathers are what it has itself. */
extern const struct yk_comm yk_comm_self;

static inline enum yk_comm_type yk_comm_type_of(enum yk_precision precision)
{
    return precision == YK_PRECISION_BF16   ? YK_COMM_BF16
           : precision == YK_PRECISION_FP16 ? YK_COMM_FP16
                                            : YK_COMM_FP32;
}

/* Of all but fp64. */
static inline enum yk_precision yk_comm_type_precision(enum yk_comm_type type)
{
    return type == YK_COMM_BF16   ? YK_PRECISION_BF16
           : type == YK_COMM_FP16 ? YK_PRECISION_FP16
                                  : YK_PRECISION_FP32;
}

/* Bytes of a number. */
static inline size_t yk_comm_type_bytes(enum yk_comm_type type)
{
    return type == YK_COMM_FP64 ? 8 : type == YK_COMM_FP32 ? 4 : 2;
}

#endif
