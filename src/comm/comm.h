/*
 * Comm backend: a table of functions for collectives and messages between ranks.
 *
 *   comm.h            the table; load.c opens a plug-in
 *   self              a comm backend for a single rank
 *   host_staging      a comm backend for device memory; it copies through host memory
 *   mpi/, nccl/       comm backends as plug-ins; each exports its table as `yk_comm_plugin`
 *   communicator      an open comm backend: its world and the group of all ranks
 *   host_collective   blocking collectives on host memory: sums, texts, failures, clocks
 *   host_arithmetic   adds and converts arrays of numbers on the host
 *   part_offsets      divides arrays among the members of a group
 *   first_failure     the first failure of a world
 *   rendezvous/       how ranks without MPI find each other
 *   watchdog/         finds the rank that failed or hangs
 *
 * A world is all ranks of the run. A group is a list of some of these ranks; a member is an index
 * into that list. Collectives and messages are asynchronous: they are enqueued on the comm lane of
 * the world, and run in the order in which they were enqueued (a lane is a queue of ops,
 * backend/backend.h). All ranks must enqueue the collectives of a group in the same order. Between
 * two ranks, receives must be enqueued in the order of the matching sends. Only one thread at a
 * time may enqueue ops. The MPI backend calls MPI on the lane's thread, and splits messages into
 * blocks so that no message occupies a link for long.
 *
 * Enqueueing cannot fail. If an op fails later, the world stores the failure, check() returns the
 * failure, and all later ops do nothing. The struct that describes an op must not change until the
 * op has run.
 */
#ifndef YK_COMM_COMM_H
#define YK_COMM_COMM_H

#include "backend/backend.h"
#include "base/precision.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_COMM_ABI_VERSION = 3,
    /* Maximum number of thread blocks (CTAs) that NCCL may use on a device. A thread block that
     * waits for a link is not available for computation. The variable YOKE_NCCL_CTAS overrides this
     * number. */
    YK_COMM_MAX_NCCL_CTAS = 2,
};

struct yk_comm_world; /* opaque; each comm backend defines its own */
struct yk_comm_group;
struct yk_communicator;

/* Broadcasts bytes of rank 0 before the world is open, for backends such as NCCL. */
struct yk_comm_bootstrap {
    int32_t rank;
    int32_t size; /* number of ranks */
    /* Broadcasts bytes of rank 0 to all ranks. The argument `size` is the number of bytes. All
     * ranks must call this function, even a rank that has already failed. `mine` is the status of
     * this rank so far. If it is a failure, share() fails on all ranks. With a rendezvous, the
     * other ranks notice this only after a timeout. */
    yk_status (*share)(void *user, yk_status mine, void *bytes, size_t size);
    void *user;
};

struct yk_comm_options {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane; /* the comm lane */
    size_t block_bytes;           /* maximum size of a block; 0 means: the default of the backend */
    /* NULL for backends that need no bootstrap (MPI). Must stay valid until open() returns. */
    const struct yk_comm_bootstrap *bootstrap;
    const struct yk_communicator *host_communicator; /* only for yk_comm_host_staging */
};

enum yk_comm_data_type {
    YK_COMM_FP32,
    YK_COMM_BF16,
    YK_COMM_FP16,
    YK_COMM_FP64,
};

/* Replaces each of the `count` numbers with its sum over all members. */
struct yk_comm_all_reduce {
    struct yk_comm_group *group;
    void *numbers;
    int64_t count;
    enum yk_comm_data_type type;
    bool sum_in_fp32; /* send and sum 16-bit numbers as fp32, and round only the result */
};

/* Copies `own` of every member i to part i of `whole` on all members. Part i consists of the
 * elements offsets[i] to offsets[i + 1] - 1. It may be empty. */
struct yk_comm_all_gather {
    struct yk_comm_group *group;
    const void *own; /* may point to this member's part of `whole` */
    void *whole;
    const int64_t *offsets; /* (members + 1) first element of each part, and the end */
    size_t element_bytes;   /* bytes of one element */
};

/* Adds part i of `whole` over all members, and stores the sum in `own` of member i. Part i consists
 * of the elements offsets[i] to offsets[i + 1] - 1. The contents of `whole` are undefined
 * afterwards. */
struct yk_comm_reduce_scatter {
    struct yk_comm_group *group;
    void *whole;
    void *own;
    bool accumulate;        /* add the sum to `own` instead of overwriting it */
    const int64_t *offsets; /* (members + 1) first element of each part, and the end */
    enum yk_comm_data_type type;
    bool sum_in_fp32; /* send and sum 16-bit numbers as fp32, and round only the result */
};

/* A send to one rank, or a receive from one rank. */
struct yk_comm_send_recv {
    struct yk_comm_world *world;
    void *bytes;
    size_t size;  /* number of bytes; the same on both ranks */
    int32_t peer; /* rank in the world */
    int32_t tag;  /* tag of the message; at least 0, the same on both ranks */
};

/* Copies the bytes of member `root` to all members. */
struct yk_comm_broadcast {
    struct yk_comm_group *group;
    void *bytes;
    size_t size;
    int32_t root;
};

struct yk_comm_backend {
    const char *name; /* "self", "staged", "mpi", "nccl" */
    int32_t abi;      /* YK_COMM_ABI_VERSION */

