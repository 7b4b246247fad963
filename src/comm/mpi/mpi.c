#include "comm/mpi/mpi_internal.h"

#include "base/clock.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    BLOCK_BYTES = 4 << 20,
    SMALLEST_BLOCK_BYTES = 64,
    LARGEST_BLOCK_BYTES = 1 << 30, /* a part is shorter by 8 bytes for each of a block's parts */
    HEADER_BYTES = 4096,
};

/* A function on the lane, once everything before it has run. */
struct lane_call {
    struct yk_comm_world *world;
    uint64_t number; /* of a group: of the ranks in it */
};

/* Enqueues a call of `function` on the comm lane. */
static void enqueue_call(const struct yk_comm_world *world, void (*function)(void *user),
                         const void *user)
{
    world->options.backend->call_host(world->options.lane, function, (void *)(uintptr_t)user);
}

static yk_status call_on_lane(struct yk_comm_world *world, void (*function)(void *user),
                              uint64_t number)
{
    const struct lane_call lane_call = {world, number};
    enqueue_call(world, function, &lane_call);
    YK_TRY(world->options.backend->lane_synchronize(world->options.lane));
    return yk_first_failure_check(&world->failure);
}

/* Machines by their lowest ranks. */
static int count_machines(struct yk_comm_world *world)
{
    MPI_Comm near = MPI_COMM_NULL;
    int place = 0;
    int machines = 0;
    int code = MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    if (code == MPI_SUCCESS) {
        (void)MPI_Comm_rank(near, &place);
        (void)MPI_Comm_free(&near);
        const int first = place == 0;
        code = MPI_Allreduce(&first, &machines, 1, MPI_INT, MPI_SUM, world->comm);
    }
    world->machines = machines;
    return code;
}

static int join_world(struct yk_comm_world *world)
{
    int level = MPI_THREAD_SINGLE;
    int found = 0;
    int *tag_limit = NULL;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (code != MPI_SUCCESS) {
        return code;
    }
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Comm_dup(MPI_COMM_WORLD, &world->comm);
    if (code != MPI_SUCCESS) {
        return code;
    }
    (void)MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(world->comm, &world->rank);
    (void)MPI_Comm_size(world->comm, &world->size);
    (void)MPI_Comm_get_attr(world->comm, MPI_TAG_UB, (void *)&tag_limit, &found);
    world->tag_limit = found ? *tag_limit : 32767; /* what MPI promises at least */
    return count_machines(world);
}

/* Over TCP Open MPI sends a large message once the other side has asked for it, and that request
 * queues behind whatever goes the same way: where two ranks send to each other at once, one waits
 * for the other's whole message. So parts go eagerly. What the user has set stays. */
static void send_eagerly(void)
{
    static const char *const names[] = {
        "OMPI_MCA_btl_tcp_eager_limit",
        "OMPI_MCA_btl_tcp_rndv_eager_limit",
        "OMPI_MCA_btl_tcp_max_send_size",
    };
    const size_t count = sizeof names / sizeof names[0];
    char limit[32];
    bool is_set = false;
    for (size_t i = 0; i < count; i++) {
        is_set = is_set || getenv(names[i]);
    }
    (void)snprintf(limit, sizeof limit, "%d", YK_MPI_MAX_MESSAGE_BYTES + HEADER_BYTES);
    for (size_t i = 0; i < count && !is_set; i++) {
        (void)setenv(names[i], limit, 0);
    }
}

