#include "backend/cpu/cpu.h"

#include "base/clock.h"
#include "base/status.h"

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A counter that only grows and that threads wait for. One thread at a time raises it. A thread
 * that sees the new value also sees everything that was written before the raise.
 */
struct counter {
    atomic_uint_fast64_t value;
    pthread_mutex_t mutex;
    int sleepers; /* protected by the mutex */
    pthread_cond_t raised;
};

enum {
    SPINS = 4000 /* a few microseconds: about the cost of sleeping and waking */
};

static yk_status counter_init(struct counter *count)
{
    atomic_init(&count->value, 0);
    count->sleepers = 0;
    if (pthread_mutex_init(&count->mutex, NULL) != 0) {
        return yk_fail_out_of_memory();
    }
    if (pthread_cond_init(&count->raised, NULL) != 0) {
        pthread_mutex_destroy(&count->mutex);
        return yk_fail_out_of_memory();
    }
    return YK_OK;
}

/* Waits for the thread that raised the counter last: it may still hold the mutex. */
static void counter_destroy(struct counter *count)
{
    pthread_mutex_lock(&count->mutex);
    pthread_mutex_unlock(&count->mutex);
    pthread_cond_destroy(&count->raised);
    pthread_mutex_destroy(&count->mutex);
}

static uint64_t counter_value(const struct counter *count)
{
    return atomic_load_explicit(&count->value, memory_order_acquire);
}

static void counter_raise(struct counter *count, uint64_t value)
{
    pthread_mutex_lock(&count->mutex);
    atomic_store_explicit(&count->value, value, memory_order_release);
    if (count->sleepers > 0) {
        pthread_cond_broadcast(&count->raised);
    }
    pthread_mutex_unlock(&count->mutex);
}

/* Waits until the counter is at least `value`: spins for a few microseconds, then sleeps. */
static void counter_wait(struct counter *count, uint64_t value)
{
    for (int i = 0; i < SPINS; i++) {
        if (counter_value(count) >= value) {
            return;
        }
    }
    pthread_mutex_lock(&count->mutex);
    count->sleepers++;
    while (counter_value(count) < value) {
        pthread_cond_wait(&count->raised, &count->mutex);
    }
    count->sleepers--;
    pthread_mutex_unlock(&count->mutex);
}

/* ---- lane ---- */

enum {
    RING = 1024 /* max number of waiting ops; a power of two */
};

struct entry {
    yk_cpu_kernel kernel; /* NULL means: end the thread of the lane */
    alignas(max_align_t) unsigned char op[YK_CPU_OP_MAX_BYTES];
};

/* Entry i is in ring[i mod RING] while done ≤ i < enqueued. */
struct yk_backend_lane {
    pthread_t thread;
    int threads;  /* available to a kernel */
    bool started; /* all threads were started */
    struct yk_cpu_affinity *affinity;
    char name[16]; /* the limit of Linux for thread names */
    struct counter enqueued;
    struct counter done;
    struct entry ring[RING];
};

/* Records of an event are numbered from 1 and happen in that order. */
struct yk_backend_event {
    atomic_uint_fast64_t recorded;
    struct counter happened;
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
        counter_wait(&lane->enqueued, i + 1);
        const struct entry *entry = &lane->ring[i % RING];
        if (!entry->kernel) {
            return NULL;
        }
        entry->kernel(lane->threads, entry->op);
        counter_raise(&lane->done, i + 1);
    }
}

void yk_cpu_lane_enqueue(struct yk_backend_lane *lane, yk_cpu_kernel kernel, const void *op,
                         size_t size)
{
    assert(size <= YK_CPU_OP_MAX_BYTES);
    const uint64_t at = counter_value(&lane->enqueued);
    if (at >= RING) {
        counter_wait(&lane->done, at - RING + 1);
    }
    struct entry *entry = &lane->ring[at % RING];
    entry->kernel = kernel;
    if (size > 0) {
        memcpy(entry->op, op, size);
    }
    counter_raise(&lane->enqueued, at + 1);
}

/* The first kernel of every lane. */
static void start_sharing(int threads, const void *op)
{
    (void)threads;
    struct yk_backend_lane *const *lane = op;
    (*lane)->started =
        yk_cpu_affinity_start_lane_threads((*lane)->affinity, (*lane)->name, &(*lane)->threads);
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
    const int threads = lane->threads; /* the lane "comm" reduces it */
    strncpy(lane->name, name, sizeof lane->name - 1);
    if (pthread_create(&lane->thread, NULL, run_lane, lane) != 0) {
        return refuse_threads(threads, name);
    }
    (void)pthread_setname_np(lane->thread, lane->name);
    yk_cpu_lane_enqueue(lane, start_sharing, &lane,
                        sizeof lane); /* NOLINT(bugprone-sizeof-expression) */
    counter_wait(&lane->done, 1);
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
    YK_TRY_ALLOCATED(lane);
    lane->threads = device->threads;
    lane->affinity = &device->affinity;
    YK_TRY_GOTO(counter_init(&lane->enqueued), free_lane);
    YK_TRY_GOTO(counter_init(&lane->done), end_enqueued);
    YK_TRY_GOTO(start_threads(lane, name), end_done);
    *out = lane;
    return YK_OK;
end_done:
    counter_destroy(&lane->done);
end_enqueued:
    counter_destroy(&lane->enqueued);
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
    counter_destroy(&lane->done);
    counter_destroy(&lane->enqueued);
    free(lane);
}

yk_status yk_cpu_lane_synchronize(struct yk_backend_lane *lane)
{
    counter_wait(&lane->done, counter_value(&lane->enqueued));
    return YK_OK;
}

yk_status yk_cpu_lane_event_create(struct yk_backend_device *device, struct yk_backend_event **out)
{
    (void)device;
    struct yk_backend_event *event = calloc(1, sizeof *event);
    YK_TRY_ALLOCATED(event);
    YK_TRY_OR_CLEAN_UP(counter_init(&event->happened), free(event));
    *out = event;
    return YK_OK;
}

void yk_cpu_lane_event_destroy(struct yk_backend_event *event)
{
    if (event) {
        counter_destroy(&event->happened);
        free(event);
    }
}

/* The record before may be on another lane that has not reached it yet. Threads that wait for that
 * record must not continue because of this one. This cannot deadlock, because that record does not
 * depend on this lane. */
static void happen(int threads, const void *op)
{
    (void)threads;
    const struct occurrence *occurrence = op;
    struct yk_backend_event *event = occurrence->event;
    counter_wait(&event->happened, occurrence->number - 1);
    atomic_store(&event->time_s, yk_clock_now_s());
    counter_raise(&event->happened, occurrence->number);
}

static void wait_for(int threads, const void *op)
{
    (void)threads;
    const struct occurrence *occurrence = op;
    counter_wait(&occurrence->event->happened, occurrence->number);
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
    counter_wait(&event->happened, atomic_load(&event->recorded));
    return YK_OK;
}

bool yk_cpu_lane_event_query(const struct yk_backend_event *event)
{
    return counter_value(&event->happened) >= atomic_load(&event->recorded);
}

double yk_cpu_lane_event_time_s(const struct yk_backend_event *event)
{
    return atomic_load(&event->time_s);
}
