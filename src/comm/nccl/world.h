/*
 * World: the insides of the comm over NCCL, shared by its sources.
 *
 * Exchanges are enqueued on the stream of the comm lane, by the one thread that uses the lane.
 * Memory of the device goes as it is. What is the host's, and 16-bit numbers that are summed as
 * fp32, go through the world's stage, a block at a time. An exchange is in blocks on all ranks or
 * on none: all have `whole`, or the numbers, in memory of one kind.
 *
 * NCCL's own waits (for ranks to meet, for a communicator to end) are calls with a deadline, on
 * threads that may be left behind, so that a rank that never comes is reported and not waited for.
 */
#ifndef YK_COMM_NCCL_WORLD_H
#define YK_COMM_NCCL_WORLD_H

#include "comm/comm.h"
#include "comm/elements.h"
#include "comm/failure.h"

#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    YK_NCCL_STAGE_BYTES = 16 << 20, /* of the device: a block to be exchanged */
    YK_NCCL_BOUNCE_BYTES = 4 << 20, /* of the host, near the device: a block from or to elsewhere */
    YK_NCCL_MAX_HOST_WORK = 1024,
};

/* Work of the host in its turn on the lane: memory copied, or doubles added. */
struct yk_nccl_host_work {
    void *to;
    const void *from;
    size_t bytes;
    bool adds;
};

struct yk_comm_world {
    struct yk_comm_options options;
    cudaStream_t stream;
    int32_t device; /* its number */
    int32_t rank;
    int32_t size;
    int32_t hosts; /* 0: not known */
    double timeout_s;
    ncclComm_t comm;
    struct yk_comm_group *groups; /* that have communicators of their own */
    char *stage;
    char *host_stage;
    struct yk_backend_event *event;
    struct yk_nccl_host_work host_work[YK_NCCL_MAX_HOST_WORK];
    atomic_size_t host_work_enqueued;
    atomic_size_t host_work_done;
    struct yk_failure failure;
    struct yk_comm_world *next_kept;

    pthread_t watcher;
    bool is_watched;
    bool leaving; /* under the lock of the list, which the watcher waits with */
    pthread_cond_t wake;
    pthread_mutex_t use;      /* held while NCCL is called to enqueue an exchange */
    pthread_mutex_t list;     /* held while the communicators are checked or change */
    atomic_bool aborted;      /* somebody ends the communicators, or has: nobody else may */
    atomic_bool gone;         /* it is done: no thread of NCCL's is left */
    atomic_bool is_abandoned; /* a thread was left behind that may use the world: it must stay */
};

struct yk_comm_group {
    struct yk_comm_world *world;
    ncclComm_t comm;
    int32_t members;
    int32_t me;
    bool is_all;          /* the world's communicator serves it */
    int64_t *firsts;      /* (members + 1), of a block */
    int64_t *byte_firsts; /* (members + 1), of parts counted in bytes */
    struct yk_comm_group *next;
};

/* ---- init.c ---- */

/* Rank 0's address becomes known to all; `mine` is what this rank has come to before. */
yk_status yk_nccl_init_share_id(const struct yk_comm_bootstrap *bootstrap, yk_status mine,
                                ncclUniqueId *out) YK_MUST_USE;
/* The world's communicator, of at most so many blocks of threads on the device. */
yk_status yk_nccl_init_communicator(struct yk_comm_world *world, const ncclUniqueId *id,
                                    int blocks) YK_MUST_USE;

/* ---- group.c ---- */

yk_status yk_nccl_group_create(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                               struct yk_comm_group **out) YK_MUST_USE;
void yk_nccl_group_destroy(struct yk_comm_group *group);

/* ---- call.c ---- */

/* Sets the failure to "nccl, doing: what NCCL says"; false. */
bool yk_nccl_call_fail(struct yk_comm_world *world, ncclResult_t result, const char *doing);

/* What NCCL may take long over, on a thread of its own. */
struct yk_nccl_call {
    ncclResult_t (*run)(struct yk_nccl_call *call);
    struct yk_comm_world *world;
    const char *doing; /* "meeting the other ranks" */
    ncclUniqueId id;   /* for the opening */
    ncclComm_t comm;   /* in and out */
    int32_t color;
    int32_t key;
    int32_t hosts; /* out */
};

