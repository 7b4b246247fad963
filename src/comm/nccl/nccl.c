/* The table of the NCCL comm backend: opens, closes and describes a world. */
#include "comm/nccl/nccl_internal.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    MEET_S = 60, /* unless YOKE_MEET_S says otherwise */
    LARGEST = 1000000,
    ABORT_POLL_US = 50000,
    ABORT_POLLS = 100,
    CLOSE_S = 5, /* that the others are waited for at the end */
};

/* ---- the world ---- */

/* Worlds that a thread was left behind in: they stay for ever. */
static struct yk_comm_world *kept_worlds;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_world(struct yk_comm_world *world)
{
    (void)pthread_mutex_lock(&kept_lock);
    world->next_kept = kept_worlds;
    kept_worlds = world;
    (void)pthread_mutex_unlock(&kept_lock);
}

static void free_world(struct yk_comm_world *world)
{
    const struct yk_comm_options *options = &world->options;
    options->backend->event_destroy(world->event);
    options->backend->free_host(options->device, world->host_stage);
    options->backend->free(options->device, world->stage);
    (void)pthread_cond_destroy(&world->wake);
    (void)pthread_mutex_destroy(&world->list);
    (void)pthread_mutex_destroy(&world->use);
    free(world);
}

static void free_world_if_ended(struct yk_comm_world *world, bool is_ended)
{
    if (is_ended && !atomic_load(&world->is_abandoned)) {
        free_world(world);
    } else {
        keep_world(world);
    }
}

static yk_status create_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    yk_status status;
    struct yk_comm_world *world = calloc(1, sizeof *world);
    YK_TRY_ALLOCATED(world);
    world->options = *options;
    world->rank = options->bootstrap->rank;
    world->size = options->bootstrap->size;
    (void)pthread_mutex_init(&world->use, NULL);
    (void)pthread_mutex_init(&world->list, NULL);
    (void)pthread_cond_init(&world->wake, NULL);
    world->stream = options->backend->native_stream(options->lane, &world->device);
    YK_TRY_GOTO(options->backend->allocate(options->device, YK_NCCL_DEVICE_STAGE_BYTES,
                                           (void **)&world->stage),
                undo);
    YK_TRY_GOTO(options->backend->allocate_host(options->device, YK_NCCL_HOST_STAGE_BYTES,
                                                (void **)&world->host_stage),
                undo);
    YK_TRY_GOTO(options->backend->event_create(options->device, &world->event), undo);
    *out = world;
    return YK_OK;
undo:
    free_world(world);
    return status;
}

/* ---- opening ---- */

/* A number from the environment, above 0. */
static yk_status read_number(const char *name, double usual, double *out)
{
    const char *text = getenv(name);
    *out = usual;
    if (text && *text &&
        (!yk_number_parse(text, strlen(text), out) || !(*out > 0 && *out <= LARGEST))) {
        return yk_fail(YK_ERROR_INPUT, "%s=%s: a number above 0", name, text);
    }
    return YK_OK;
}

static void prepare_process(void)
{
    struct rlimit files;
    /* Unless the user has set it: connect all ranks when the communicator is created. Otherwise the
     * first op that needs a connection would block the thread that enqueues it. */
    (void)setenv("NCCL_RUNTIME_CONNECT", "0", 0);
    /* Every connection is many sockets, and the usual limit of open files is soon reached. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* What a rank does by itself before it meets the others. */
static yk_status prepare(const struct yk_comm_options *options, double *blocks,
                         struct yk_comm_world **out)
{
    double timeout_s = 0;
    YK_TRY(read_number("YOKE_NCCL_CTAS", YK_COMM_MAX_NCCL_CTAS, blocks));
    YK_TRY(read_number("YOKE_MEET_S", MEET_S, &timeout_s));
    prepare_process();
    YK_TRY(create_world(options, out));
    (*out)->timeout_s = timeout_s;
    return YK_OK;
}

static yk_status open_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    ncclUniqueId id;
    struct yk_comm_world *world = NULL;
    double blocks = 0;
    if (!options->backend->native_stream) {
        return yk_fail(YK_ERROR_INPUT, "nccl: ranks on a device \"%s\" cannot be joined by NCCL",
                       options->backend->name);
    }
    if (!options->bootstrap) {
        return yk_fail(YK_ERROR_INPUT, "nccl: nobody has said where the ranks meet; start them "
                                       "with mpirun, srun or torchrun");
    }
    yk_status status = prepare(options, &blocks, &world);
    status = yk_nccl_init_broadcast_unique_id(options->bootstrap, status, &id);
    if (!world) {
        return status;
    }
    world->options.bootstrap = NULL;
    YK_IF_OK(yk_nccl_init_create_world_communicator(world, &id, (int)ceil(blocks)));
    YK_IF_OK(yk_nccl_error_monitor_start(world));
    if (status == YK_OK) {
        *out = world;
        return YK_OK;
    }
    if (world->comm) {
        yk_nccl_error_monitor_abort_communicators(world);
    }
    free_world_if_ended(world, !world->comm || atomic_load(&world->gone));
    return status;
}

