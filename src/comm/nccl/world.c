#include "comm/nccl/world.h"

#include <stdio.h>
#include <stdlib.h>

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

void yk_nccl_world_free(struct yk_comm_world *world, bool is_ended)
{
    if (is_ended && !atomic_load(&world->is_abandoned)) {
        free_world(world);
    } else {
        keep_world(world);
    }
}

yk_status yk_nccl_world_create(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    yk_status status;
    struct yk_comm_world *world = calloc(1, sizeof *world);
    if (!world) {
        return yk_fail_out_of_memory();
    }
    world->options = *options;
    world->rank = options->bootstrap->rank;
    world->size = options->bootstrap->size;
    (void)pthread_mutex_init(&world->use, NULL);
    (void)pthread_mutex_init(&world->list, NULL);
    (void)pthread_cond_init(&world->wake, NULL);
    world->stream = options->backend->native_stream(options->lane, &world->device);
    YK_TRY_GOTO(
        options->backend->allocate(options->device, YK_NCCL_STAGE_BYTES, (void **)&world->stage),
        undo);
    YK_TRY_GOTO(options->backend->allocate_host(options->device, YK_NCCL_BOUNCE_BYTES,
                                                (void **)&world->host_stage),
                undo);
    YK_TRY_GOTO(options->backend->event_create(options->device, &world->event), undo);
    *out = world;
    return YK_OK;
undo:
    free_world(world);
    return status;
}

bool yk_nccl_world_fail(struct yk_comm_world *world, ncclResult_t result, const char *doing)
{
    char sentence[YK_FAILURE_SIZE];
    const char *more = ncclGetLastError(NULL);
    (void)snprintf(sentence, sizeof sentence, "nccl, %s: %s%s%s", doing, ncclGetErrorString(result),
                   more && *more ? ": " : "", more ? more : "");
    for (char *c = sentence; *c; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    const yk_status status = result == ncclInvalidArgument || result == ncclInvalidUsage
                                 ? YK_ERROR_INPUT
                             : result == ncclUnhandledCudaError ? YK_ERROR_SYSTEM
                                                                : YK_ERROR_LOST;
    yk_failure_set(&world->failure, status, sentence);
    return false;
}