    /* Connects the ranks. All ranks must call open(). It waits until all of them have called it. */
    yk_status (*open)(const struct yk_comm_options *options, struct yk_comm_world **out);
    /* Waits for the other ranks, unless the world has failed. Then disconnects the ranks. Accepts
     * NULL. */
    void (*close)(struct yk_comm_world *world);
    void (*rank)(const struct yk_comm_world *world, int32_t *rank, int32_t *size);
    /* Appends a description. Example: "Open MPI 4.1.4, 4 ranks on one machine". */
    void (*describe)(const struct yk_comm_world *world, struct yk_text *out);

    /* Creates a group. All ranks of the world must create the same groups in the same order. A call
     * waits for the calls of the other ranks. `*out` is NULL on ranks that are not in `ranks`. */
    yk_status (*group_create)(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                              struct yk_comm_group **out);
    void (*group_destroy)(struct yk_comm_group *group); /* accepts NULL */

    void (*all_reduce)(const struct yk_comm_all_reduce *op);
    void (*all_gather)(const struct yk_comm_all_gather *op);
    void (*reduce_scatter)(const struct yk_comm_reduce_scatter *op);
    void (*broadcast)(const struct yk_comm_broadcast *op);
    void (*send)(const struct yk_comm_send_recv *op);
    void (*recv)(const struct yk_comm_send_recv *op);

    /* Returns the first failure of the world, or YK_OK. Any thread may call it. */
    yk_status (*check)(const struct yk_comm_world *world);
    /* Ends the run on all ranks as soon as possible. MPI ends the processes of all ranks with this
     * exit code; the function may return before this process ends. NCCL only disconnects this rank,
     * so that the ops of the other ranks fail; the caller must end this process. Any thread may
     * call it. */
    void (*abort)(struct yk_comm_world *world, int code);
    /* Aborts the kernels on the device that wait for other ranks. Otherwise they could block other
     * users of the device after this process has ended. The world cannot be used afterwards. The
     * call may take seconds. Any thread may call it. NULL in backends without such kernels. */
    void (*release_device)(struct yk_comm_world *world);
};

/* Initialises the members of struct yk_comm_backend that concern the world. The file that uses the
 * macro must define the functions `open_world`, `close_world`, `get_rank`, `describe`, `check` and
 * `end_all`. */
#define YK_COMM_BACKEND_INIT_WORLD_FUNCTIONS                                                       \
    .abi = YK_COMM_ABI_VERSION, .open = open_world, .close = close_world, .rank = get_rank,        \
    .describe = describe, .check = check, .abort = end_all

/* Initialises the members for collectives and messages with the functions PREFIX_all_reduce,
 * PREFIX_all_gather and so on. */
#define YK_COMM_BACKEND_INIT_OPS(prefix)                                                           \
    .all_reduce = prefix##_all_reduce, .all_gather = prefix##_all_gather,                          \
    .reduce_scatter = prefix##_reduce_scatter, .broadcast = prefix##_broadcast,                    \
    .send = prefix##_send, .recv = prefix##_recv

/* A comm backend for a single rank. The result of a collective is the data of this rank. */
extern const struct yk_comm_backend yk_comm_self;

/*
 * A comm backend for device memory. It sends and receives through a second comm backend that needs
 * host memory, such as MPI: the backend of options.host_communicator. It is for ranks that have
 * nothing faster, such as two ranks on one GPU, or GPUs without NCCL. Buffers in host memory are
 * passed to the second backend directly.
 *
 * Device buffers are copied to the host in blocks, exchanged, and copied back, in order on the comm
 * lane of the device. While block k is exchanged, block k - 1 is copied back to the device and
 * block k + 1 is copied to the host. options.host_communicator must outlive the world. Until the
 * world is closed, no other code may enqueue ops on the lane of options.host_communicator.
 */
extern const struct yk_comm_backend yk_comm_host_staging;

/* Loads the comm backend from a plug-in file. The plug-in stays loaded until the process ends,
 * because MPI and NCCL cannot be unloaded. If loading fails, the error message says what to
 * install. */
yk_status yk_comm_load_plugin(const char *path, const struct yk_comm_backend **out) YK_MUST_USE;

enum {
    YK_FIRST_FAILURE_MESSAGE_SIZE = 1024
};

/* The first failure of a world, with its message, for comm backends. Initialise it to {0}. Later
 * failures are ignored. Any thread may set or check the failure. */
struct yk_first_failure {
    atomic_int state;
    yk_status status; /* `status` and `sentence` are valid if yk_first_failure_is_set() */
    char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE];
};

/* Sets the failure, unless one is set already. */
void yk_first_failure_set(struct yk_first_failure *failure, yk_status status, const char *format,
                          ...) YK_PRINTF_LIKE(3, 4);

bool yk_first_failure_is_set(const struct yk_first_failure *failure);

/* Fails with the status and the message that were set, or returns YK_OK if there is no failure. */
yk_status yk_first_failure_check(const struct yk_first_failure *failure) YK_MUST_USE;

static inline enum yk_comm_data_type yk_comm_data_type_from_precision(enum yk_precision precision)
{
    return precision == YK_PRECISION_BF16   ? YK_COMM_BF16
           : precision == YK_PRECISION_FP16 ? YK_COMM_FP16
                                            : YK_COMM_FP32;
}

/* `type` must not be fp64. */
static inline enum yk_precision yk_comm_data_type_to_precision(enum yk_comm_data_type type)
{
    return type == YK_COMM_BF16   ? YK_PRECISION_BF16
           : type == YK_COMM_FP16 ? YK_PRECISION_FP16
                                  : YK_PRECISION_FP32;
}

static inline size_t yk_comm_data_type_bytes(enum yk_comm_data_type type)
{
    return type == YK_COMM_FP64 ? 8 : type == YK_COMM_FP32 ? 4 : 2;
}

#endif
