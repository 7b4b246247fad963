/*
 * NCCL internals: the declarations that the source files of the NCCL comm backend share.
 *
 * Ops are enqueued on the CUDA stream of the comm lane. Only one thread uses the lane. Buffers in
 * device memory are passed to NCCL directly. Buffers in host memory, and 16-bit numbers that are
 * summed as fp32, are copied block by block through a staging buffer on the device. The buffers of
 * a collective must be in the same kind of memory on all ranks of the group, because either all
 * ranks or none must use blocks.
 *
 * NCCL calls that wait for other ranks run on a separate thread with a deadline. If the deadline
 * passes, the thread is abandoned and the call fails.
 */
#ifndef YK_COMM_NCCL_NCCL_INTERNAL_H
#define YK_COMM_NCCL_NCCL_INTERNAL_H

#include "comm/comm.h"
#include "comm/host_arithmetic.h"
#include "comm/part_offsets.h"

#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    YK_NCCL_DEVICE_STAGE_BYTES = 16 << 20, /* size of the staging buffer in device memory */
    YK_NCCL_HOST_STAGE_BYTES = 4 << 20,    /* size of the staging buffer in pinned host memory */
    YK_NCCL_MAX_HOST_WORK = 1024, /* maximum number of host_work entries that wait or run */
};

/* Work of the host: a copy, or an addition of doubles. It runs in order with the ops of the lane.
 */
struct yk_nccl_host_work {
    void *to;
    const void *from;
    size_t bytes;
    bool adds; /* true: add the doubles of `from` to `to`; false: copy */
};

struct yk_comm_world {
    struct yk_comm_options options;
    cudaStream_t stream;
    int32_t device; /* CUDA device number */
    int32_t rank;
    int32_t size;
    int32_t hosts; /* number of machines; 0 means: unknown */
    double timeout_s;
    ncclComm_t comm;
    struct yk_comm_group *groups; /* linked list of the groups that have their own ncclComm_t */
    char *stage;                  /* staging buffer in device memory */
    char *host_stage;             /* staging buffer in pinned host memory */
    struct yk_backend_event *event;
    struct yk_nccl_host_work host_work[YK_NCCL_MAX_HOST_WORK];
    atomic_size_t host_work_enqueued;
    atomic_size_t host_work_done;
    struct yk_first_failure failure;
    struct yk_comm_world *next_kept; /* linked list of the worlds that must not be freed */

    pthread_t watcher; /* thread of the error monitor */
    bool is_watched;
    bool leaving; /* asks the thread `watcher` to end; protected by `list` */
    pthread_cond_t wake;
    pthread_mutex_t use;      /* locked while an op is enqueued with NCCL */
    pthread_mutex_t list;     /* protects the list of groups and their communicators */
    atomic_bool aborted;      /* a thread has begun to abort or destroy the communicators */
    atomic_bool gone;         /* the communicators are aborted or destroyed */
    atomic_bool is_abandoned; /* an abandoned thread may use the world: do not free it */
};

struct yk_comm_group {
    struct yk_comm_world *world;
    ncclComm_t comm;
    int32_t members;
    int32_t me;      /* index of this rank in the group */
    bool is_all;     /* the group has all ranks in order and uses the communicator of the world */
    int64_t *firsts; /* (members + 1) scratch offsets of the parts of a block */
    int64_t *byte_firsts; /* (members + 1) scratch offsets in bytes */
    struct yk_comm_group *next;
};

/* ---- init.c ---- */

/* Broadcasts the ncclUniqueId of rank 0. `mine` is the status of this rank so far. */
yk_status yk_nccl_init_broadcast_unique_id(const struct yk_comm_bootstrap *bootstrap,
                                           yk_status mine, ncclUniqueId *out) YK_MUST_USE;
/* Creates the communicator of the world. It uses at most `blocks` thread blocks (CTAs). */
yk_status yk_nccl_init_create_world_communicator(struct yk_comm_world *world,
                                                 const ncclUniqueId *id, int blocks) YK_MUST_USE;

/* ---- group.c ---- */

yk_status yk_nccl_group_create(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                               struct yk_comm_group **out) YK_MUST_USE;
void yk_nccl_group_destroy(struct yk_comm_group *group);

/* ---- call.c ---- */

/* Sets the failure of the world, with the message "nccl, DOING: error message of NCCL". Returns
 * false. */
bool yk_nccl_call_set_world_failure(struct yk_comm_world *world, ncclResult_t result,
                                    const char *doing);