static void run_open(void *user)
{
    struct yk_comm_world *world = ((const struct lane_call *)user)->world;
    int initialised = 0;
    (void)MPI_Initialized(&initialised);
    if (initialised) {
        yk_first_failure_set(&world->failure, YK_ERROR_INPUT,
                             "mpi: a process joins a world of MPI once, and this one has already");
        return;
    }
    /* Sleeps of 10 us are to be such: Linux adds 50 us otherwise. */
    (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    send_eagerly();
    const int code = join_world(world);
    if (code != MPI_SUCCESS) {
        (void)yk_mpi_transfer_set_world_failure(world, code, "mpi: joining the other ranks");
    }
}

static void free_world(struct yk_comm_world *world)
{
    const struct yk_comm_options *options = &world->options;
    options->backend->free_host(options->device, world->stages[1]);
    options->backend->free_host(options->device, world->stages[0]);
    free(world);
}

static yk_status open_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    yk_status status;
    struct yk_comm_world *world = calloc(1, sizeof *world);
    YK_TRY_ALLOCATED(world);
    world->options = *options;
    const size_t asked = options->block_bytes > 0 ? options->block_bytes : BLOCK_BYTES;
    world->options.block_bytes = asked < SMALLEST_BLOCK_BYTES  ? SMALLEST_BLOCK_BYTES
                                 : asked > LARGEST_BLOCK_BYTES ? LARGEST_BLOCK_BYTES
                                                               : asked / 8 * 8;
    for (int i = 0; i < 2; i++) {
        YK_TRY_GOTO(options->backend->allocate_host(options->device, world->options.block_bytes,
                                                    &world->stages[i]),
                    undo);
    }
    YK_TRY_GOTO(call_on_lane(world, run_open, 0), undo);
    *out = world;
    return YK_OK;
undo:
    free_world(world);
    return status;
}

static void run_close(void *user)
{
    struct yk_comm_world *world = ((const struct lane_call *)user)->world;
    if (!yk_first_failure_is_set(&world->failure) && atomic_load(&world->exit_request) == 0) {
        (void)MPI_Comm_free(&world->comm);
        (void)MPI_Finalize();
    }
}

/* After a failure MPI is left as it is: MPI_Finalize would wait for those that do not answer. */
static void close_world(struct yk_comm_world *world)
{
    if (world) {
        (void)!call_on_lane(world, run_close, 0);
        free_world(world);
    }
}

static void get_rank(const struct yk_comm_world *world, int32_t *rank, int32_t *size)
{
    *rank = world->rank;
    *size = world->size;
}

/* "Open MPI v4.1.4, package: Debian …" begins with what is of use. */
static void describe(const struct yk_comm_world *world, struct yk_text *out)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "MPI";
    int length = 0;
    (void)MPI_Get_library_version(version, &length);
    char *end = version + strcspn(version, ",\n");
    *end = '\0';
    const char *number = strstr(version, " v");
    if (number) {
        yk_text_add_bytes(out, version, (size_t)(number - version) + 1);
    }
    yk_text_add(out, number ? number + 2 : version);
    yk_text_addf(out, ", %d rank%s on ", world->size, world->size == 1 ? "" : "s");
    if (world->machines == 1) {
        yk_text_add(out, "one machine");
    } else {
        yk_text_addf(out, "%d machines", world->machines);
    }
}

/* Whether all ranks make the same group, and that all have come. */
static void run_group(void *user)
{
    const struct lane_call *lane_call = user;
    struct yk_comm_world *world = lane_call->world;
    const uint64_t mine[2] = {lane_call->number, ~lane_call->number};
    uint64_t max[2] = {0, 0};
    MPI_Request request;
    MPI_Status status;
    if (yk_first_failure_is_set(&world->failure)) {
        return;
    }
    int code = MPI_Iallreduce(mine, max, 2, MPI_UINT64_T, MPI_MAX, world->comm, &request);
    if (code == MPI_SUCCESS) {
        code = yk_mpi_transfer_wait_request(world, &request, &status);
    }
    if (code != MPI_SUCCESS) {
        (void)yk_mpi_transfer_set_world_failure(world, code, "mpi: making a group");
    } else if (max[0] != ~max[1]) {
        yk_first_failure_set(&world->failure, YK_ERROR_INPUT,
                             "mpi: a group is not the same on all ranks");
    }
}

