/*
 * Copies between the device and memory that NCCL does not accept, in the order of the lane.
 *
 * CUDA reads pageable host memory when a copy is enqueued, not when the copy runs, and a copy to
 * such memory blocks the caller. So data goes through pinned memory, and a host function on the
 * lane copies between the two.
 */
#include "comm/nccl/nccl_internal.h"

#include <string.h>
#include <time.h>

static enum cudaMemoryType kind_of(const void *memory)
{
    struct cudaPointerAttributes about;
    if (cudaPointerGetAttributes(&about, memory) != cudaSuccess) {
        (void)cudaGetLastError(); /* that CUDA has never heard of it is the answer */
        return cudaMemoryTypeUnregistered;
    }
    return about.type;
}

bool yk_nccl_staging_is_device_memory(const void *memory)
{
    const enum cudaMemoryType kind = kind_of(memory);
    return kind == cudaMemoryTypeDevice || kind == cudaMemoryTypeManaged;
}

static bool is_known(const void *memory)
{
    return kind_of(memory) != cudaMemoryTypeUnregistered;
}

/* ---- work of the host ---- */

static void run_host_work(void *user)
{
    struct yk_comm_world *world = user;
    const size_t number = atomic_load(&world->host_work_done);
    const struct yk_nccl_host_work *work = &world->host_work[number % YK_NCCL_MAX_HOST_WORK];
    if (work->adds) {
        yk_host_arithmetic_add_arrays(YK_COMM_FP64, (int64_t)(work->bytes / sizeof(double)),
                                      work->from, work->to);
    } else {
        memcpy(work->to, work->from, work->bytes);
    }
    atomic_store(&world->host_work_done, number + 1);
}

/* The lane is full when all slots are used. It may have been aborted, with work on it that never
 * runs: then nothing is left on the stream. */
static void wait_for_slot(struct yk_comm_world *world)
{
    static const struct timespec pause = {.tv_nsec = 20000};
    const size_t enqueued = atomic_load(&world->host_work_enqueued);
    while (enqueued - atomic_load(&world->host_work_done) >= YK_NCCL_MAX_HOST_WORK) {
        if (cudaStreamQuery(world->stream) != cudaErrorNotReady) {
            (void)cudaGetLastError();
            atomic_store(&world->host_work_done, enqueued);
        }
        (void)nanosleep(&pause, NULL);
    }
}

static void enqueue_host_work(struct yk_comm_world *world, void *to, const void *from, size_t bytes,
                              bool adds)
{
    wait_for_slot(world);
    const size_t number = atomic_load(&world->host_work_enqueued);
    world->host_work[number % YK_NCCL_MAX_HOST_WORK] =
        (struct yk_nccl_host_work){to, from, bytes, adds};
    atomic_store(&world->host_work_enqueued, number + 1);
    world->options.backend->call_host(world->options.lane, run_host_work, world);
}

/* ---- bytes ---- */

static void copy(struct yk_comm_world *world, void *to, const void *from, size_t bytes)
{
    world->options.backend->copy(world->options.lane, to, from, bytes);
}

void yk_nccl_staging_enqueue_copy(struct yk_comm_world *world, void *to, const void *from,
                                  size_t bytes)
{
    if (bytes == 0 || to == from) {
        return;
    }
    const bool is_from_known = is_known(from);
    const bool is_to_known = is_known(to);
    if (is_from_known && is_to_known) {
        copy(world, to, from, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += YK_NCCL_HOST_STAGE_BYTES) {
        const size_t left = bytes - at;
        const size_t now = left < YK_NCCL_HOST_STAGE_BYTES ? left : YK_NCCL_HOST_STAGE_BYTES;
        char *there = (char *)to + at;
        const char *here = (const char *)from + at;
        if (!is_from_known && !is_to_known) {
            enqueue_host_work(world, there, here, now, false);
        } else if (!is_from_known) {
            enqueue_host_work(world, world->host_stage, here, now, false);
            copy(world, there, world->host_stage, now);
        } else {
            copy(world, world->host_stage, here, now);
            enqueue_host_work(world, there, world->host_stage, now, false);
        }
    }
}

/* ---- numbers ---- */

/* Kernels read and write memory of the host that CUDA knows, too. */
static void cast(struct yk_comm_world *world, void *to, enum yk_comm_data_type to_type,
                 const void *from, enum yk_comm_data_type from_type, int64_t count)
{
    const struct yk_cast_op op = {
        .count = count,
        .from = from,
        .to = to,
        .from_type = yk_comm_data_type_to_precision(from_type),
        .to_type = yk_comm_data_type_to_precision(to_type),
    };
    world->options.backend->cast(world->options.lane, &op);
}

void yk_nccl_staging_enqueue_convert(struct yk_comm_world *world, void *to,
                                     enum yk_comm_data_type to_type, const void *from,
                                     enum yk_comm_data_type from_type, int64_t count)
{
    const size_t to_bytes = yk_comm_data_type_bytes(to_type);
    const size_t from_bytes = yk_comm_data_type_bytes(from_type);
    if (to_type == from_type || count == 0) {
        yk_nccl_staging_enqueue_copy(world, to, from, (size_t)count * from_bytes);
        return;
    }
    const bool is_from_known = is_known(from);
    if (is_from_known && is_known(to)) {
        cast(world, to, to_type, from, from_type, count);
        return;
    }
    const int64_t block =
        YK_NCCL_HOST_STAGE_BYTES / (int64_t)(is_from_known ? to_bytes : from_bytes);
    for (int64_t at = 0; at < count; at += block) {
        const int64_t now = yk_number_min(count - at, block);
        const void *here = yk_comm_data_type_element_pointer(from_type, from, at);
        void *there = yk_comm_data_type_element_pointer(to_type, to, at);
        if (is_from_known) {
            cast(world, world->host_stage, to_type, here, from_type, now);
            enqueue_host_work(world, there, world->host_stage, (size_t)now * to_bytes, false);
        } else {
            enqueue_host_work(world, world->host_stage, here, (size_t)now * from_bytes, false);
            cast(world, there, to_type, world->host_stage, from_type, now);
        }
    }
}

/* Backends add numbers of every precision; doubles are the host's alone. */
static void add_doubles(struct yk_comm_world *world, char *to, const char *from, int64_t count)
{
    enum {
        MOST = YK_NCCL_HOST_STAGE_BYTES / 2 / sizeof(double)
    };
    char *sum = world->host_stage;
    char *term = world->host_stage + YK_NCCL_HOST_STAGE_BYTES / 2;
    for (int64_t at = 0; at < count; at += MOST) {
        const size_t bytes = (size_t)(count - at < MOST ? count - at : MOST) * sizeof(double);
        copy(world, sum, to + at * (int64_t)sizeof(double), bytes);
        copy(world, term, from + at * (int64_t)sizeof(double), bytes);
        enqueue_host_work(world, sum, term, bytes, true);
        copy(world, to + at * (int64_t)sizeof(double), sum, bytes);
    }
}

void yk_nccl_staging_enqueue_add(struct yk_comm_world *world, void *to, const void *from,
                                 int64_t count, enum yk_comm_data_type type)
{
    const struct yk_add_op op = {
        .count = count, .from = from, .to = to, .type = yk_comm_data_type_to_precision(type)};
    if (type == YK_COMM_FP64) {
        add_doubles(world, to, from, count);
    } else if (count > 0) {
        world->options.backend->add(world->options.lane, &op);
    }
}