/* A call of NCCL that runs on its own thread, because it may wait for other ranks. */
struct yk_nccl_call_with_deadline {
    ncclResult_t (*run)(struct yk_nccl_call_with_deadline *call);
    struct yk_comm_world *world;
    const char *doing; /* what the call does, for error messages: "meeting the other ranks" */
    ncclUniqueId id;   /* argument of ncclCommInitRankConfig */
    ncclComm_t comm;   /* argument or result of the call */
    int32_t color;     /* argument of ncclCommSplit */
    /* Argument of ncclCommSplit. For ncclCommInitRankConfig: maximum number of thread blocks. */
    int32_t key;
    int32_t hosts; /* result: number of machines */
};

/* Runs the call, and waits for it for at most `max_s` seconds or until the world fails. If the call
 * fails or its thread is abandoned, sets the failure of the world and returns false. */
bool yk_nccl_call_run_with_deadline(struct yk_nccl_call_with_deadline *call, double max_s);

/* ---- error_monitor.c ---- */

/* Starts a thread that polls the communicators for asynchronous errors. After the first error, the
 * thread aborts all communicators. */
yk_status yk_nccl_error_monitor_start(struct yk_comm_world *world) YK_MUST_USE;
void yk_nccl_error_monitor_stop(struct yk_comm_world *world);

/* Aborts all communicators, so that their kernels leave the device. Any thread may call it. Only
 * the first call aborts them; later calls return at once. */
void yk_nccl_error_monitor_abort_communicators(struct yk_comm_world *world);

/* ---- enqueue.c ---- */

/* Locks NCCL for this thread until yk_nccl_enqueue_unlock(). If the world has failed, returns false
 * without locking, and the caller must not enqueue anything. */
bool yk_nccl_enqueue_lock(struct yk_comm_world *world);
void yk_nccl_enqueue_unlock(struct yk_comm_world *world);

void yk_nccl_enqueue_all_reduce(const struct yk_comm_all_reduce *op);
void yk_nccl_enqueue_all_gather(const struct yk_comm_all_gather *op);
void yk_nccl_enqueue_reduce_scatter(const struct yk_comm_reduce_scatter *op);
void yk_nccl_enqueue_broadcast(const struct yk_comm_broadcast *op);
void yk_nccl_enqueue_send(const struct yk_comm_send_recv *op);
void yk_nccl_enqueue_recv(const struct yk_comm_send_recv *op);

/* ---- device_memory.c: collectives on device memory; they return false on failure ---- */

bool yk_nccl_device_memory_all_reduce(const struct yk_comm_group *group, void *numbers,
                                      int64_t count, enum yk_comm_data_type type);
/* Gathers the parts of all members in `whole`. The part of member i begins at element firsts[i]. An
 * element has `size` bytes. */
bool yk_nccl_device_memory_all_gather(const struct yk_comm_group *group, const void *own,
                                      void *whole, const int64_t *firsts, size_t size);
/* Writes the sum of this member's part over all members to `out`. `out` may point to this member's
 * part of `whole`. */
bool yk_nccl_device_memory_reduce_scatter(const struct yk_comm_group *group, const void *whole,
                                          void *out, const int64_t *firsts,
                                          enum yk_comm_data_type type);
bool yk_nccl_device_memory_broadcast(const struct yk_comm_group *group, void *bytes, size_t size,
                                     int32_t from);
bool yk_nccl_device_memory_send_recv(struct yk_comm_world *world, void *bytes, size_t size,
                                     int32_t peer, bool is_sent);

/* ---- staging.c: copies to and from the device, enqueued on the lane ---- */

bool yk_nccl_staging_is_device_memory(const void *memory);

/* Copies bytes. `to` and `from` may be host or device memory. */
void yk_nccl_staging_enqueue_copy(struct yk_comm_world *world, void *to, const void *from,
                                  size_t bytes);
/* Copies numbers and converts their type. At least one of `to` and `from` must be device memory. */
void yk_nccl_staging_enqueue_convert(struct yk_comm_world *world, void *to,
                                     enum yk_comm_data_type to_type, const void *from,
                                     enum yk_comm_data_type from_type, int64_t count);
/* Adds each element of `from` to the element of `to` with the same index. Both must be device
 * memory. */
void yk_nccl_staging_enqueue_add(struct yk_comm_world *world, void *to, const void *from,
                                 int64_t count, enum yk_comm_data_type type);

#endif