/* ---- closing ---- */

/* All have come, so that nobody misses what it waits for. After the deadline the communicators are
 * aborted: this thread then leaves them and the lane alone. */
static ncclResult_t run_close(struct yk_nccl_call_with_deadline *call)
{
    struct yk_comm_world *world = call->world;
    if (!yk_nccl_enqueue_lock(world)) {
        return ncclRemoteError;
    }
    ncclResult_t result = ncclAllReduce(world->stage, world->stage, 1, ncclUint64, ncclSum,
                                        world->comm, world->stream);
    yk_nccl_enqueue_unlock(world);
    if (result == ncclSuccess && cudaStreamSynchronize(world->stream) != cudaSuccess) {
        result = ncclUnhandledCudaError;
    }
    if (result != ncclSuccess) {
        return result;
    }
    if (atomic_exchange(&world->aborted, true)) {
        return ncclRemoteError;
    }
    result = ncclCommDestroy(world->comm);
    atomic_store(&world->gone, result == ncclSuccess);
    return result;
}

static void close_world(struct yk_comm_world *world)
{
    if (!world) {
        return;
    }
    struct yk_nccl_call_with_deadline call = {.run = run_close, .world = world, .doing = "leaving"};
    yk_nccl_error_monitor_stop(world);
    if (!yk_first_failure_is_set(&world->failure)) {
        (void)yk_nccl_call_run_with_deadline(&call, CLOSE_S);
    }
    yk_nccl_error_monitor_abort_communicators(
        world); /* nothing where they have ended well, or are about to */
    free_world_if_ended(world, atomic_load(&world->gone));
}

/* ---- what it is ---- */

static void get_rank(const struct yk_comm_world *world, int32_t *rank, int32_t *size)
{
    *rank = world->rank;
    *size = world->size;
}

static void describe(const struct yk_comm_world *world, struct yk_text *out)
{
    int version = 0;
    (void)ncclGetVersion(&version);
    yk_text_addf(out, "NCCL %d.%d.%d, %d rank%s on ", version / 10000, version / 100 % 100,
                 version % 100, (int)world->size, world->size == 1 ? "" : "s");
    if (world->hosts == 1) {
        yk_text_add(out, "one host");
    } else {
        yk_text_addf(out, "%d hosts", (int)world->hosts);
    }
}

static yk_status check(const struct yk_comm_world *world)
{
    return yk_first_failure_check(&world->failure);
}

/* Where another thread is about it, that is waited for. */
static void release_device(struct yk_comm_world *world)
{
    yk_first_failure_set(&world->failure, YK_ERROR_LOST, "this rank has ended the run");
    yk_nccl_error_monitor_abort_communicators(world);
    for (int i = 0; i < ABORT_POLLS && !atomic_load(&world->gone); i++) {
        (void)usleep(ABORT_POLL_US);
    }
}

/* The connections of the others to this rank close, by which they know that it is lost; no exit
 * code can be passed on, and this process is the caller's to end. */
static void end_all(struct yk_comm_world *world, int code)
{
    (void)code;
    release_device(world);
}

extern const struct yk_comm_backend yk_comm_plugin;
__attribute__((visibility("default"))) const struct yk_comm_backend yk_comm_plugin = {
    .name = "nccl",
    YK_COMM_BACKEND_INIT_WORLD_FUNCTIONS,
    .group_create = yk_nccl_group_create,
    .group_destroy = yk_nccl_group_destroy,
    YK_COMM_BACKEND_INIT_OPS(yk_nccl_enqueue),
    .release_device = release_device,
};
