#include "support/exchanges/thread_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    struct yk_thread_world *world;
    int32_t rank;
} seat;

static yk_status start_barrier(struct thread_barrier *barrier, struct thread_floor *floor,
                               int32_t members)
{
    *barrier = (struct thread_barrier){.floor = floor, .members = members};
    barrier->shown = calloc((size_t)members + 1, sizeof *barrier->shown);
    return barrier->shown ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_thread_world_create(int32_t ranks, struct yk_thread_world **out)
{
    yk_status status;
    struct yk_thread_world *world = calloc(1, sizeof *world);
    if (!world) {
        return yk_fail_out_of_memory();
    }
    world->ranks = ranks;
    pthread_mutex_init(&world->floor.mutex, NULL);
    pthread_cond_init(&world->floor.changed, NULL);
    YK_TRY_GOTO(start_barrier(&world->all, &world->floor, ranks), destroy);
    world->mailboxes = calloc((size_t)ranks * (size_t)ranks, sizeof *world->mailboxes);
    world->floor.left = calloc((size_t)ranks + 1, sizeof *world->floor.left);
    if (!world->mailboxes || !world->floor.left) {
        status = yk_fail_out_of_memory();
        goto destroy;
    }
    *out = world;
    return YK_OK;
destroy:
    yk_thread_world_destroy(world);
    return status;
}

static void destroy_circle(struct thread_circle *circle)
{
    if (circle) {
        free(circle->barrier.shown);
        free(circle->ranks);
        free(circle);
    }
}

void yk_thread_world_destroy(struct yk_thread_world *world)
{
    if (!world) {
        return;
    }
    for (int32_t i = 0; i < THREAD_GROUPS; i++) {
        destroy_circle(world->circles[i]);
    }
    free(world->mailboxes);
    free(world->floor.left);
    free(world->all.shown);
    pthread_cond_destroy(&world->floor.changed);
    pthread_mutex_destroy(&world->floor.mutex);
    free(world);
}

void yk_thread_world_seat(struct yk_thread_world *world, int32_t rank)
{
    seat.world = world;
    seat.rank = rank;
}

void yk_thread_world_break(struct yk_thread_world *world, int32_t rank, yk_status status,
                           const char *sentence)
{
    char text[YK_FIRST_FAILURE_MESSAGE_SIZE];
    (void)snprintf(text, sizeof text, "rank %d: %.*s", (int)rank, (int)sizeof text - 32, sentence);
    thread_floor_break(&world->floor, status, text);
}

/* Waits for all ranks, which must all be about to do the same. */
static yk_status wait_for_all(struct yk_comm_world *world, const char *purpose)
{
    struct yk_thread_world *shared = world->shared;
    bool same = true;
    if (thread_barrier_enter(&shared->all, world->rank, purpose)) {
        for (int32_t i = 0; i < shared->ranks; i++) {
            same = same && strcmp(shared->all.shown[i], purpose) == 0;
        }
        thread_barrier_leave(&shared->all);
    }
    if (!same) {
        yk_thread_world_break(shared, world->rank, YK_ERROR_LOST,
                              "ranks differ in when they open, make groups and close");
    }
    return yk_first_failure_check(&shared->floor.failure);
}

static yk_status open_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    if (!seat.world) {
        return yk_fail(YK_ERROR_INPUT, "this thread has no seat in a world of threads");
    }
    struct yk_comm_world *world = calloc(1, sizeof *world);
    if (!world) {
        return yk_fail_out_of_memory();
    }
    *world = (struct yk_comm_world){.shared = seat.world, .rank = seat.rank, .options = *options};
    seat.world = NULL;
    const yk_status status = wait_for_all(world, "open");
    if (status != YK_OK) {
        free(world);
        return status;
    }
    *out = world;
    return YK_OK;
}

/* Those who wait for this rank in an exchange learn that it will not come. */
static void leave(const struct yk_comm_world *world)
{
    struct thread_floor *floor = &world->shared->floor;
    pthread_mutex_lock(&floor->mutex);
    floor->left[world->rank] = true;
    pthread_cond_broadcast(&floor->changed);
    pthread_mutex_unlock(&floor->mutex);
}

static void close_world(struct yk_comm_world *world)
{
    if (world) {
        (void)!world->options.backend->lane_synchronize(world->options.lane);
        leave(world);
        (void)!wait_for_all(world, "close");
        free(world);
    }
}

static void get_rank(const struct yk_comm_world *world, int32_t *rank, int32_t *size)
{
    *rank = world->rank;
    *size = world->shared->ranks;
}

static void describe(const struct yk_comm_world *world, struct yk_text *out)
{
    yk_text_addf(out, "%d threads of one process", (int)world->shared->ranks);
}

