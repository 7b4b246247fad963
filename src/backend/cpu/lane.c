#include "backend/cpu/lane.h"

#include "backend/cpu/counter.h"
#include "backend/cpu/device.h"
#include "base/clock.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum {
    RING = 1024 /* ops that may wait on a lane; a power of two */
};

struct entry {
    yk_cpu_kernel kernel; /* NULL: the lane ends */
    alignas(max_align_t) unsigned char op[YK_CPU_OP_BYTES];
};

/* Entry number i, counted from 0, is at i mod RING from the moment that `enqueued` is above i until
 * `done` is. */
struct yk_backend_lane {
    pthread_t thread;
    int threads;  /* that share a kernel's work */
    bool started; /* they could all be had */
    struct yk_cpu_pins *pins;
    char name[16]; /* all that Linux keeps */
    struct yk_cpu_counter enqueued;
    struct yk_cpu_counter done;
    struct entry ring[RING];
};

/* Occurrences are numbered from 1 when they are recorded, and happen in that order. */
struct yk_backend_event {
    atomic_uint_fast64_t recorded;
    struct yk_cpu_counter happened;
    _Atomic double time_s;
};

struct occurrence {
    struct yk_backend_event *event;
    uint64_t number;
};

static void *run_lane(void *argument)
{
    struct yk_backend_lane *lane = argument;
    for (uint64_t i = 0;; i++) {
        yk_cpu_counter_wait(&lane->enqueued, i + 1);
        const struct entry *entry = &lane->ring[i % RING];
        if (!entry->kernel) {
            return NULL;
        }
        entry->kernel(lane->threads, entry->op);
        yk_cpu_counter_raise(&lane->done, i + 1);
    }
}

void yk_cpu_lane_enqueue(struct yk_backend_lane *lane, yk_cpu_kernel kernel, const void *op,
                         size_t size)
{
    assert(size <= YK_CPU_OP_BYTES);
    const uint64_t at = yk_cpu_counter_value(&lane->enqueued);
    if (at >= RING) {
        yk_cpu_counter_wait(&lane->done, at - RING + 1);
    }
    struct entry *entry = &lane->ring[at % RING];
    entry->kernel = kernel;
    if (size > 0) {
        memcpy(entry->op, op, size);
    }
    yk_cpu_counter_raise(&lane->enqueued, at + 1);
}

/* The first op of a lane. */
static void start_sharing(int threads, const void *op)
{
    (void)threads;
    struct yk_backend_lane *const *lane = op;
    (*lane)->started = yk_cpu_pin_lane((*lane)->pins, (*lane)->name, &(*lane)->threads);
}

static yk_status refuse_threads(int count, const char *name)
{
    return yk_fail(YK_ERROR_SYSTEM,
                   "the system refuses %d thread%s for the lane '%s': raise the limit (ulimit -u, "
                   "ulimit -v) or use fewer --threads",
                   count, count == 1 ? "" : "s", name);
}

static yk_status start_threads(struct yk_backend_lane *lane, const char *name)
{
    const int threads = lane->threads; /* the lane may use fewer */
    strncpy(lane->name, name, sizeof lane->name - 1);
    if (pthread_create(&lane->thread, NULL, run_lane, lane) != 0) {
        return refuse_threads(threads, name);
    }
    (void)pthread_setname_np(lane->thread, lane->name);
    yk_cpu_lane_enqueue(lane, start_sharing, &lane,
                        sizeof lane); /* NOLINT(bugprone-sizeof-expression) */
    yk_cpu_counter_wait(&lane->done, 1);
    if (!lane->started) {
        yk_cpu_lane_enqueue(lane, NULL, NULL, 0);
        pthread_join(lane->thread, NULL);
        return refuse_threads(threads, name);
    }
    return YK_OK;
}

yk_status yk_cpu_lane_create(struct yk_backend_device *device, const char *name,
                             struct yk_backend_lane **out)
{
    yk_status status;
    struct yk_backend_lane *lane = calloc(1, sizeof *lane);
    if (!lane) {
        return yk_fail_out_of_memory();
    }
    lane->threads = device->threads;
    lane->pins = &device->pins;
    YK_TRY_GOTO(yk_cpu_counter_init(&lane->enqueued), free_lane);
    YK_TRY_GOTO(yk_cpu_counter_init(&lane->done), end_enqueued);
    YK_TRY_GOTO(start_threads(lane, name), end_done);
    *out = lane;
    return YK_OK;
end_done:
    yk_cpu_counter_destroy(&lane->done);
end_enqueued:
    yk_cpu_counter_destroy(&lane->enqueued);
free_lane:
    free(lane);
    return status;
}

void yk_cpu_lane_destroy(struct yk_backend_lane *lane)
{
    if (!lane) {
        return;
    }
    yk_cpu_lane_enqueue(lane, NULL, NULL, 0);
    pthread_join(lane->thread, NULL);
    yk_cpu_counter_destroy(&lane->done);
    yk_cpu_counter_destroy(&lane->enqueued);
    free(lane);
}

yk_status yk_cpu_lane_synchronize(struct yk_backend_lane *lane)
{
    yk_cpu_counter_wait(&lane->done, yk_cpu_counter_value(&lane->enqueued));
    return YK_OK;
}

yk_status yk_cpu_lane_event_create(struct yk_backend_device *device, struct yk_backend_event **out)
{
    (void)device;
    struct yk_backend_event *event = calloc(1, sizeof *event);
    if (!event) {
        return yk_fail_out_of_memory();
    }
    const yk_status status = yk_cpu_counter_init(&event->happened);
    if (status != YK_OK) {
        free(event);
        return status;
    }
    *out = event;
    return YK_OK;
}

void yk_cpu_lane_event_destroy(struct yk_backend_event *event)
{
    if (event) {
        yk_cpu_counter_destroy(&event->happened);
        free(event);
    }
}

/* The one before may have been recorded on another lane that is behind: nobody who waits for it may
 * be let go by this one. It was recorded first, so it does not wait for this lane. */
static void happen(int threads, const void *op)
{
    (void)threads;
    const struct occurrence *occurrence = op;
    struct yk_backend_event *event = occurrence->event;
    yk_cpu_counter_wait(&event->happened, occurrence->number - 1);
    atomic_store(&event->time_s, yk_clock_now_s());
    yk_cpu_counter_raise(&event->happened, occurrence->number);
}

static void wait_for(int threads, const void *op)
{
    (void)threads;
    const struct occurrence *occurrence = op;
    yk_cpu_counter_wait(&occurrence->event->happened, occurrence->number);
}

void yk_cpu_lane_event_record(struct yk_backend_lane *lane, struct yk_backend_event *event)
{
    const struct occurrence next = {event, atomic_fetch_add(&event->recorded, 1) + 1};
    yk_cpu_lane_enqueue(lane, happen, &next, sizeof next);
}

void yk_cpu_lane_event_wait(struct yk_backend_lane *lane, struct yk_backend_event *event)
{
    const struct occurrence last = {event, atomic_load(&event->recorded)};
    yk_cpu_lane_enqueue(lane, wait_for, &last, sizeof last);
}

yk_status yk_cpu_lane_event_synchronize(struct yk_backend_event *event)
{
    yk_cpu_counter_wait(&event->happened, atomic_load(&event->recorded));
    return YK_OK;
}

bool yk_cpu_lane_event_query(const struct yk_backend_event *event)
{
    return yk_cpu_counter_value(&event->happened) >= atomic_load(&event->recorded);
}

double yk_cpu_lane_event_time_s(const struct yk_backend_event *event)
{
    return atomic_load(&event->time_s);
}
