#include "measure/profiler/profiler.h"

#include "base/arena.h"
#include "comm/host_collective.h"
#include "cost/profile_key.h"
#include "measure/timings.h"

#include <string.h>

enum {
    SMALLEST = 4 << 10,
    LARGEST = 64 << 20,
    FACTOR = 4,
    MAX_SIZES = 16,
    DIRECTIONS = 2,
    ROWS = DIRECTIONS * MAX_SIZES,
    WARM_UP_ROUNDS = 1,
    ROUNDS = 15,
    NUMBERS = 3, /* of a measurement, as they are gathered */
};

struct run {
    struct yk_profiler *profiler;
    const struct yk_measuring_ranks *team;
    const struct yk_profiler_request *request;
    int64_t sizes[MAX_SIZES];
    int32_t size_count;
    void *host;   /* (the largest) */
    void *device; /* (the largest) */
    struct yk_backend_lane *lane;
    struct yk_backend_event *begin;
    struct yk_backend_event *end;
    struct yk_timings timings[DIRECTIONS][MAX_SIZES];
    double own[ROWS * NUMBERS];
    double *all; /* (ranks, rows, NUMBERS) */
};

static const char *const directions[DIRECTIONS] = {YK_PROFILE_KEY_COPY_TO_DEVICE,
                                                   YK_PROFILE_KEY_COPY_FROM_DEVICE};

static void list_sizes(struct run *run, int64_t max_bytes)
{
    for (int64_t bytes = SMALLEST; run->size_count < MAX_SIZES; bytes *= FACTOR) {
        run->sizes[run->size_count++] = bytes;
        if (bytes >= max_bytes) {
            break;
        }
    }
}

/* ---- measuring ---- */

static yk_status open_copies(struct run *run)
{
    const struct yk_device_context *context = &run->team->context;
    const size_t bytes = (size_t)run->sizes[run->size_count - 1];
    YK_TRY(context->backend->allocate_host(context->device, bytes, &run->host));
    YK_TRY(context->backend->allocate(context->device, bytes, &run->device));
    YK_TRY(context->backend->lane_create(context->device, "copies", &run->lane));
    YK_TRY(context->backend->event_create(context->device, &run->begin));
    YK_TRY(context->backend->event_create(context->device, &run->end));
    /* Every page is there before its copies are timed. */
    memset(run->host, 1, bytes);
    return YK_OK;
}

static void close_copies(struct run *run)
{
    const struct yk_device_context *context = &run->team->context;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        for (int32_t i = 0; i < MAX_SIZES; i++) {
            yk_timings_free(&run->timings[direction][i]);
        }
    }
    context->backend->event_destroy(run->end);
    context->backend->event_destroy(run->begin);
    context->backend->lane_destroy(run->lane);
    context->backend->free(context->device, run->device);
    context->backend->free_host(context->device, run->host);
}

static yk_status time_copy(struct run *run, int direction, int32_t size, double *out)
{
    const struct yk_backend *backend = run->team->context.backend;
    void *to = direction == 0 ? run->device : run->host;
    const void *from = direction == 0 ? run->host : run->device;
    backend->event_record(run->lane, run->begin);
    backend->copy(run->lane, to, from, (size_t)run->sizes[size]);
    backend->event_record(run->lane, run->end);
    YK_TRY(backend->lane_synchronize(run->lane));
    *out = backend->event_time_s(run->end) - backend->event_time_s(run->begin);
    return YK_OK;
}

/* Every size and both ways in turn, each round begun by all ranks together. */
static yk_status run_round(struct run *run, bool counts)
{
    YK_TRY(yk_host_collective_barrier(run->team->host_communicator));
    for (int32_t i = 0; i < run->size_count; i++) {
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            double seconds = 0;
            YK_TRY(time_copy(run, direction, i, &seconds));
            if (counts) {
                YK_TRY(yk_timings_add(&run->timings[direction][i], seconds));
            }
        }
    }
    return YK_OK;
}

static yk_status run_rounds(struct run *run)
{
    const struct yk_profiler_callbacks *callbacks = &run->request->callbacks;
    for (int32_t round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
        bool stops = false;
        YK_TRY(yk_profiler_should_stop(run->profiler, &stops));
        if (stops) {
            return YK_OK;
        }
        if (callbacks->progress) {
            callbacks->progress(callbacks->user, "copies",
                                (double)round / (WARM_UP_ROUNDS + ROUNDS));
        }
        YK_TRY(run_round(run, round >= WARM_UP_ROUNDS));
    }
    return YK_OK;
}

/* ---- rows ---- */