static struct thread_circle *make_circle(struct yk_thread_world *shared, const int32_t *ranks,
                                         int32_t count)
{
    struct thread_circle *circle = calloc(1, sizeof *circle);
    if (!circle) {
        return NULL;
    }
    circle->ranks = calloc((size_t)count + 1, sizeof *circle->ranks);
    if (!circle->ranks || start_barrier(&circle->barrier, &shared->floor, count) != YK_OK) {
        destroy_circle(circle);
        return NULL;
    }
    memcpy(circle->ranks, ranks, (size_t)count * sizeof *ranks);
    circle->barrier.ranks = circle->ranks;
    return circle;
}

/* The circle of this rank's next group: the first to come makes it. */
static yk_status next_circle(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                             struct thread_circle **out)
{
    struct yk_thread_world *shared = world->shared;
    if (world->groups == THREAD_GROUPS) {
        return yk_fail(YK_ERROR_INPUT, "more than %d groups", THREAD_GROUPS);
    }
    pthread_mutex_lock(&shared->floor.mutex);
    struct thread_circle **place = &shared->circles[world->groups++];
    if (!*place) {
        *place = make_circle(shared, ranks, count);
    }
    struct thread_circle *circle = *place;
    const bool same = circle && circle->barrier.members == count &&
                      memcmp(circle->ranks, ranks, (size_t)count * sizeof *ranks) == 0;
    pthread_mutex_unlock(&shared->floor.mutex);
    if (!circle) {
        return yk_fail_out_of_memory();
    }
    *out = circle;
    return same ? YK_OK
                : yk_fail(YK_ERROR_INPUT, "group %d is not the same on all ranks",
                          (int)world->groups - 1);
}

static yk_status create_group(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                              struct yk_comm_group **out)
{
    struct thread_circle *circle = NULL;
    const yk_status status = next_circle(world, ranks, count, &circle);
    if (status != YK_OK) {
        yk_thread_world_break(world->shared, world->rank, status, yk_status_message());
        return yk_first_failure_check(&world->shared->floor.failure);
    }
    YK_TRY(wait_for_all(world, "group"));
    struct yk_comm_group *group = NULL;
    for (int32_t i = 0; i < count && !group; i++) {
        if (ranks[i] == world->rank) {
            group = calloc(1, sizeof *group);
            if (!group) {
                return yk_fail_out_of_memory();
            }
            *group = (struct yk_comm_group){.world = world, .circle = circle, .me = i};
        }
    }
    *out = group;
    return YK_OK;
}

static void destroy_group(struct yk_comm_group *group)
{
    free(group);
}

static yk_status check(const struct yk_comm_world *world)
{
    return yk_first_failure_check(&world->shared->floor.failure);
}

/* The process is the test's: the ranks end by what check() says. */
static void end_all(struct yk_comm_world *world, int code)
{
    char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE];
    (void)snprintf(sentence, sizeof sentence, "ended the run with code %d", code);
    yk_thread_world_break(world->shared, world->rank, YK_ERROR_LOST, sentence);
}

const struct yk_comm_backend yk_comm_threads = {
    .name = "threads",
    YK_COMM_BACKEND_INIT_WORLD_FUNCTIONS,
    .group_create = create_group,
    .group_destroy = destroy_group,
    YK_COMM_BACKEND_INIT_OPS(thread),
};

/* One rank of yk_thread_world_run(). */
struct runner {
    pthread_t thread;
    struct yk_thread_world *world;
    int32_t rank;
    yk_thread_rank function;
    void *user;
    bool started;
};

static void *run_rank(void *argument)
{
    const struct runner *runner = argument;
    yk_thread_world_seat(runner->world, runner->rank);
    const yk_status status = runner->function(runner->rank, runner->world->ranks, runner->user);
    if (status != YK_OK) {
        yk_thread_world_break(runner->world, runner->rank, status, yk_status_message());
    }
    yk_thread_world_seat(NULL, 0);
    return NULL;
}

yk_status yk_thread_world_run(int32_t ranks, yk_thread_rank function, void *user)
{
    struct yk_thread_world *world = NULL;
    YK_TRY(yk_thread_world_create(ranks, &world));
    struct runner *runners = calloc((size_t)ranks, sizeof *runners);
    for (int32_t i = 0; runners && i < ranks; i++) {
        runners[i] = (struct runner){.world = world, .rank = i, .function = function, .user = user};
        runners[i].started = pthread_create(&runners[i].thread, NULL, run_rank, &runners[i]) == 0;
        if (!runners[i].started) {
            yk_thread_world_break(world, i, YK_ERROR_SYSTEM, "the system refuses a thread");
        }
    }
    for (int32_t i = 0; runners && i < ranks; i++) {
        if (runners[i].started) {
            pthread_join(runners[i].thread, NULL);
        }
    }
    const yk_status status =
        runners ? yk_first_failure_check(&world->floor.failure) : yk_fail_out_of_memory();
    free(runners);
    yk_thread_world_destroy(world);
    return status;
}