static yk_status create_group(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                              struct yk_comm_group **out)
{
    int32_t me = -1;
    YK_TRY(call_on_lane(world, run_group, yk_hash_bytes(ranks, (size_t)count * sizeof *ranks)));
    const int32_t tag = world->groups++ % YK_MPI_COLLECTIVE_TAG_COUNT;
    for (int32_t i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= world->size) {
            return yk_fail(YK_ERROR_INPUT, "mpi: a group with rank %d in a world of %d ranks",
                           (int)ranks[i], world->size);
        }
        me = ranks[i] == world->rank ? i : me;
    }
    struct yk_comm_group *group = NULL;
    if (me >= 0) {
        group = calloc(1, sizeof *group + (size_t)count * sizeof *ranks);
        int64_t *firsts = calloc((size_t)count + 1, sizeof *firsts);
        if (!group || !firsts) {
            free(firsts);
            free(group);
            return yk_fail_out_of_memory();
        }
        *group = (struct yk_comm_group){
            .world = world, .tag = tag, .members = count, .me = me, .firsts = firsts};
        memcpy(group->ranks, ranks, (size_t)count * sizeof *ranks);
    }
    *out = group;
    return YK_OK;
}

static void destroy_group(struct yk_comm_group *group)
{
    if (group) {
        free(group->firsts);
        free(group);
    }
}

/* ---- exchanges ---- */

/* An exchange in its turn on the comm lane: it does nothing once the world has failed, and a
 * failure of its own stays with the world. */
#define ENQUEUED(name, record, owner, run)                                                         \
    static void run_##name(void *user)                                                             \
    {                                                                                              \
        const struct record *op = user;                                                            \
        if (!yk_first_failure_is_set(&op->owner->failure)) {                                       \
            (void)(run);                                                                           \
        }                                                                                          \
    }                                                                                              \
    static void mpi_##name(const struct record *op)                                                \
    {                                                                                              \
        enqueue_call(op->owner, run_##name, op);                                                   \
    }

ENQUEUED(all_reduce, yk_comm_all_reduce, group->world,
         yk_mpi_direct_is_faster_than_ring(op) ? yk_mpi_direct_all_reduce(op)
                                               : yk_mpi_ring_all_reduce(op))
ENQUEUED(all_gather, yk_comm_all_gather, group->world, yk_mpi_ring_all_gather(op))
ENQUEUED(reduce_scatter, yk_comm_reduce_scatter, group->world, yk_mpi_ring_reduce_scatter(op))
ENQUEUED(broadcast, yk_comm_broadcast, group->world, yk_mpi_direct_broadcast(op))
ENQUEUED(send, yk_comm_send_recv, world, yk_mpi_direct_send_or_recv(op, true))
ENQUEUED(recv, yk_comm_send_recv, world, yk_mpi_direct_send_or_recv(op, false))

/* ---- the end ---- */

static yk_status check(const struct yk_comm_world *world)
{
    return yk_first_failure_check(&world->failure);
}

/* The lane does it where it waits in an exchange. Where it is idle, or stuck inside MPI, the
 * calling thread does what only the lane's should, since all ends with it. */
static void end_all(struct yk_comm_world *world, int code)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    int none = 0;
    (void)atomic_compare_exchange_strong(&world->exit_request, &none, code + 1);
    const double begun_s = yk_clock_now_s();
    while (!atomic_load(&world->is_aborting) && yk_clock_now_s() - begun_s < 0.1) {
        (void)nanosleep(&pause, NULL);
    }
    if (!atomic_exchange(&world->is_aborting, true)) {
        (void)MPI_Abort(MPI_COMM_WORLD, code);
    }
}

extern const struct yk_comm_backend yk_comm_plugin;
__attribute__((visibility("default"))) const struct yk_comm_backend yk_comm_plugin = {
    .name = "mpi",
    YK_COMM_BACKEND_INIT_WORLD_FUNCTIONS,
    .group_create = create_group,
    .group_destroy = destroy_group,
    YK_COMM_BACKEND_INIT_OPS(mpi),
};