/* The slowest of the ranks whose device has this name. */
static struct yk_profile_measurement slowest_of(const struct run *run, const char *name,
                                                int32_t row)
{
    struct yk_profile_measurement slowest = {.versions = run->request->versions};
    for (int32_t rank = 0; rank < run->team->host_communicator->size; rank++) {
        const double *made = &run->all[((int64_t)rank * ROWS + row) * NUMBERS];
        char other[YK_PROFILE_KEY_SIZE];
        if (yk_profile_key_format_host_link(&run->request->cluster->devices[rank], NULL, other) &&
            strcmp(name, other) == 0 && made[0] > slowest.value) {
            slowest.value = made[0];
            slowest.spread = made[1];
            slowest.samples = (int64_t)made[2];
        }
    }
    return slowest;
}

static yk_status add_device(const struct run *run, const char *name)
{
    for (int32_t row = 0; row < ROWS; row++) {
        const struct yk_profiler_link_row made = {
            .link = {.link = name, .collective = directions[row / MAX_SIZES], .ranks = 1},
            .bytes = run->sizes[row % MAX_SIZES],
            .measurement = slowest_of(run, name, row),
        };
        if (made.measurement.value > 0) {
            YK_TRY(yk_profiler_add_link_row(run->profiler, &made));
        }
    }
    return YK_OK;
}

/* A device of a kind that came before replaces its rows with the same. */
static yk_status add_rows(struct run *run)
{
    for (int32_t row = 0; row < ROWS; row++) {
        struct yk_timings *timings = &run->timings[row / MAX_SIZES][row % MAX_SIZES];
        const struct yk_profile_measurement made =
            yk_timings_summarize(timings, run->request->versions);
        double *own = &run->own[(int64_t)row * NUMBERS];
        own[0] = made.samples > 0 ? made.value : 0;
        own[1] = made.spread;
        own[2] = (double)made.samples;
    }
    YK_TRY(yk_measuring_ranks_all_gather(run->team, run->own, ROWS * NUMBERS, run->all));
    for (int32_t rank = 0; rank < run->team->host_communicator->size; rank++) {
        char name[YK_PROFILE_KEY_SIZE];
        if (yk_profile_key_format_host_link(&run->request->cluster->devices[rank], NULL, name)) {
            YK_TRY(add_device(run, name));
        }
    }
    return yk_profiler_save_rows(run->profiler);
}

/* ---- what is known ---- */

/* Whether the profile has every size, both ways, for every device that has a name. */
static yk_status is_known(const struct run *run, bool *out)
{
    double known = 1;
    for (int32_t rank = 0; rank < run->team->host_communicator->size; rank++) {
        char name[YK_PROFILE_KEY_SIZE];
        const bool named =
            yk_profile_key_format_host_link(&run->request->cluster->devices[rank], NULL, name);
        for (int32_t row = 0; named && row < DIRECTIONS * run->size_count; row++) {
            const struct yk_profile_link_key link = {
                .link = name, .collective = directions[row / run->size_count], .ranks = 1};
            bool found = yk_profiler_has_link_row(run->profiler, &link, run->request->versions);
            if (!found && !run->request->remeasure) {
                YK_TRY(yk_profile_has_link_time(run->profiler->profile, &link,
                                                run->sizes[row % run->size_count],
                                                run->request->versions, &found));
            }
            known = found ? known : 0;
        }
    }
    YK_TRY(yk_measuring_ranks_all_reduce_max(run->team, known, &known));
    *out = known > 0;
    return YK_OK;
}

static yk_status measure(struct run *run, struct yk_arena *arena)
{
    bool known = false;
    YK_TRY(is_known(run, &known));
    if (known) {
        return YK_OK;
    }
    YK_TRY_NEW(arena, run->all, (int64_t)run->team->host_communicator->size * ROWS * NUMBERS);
    yk_status status = open_copies(run);
    YK_IF_OK(run_rounds(run));
    if (status == YK_OK && !run->profiler->stopped) {
        status = add_rows(run);
    }
    close_copies(run);
    return status;
}

yk_status yk_profiler_measure_device_copies_up_to(struct yk_profiler *profiler,
                                                  const struct yk_measuring_ranks *team,
                                                  const struct yk_profiler_request *request,
                                                  int64_t max_bytes)
{
    struct run run = {.profiler = profiler, .team = team, .request = request};
    profiler->team = team;
    profiler->request = request;
    list_sizes(&run, max_bytes);
    YK_TRY_WITH_TEMPORARY_ARENA(arena, measure(&run, arena));
    return YK_OK;
}

yk_status yk_profiler_measure_device_copies(struct yk_profiler *profiler,
                                            const struct yk_measuring_ranks *team,
                                            const struct yk_profiler_request *request)
{
    /* All of them or none: they wait for each other. */
    double lacking = 0;
    YK_TRY(yk_measuring_ranks_all_reduce_max(team, team->context.backend->used_bytes ? 0 : 1,
                                             &lacking));
    return lacking > 0 ? YK_OK
                       : yk_profiler_measure_device_copies_up_to(profiler, team, request, LARGEST);
}