enum yk_nccl_call_result {
    YK_NCCL_CALL_DONE,
    YK_NCCL_CALL_FAILED,    /* the failure is set */
    YK_NCCL_CALL_TIMED_OUT, /* the failure is set, and the world stays */
};

/* Runs it for at most so long, or until the world fails. */
enum yk_nccl_call_result yk_nccl_call_run(struct yk_nccl_call *call, double max_s);

/* ---- watcher.c ---- */

/* A thread that checks all communicators, and aborts them when one has failed. */
yk_status yk_nccl_watcher_start(struct yk_comm_world *world) YK_MUST_USE;
void yk_nccl_watcher_stop(struct yk_comm_world *world);

/* Aborts all communicators, so that what waits on the device leaves it. Any thread; whoever comes
 * second returns at once. */
void yk_nccl_watcher_abort_all(struct yk_comm_world *world);

/* ---- enqueue.c ---- */

/* False where nothing is to be enqueued. Otherwise NCCL is this thread's until it leaves. */
bool yk_nccl_enqueue_enter(struct yk_comm_world *world);
void yk_nccl_enqueue_leave(struct yk_comm_world *world);

/* False once the communicators are being aborted. Whoever enqueues an exchange may have been kept
 * waiting before, by a stream that is full, and must not use them then. */
static inline bool yk_nccl_may_use(const struct yk_comm_world *world)
{
    return !atomic_load(&world->aborted);
}

static inline int64_t yk_nccl_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What sums are sent as: fp32 for 16-bit numbers that are summed wide. */
static inline enum yk_comm_type yk_nccl_wire_type(enum yk_comm_type type, bool wide)
{
    return wide && yk_comm_type_is_half(type) ? YK_COMM_FP32 : type;
}

void yk_nccl_enqueue_all_reduce(const struct yk_comm_all_reduce *op);
void yk_nccl_enqueue_all_gather(const struct yk_comm_all_gather *op);
void yk_nccl_enqueue_reduce_scatter(const struct yk_comm_reduce_scatter *op);
void yk_nccl_enqueue_broadcast(const struct yk_comm_broadcast *op);
void yk_nccl_enqueue_send(const struct yk_comm_message *op);
void yk_nccl_enqueue_recv(const struct yk_comm_message *op);

/* ---- device.c: memory of the device, as it is; false where it fails ---- */

bool yk_nccl_device_all_reduce(const struct yk_comm_group *group, void *numbers, int64_t count,
                               enum yk_comm_type type);
/* Member i's part of `whole` is at firsts[i] elements of `size` bytes. */
bool yk_nccl_device_all_gather(const struct yk_comm_group *group, const void *own, void *whole,
                               const int64_t *firsts, size_t size);
/* `out` is this member's place in `whole`, or elsewhere. */
bool yk_nccl_device_reduce_scatter(const struct yk_comm_group *group, const void *whole, void *out,
                                   const int64_t *firsts, enum yk_comm_type type);
bool yk_nccl_device_broadcast(const struct yk_comm_group *group, void *bytes, size_t size,
                              int32_t from);
bool yk_nccl_device_message(struct yk_comm_world *world, void *bytes, size_t size, int32_t peer,
                            bool is_sent);

/* ---- staging.c: to and from the device, in turn on the lane ---- */

bool yk_nccl_staging_is_on_device(const void *memory);

/* Bytes from anywhere to anywhere. */
void yk_nccl_staging_copy(struct yk_comm_world *world, void *to, const void *from, size_t bytes);
/* Numbers from anywhere to the device and back, as another type there. */
void yk_nccl_staging_load(struct yk_comm_world *world, void *to, enum yk_comm_type to_type,
                          const void *from, enum yk_comm_type from_type, int64_t count);
void yk_nccl_staging_store(struct yk_comm_world *world, void *to, enum yk_comm_type to_type,
                           const void *from, enum yk_comm_type from_type, int64_t count);
/* to += from, both on the device. */
void yk_nccl_staging_add(struct yk_comm_world *world, void *to, const void *from, int64_t count,
                         enum yk_comm_type type);

#endif
