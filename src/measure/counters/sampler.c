#include "measure/counters/sampler.h"

#include "base/clock.h"
#include "measure/counters/cpu.h"
#include "measure/counters/gpu.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double cpu_period_s = 0.02;

/* How far off the ends of readings may be. */
static const double gpm_ends_s = 0.5e-3;
static const double dcgm_ends_s = 0.05;

struct yk_counter_sampler {
    struct yk_counter_gpu *gpu; /* one of the two */
    struct yk_counter_cpu *cpu;
    double period_s;
    double length_s;                     /* wanted of the reading under way */
    struct yk_counter_reading *readings; /* (YK_COUNTER_SAMPLER_MAX_READINGS) */
    int32_t count;
    bool begun;     /* a reading is under way */
    double begin_s; /* of it, of a CPU */
    double computed_s;
    int64_t turn; /* how many lengths there were */
    bool started;
    pthread_t thread;
    pthread_mutex_t mutex; /* of `stopping` */
    pthread_cond_t wake;
    bool stopping;
};

/* Waiting is by the clock of base/clock.h. */
static yk_status make_bell(struct yk_counter_sampler *meters)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return yk_fail_out_of_memory();
    }
    int error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    error = error ? error : pthread_cond_init(&meters->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (error != 0) {
        return yk_fail_out_of_memory();
    }
    if (pthread_mutex_init(&meters->mutex, NULL) != 0) {
        (void)pthread_cond_destroy(&meters->wake);
        return yk_fail_out_of_memory();
    }
    return YK_OK;
}

static yk_status open_source(struct yk_counter_sampler *meters,
                             const struct yk_counter_sampler_options *options)
{
    if (options->gpu) {
        YK_TRY(yk_counter_gpu_open(options->nvml, options->number, &meters->gpu));
        meters->period_s = yk_counter_gpu_period_s(meters->gpu);
    } else {
        YK_TRY(yk_counter_cpu_open(&meters->cpu));
        meters->period_s = cpu_period_s;
    }
    if (options->period_s > 0) {
        meters->period_s = options->period_s;
    }
    return YK_OK;
}

yk_status yk_counter_sampler_open(const struct yk_counter_sampler_options *options,
                                  struct yk_counter_sampler **out)
{
    yk_status status = YK_OK;
    struct yk_counter_sampler *meters = calloc(1, sizeof *meters);
    if (!meters) {
        return yk_fail_out_of_memory();
    }
    /* Pages that no reading reaches cost nothing. */
    meters->readings = malloc(sizeof meters->readings[0] * YK_COUNTER_SAMPLER_MAX_READINGS);
    if (!meters->readings) {
        status = yk_fail_out_of_memory();
        goto free_meters;
    }
    YK_TRY_GOTO(make_bell(meters), free_readings);
    YK_TRY_GOTO(open_source(meters, options), free_bell);
    *out = meters;
    return YK_OK;

free_bell:
    (void)pthread_cond_destroy(&meters->wake);
    (void)pthread_mutex_destroy(&meters->mutex);
free_readings:
    free(meters->readings);
free_meters:
    free(meters);
    return status;
}

void yk_counter_sampler_close(struct yk_counter_sampler *meters)
{
    if (!meters) {
        return;
    }
    yk_counter_sampler_stop(meters);
    yk_counter_gpu_close(meters->gpu);
    yk_counter_cpu_close(meters->cpu);
    (void)pthread_cond_destroy(&meters->wake);
    (void)pthread_mutex_destroy(&meters->mutex);
    free(meters->readings);
    free(meters);
}

/* The average over both, each by its length; of one alone where the other does not know. */
static struct yk_counter_reading join(const struct yk_counter_reading *first,
                                      const struct yk_counter_reading *second)
{
    struct yk_counter_reading both = {.begin_s = first->begin_s, .end_s = second->end_s};
    const double part = (first->end_s - first->begin_s) / (both.end_s - both.begin_s);
    for (int i = 0; i < YK_COUNTER_COUNT; i++) {
        const double a = first->values[i];
        const double b = second->values[i];
        both.values[i] = isnan(a) ? b : isnan(b) ? a : part * a + (1 - part) * b;
    }
    return both;
}

/* Every two that follow each other become one; what was not watched between stays so. */
static void thin(struct yk_counter_sampler *meters)
{
    struct yk_counter_reading *readings = meters->readings;
    int32_t kept = 0;
    for (int32_t i = 0; i < meters->count; kept++) {
        if (i + 1 < meters->count && readings[i].end_s >= readings[i + 1].begin_s) {
            readings[kept] = join(&readings[i], &readings[i + 1]);
            i += 2;
        } else {
            readings[kept] = readings[i++];
        }
    }
    /* Only readings that all stand alone are left as they are: then the latest make room. */
    meters->count =
        kept < YK_COUNTER_SAMPLER_MAX_READINGS ? kept : YK_COUNTER_SAMPLER_MAX_READINGS / 2;
    meters->period_s *= 2;
}

/* Between 3/4 and 5/4 of a period, spread evenly over time: multiples of the golden ratio. */
static double next_length_s(struct yk_counter_sampler *meters)
{
    const double golden = 0.6180339887498949;
    const double turn = golden * (double)meters->turn++;
    return meters->period_s * (0.75 + 0.5 * (turn - floor(turn)));
}

static void take_cpu(struct yk_counter_sampler *meters, double now_s,
                     struct yk_counter_reading *out)
{
    *out = (struct yk_counter_reading){.begin_s = meters->begin_s, .end_s = now_s};
    for (int i = 0; i < YK_COUNTER_COUNT; i++) {
        out->values[i] = NAN;
    }
    yk_counter_cpu_read(meters->cpu, meters->begun ? now_s - meters->begin_s : 0, out->values);
    meters->begin_s = now_s;
}

void yk_counter_sampler_poll(struct yk_counter_sampler *meters, double now_s)
{
    struct yk_counter_reading reading;
    bool ends = true;
    if (!meters->gpu) {
        take_cpu(meters, now_s, &reading);
    } else if (meters->begun) {
        ends = yk_counter_gpu_poll(meters->gpu, now_s, meters->length_s, &reading);
    } else {
        yk_counter_gpu_start(meters->gpu, now_s);
    }
    if (meters->begun && ends && reading.end_s > reading.begin_s) {
        meters->readings[meters->count++] = reading;
    }
    if (meters->count == YK_COUNTER_SAMPLER_MAX_READINGS) {
        thin(meters);
    }
    if (ends) {
        meters->length_s = next_length_s(meters);
    }
    meters->begun = true;
}

double yk_counter_sampler_next_s(struct yk_counter_sampler *meters)
{
    return meters->gpu ? yk_counter_gpu_next_s(meters->gpu, meters->length_s)
                       : meters->begin_s + meters->length_s;
}

/* True when it is time to end. */
static bool wait_until(struct yk_counter_sampler *meters, double until_s)
{
    const struct timespec until = {
        .tv_sec = (time_t)until_s,
        .tv_nsec = (long)(1e9 * (until_s - floor(until_s))),
    };
    (void)pthread_mutex_lock(&meters->mutex);
    int error = 0;
    while (!meters->stopping && error == 0) {
        error = pthread_cond_timedwait(&meters->wake, &meters->mutex, &until);
    }
    const bool stopping = meters->stopping;
    (void)pthread_mutex_unlock(&meters->mutex);
    return stopping;
}

static double thread_computed_s(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Where any moment may end a reading, this one does. */
static void take_last(struct yk_counter_sampler *meters, double now_s)
{
    const bool any = !meters->gpu || yk_counter_gpu_can_end_any_time(meters->gpu);
    if (any && yk_counter_sampler_next_s(meters) - now_s <= 0.5 * meters->length_s) {
        yk_counter_sampler_poll(meters, now_s);
    }
}

static void *watch(void *user)
{
    struct yk_counter_sampler *meters = user;
    (void)pthread_setname_np(pthread_self(), "yoke-meters");
    do {
        yk_counter_sampler_poll(meters, yk_clock_now_s());
    } while (!wait_until(meters, yk_counter_sampler_next_s(meters)));
    take_last(meters, yk_clock_now_s());
    meters->computed_s += thread_computed_s();
    return NULL;
}

yk_status yk_counter_sampler_start(struct yk_counter_sampler *meters)
{
    sigset_t all;
    sigset_t before;
    if (meters->started) {
        return YK_OK;
    }
    meters->stopping = false;
    meters->begun = false;
    /* Signals are for the threads that know what to do with them. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&meters->thread, NULL, watch, meters);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot start the thread that reads counters: %s",
                       strerror(error));
    }
    meters->started = true;
    return YK_OK;
}

void yk_counter_sampler_stop(struct yk_counter_sampler *meters)
{
    if (meters->started) {
        (void)pthread_mutex_lock(&meters->mutex);
        meters->stopping = true;
        (void)pthread_cond_signal(&meters->wake);
        (void)pthread_mutex_unlock(&meters->mutex);
        (void)pthread_join(meters->thread, NULL);
        meters->started = false;
    }
    if (meters->gpu) {
        yk_counter_gpu_stop(meters->gpu);
    }
    meters->begun = false;
}

void yk_counter_sampler_readings(const struct yk_counter_sampler *meters,
                                 const struct yk_counter_reading **out, int32_t *count)
{
    *out = meters->readings;
    *count = meters->count;
}

void yk_counter_sampler_describe(const struct yk_counter_sampler *meters, struct yk_text *text)
{
    if (meters->gpu) {
        yk_counter_gpu_describe(meters->gpu, meters->period_s, text);
    } else {
        yk_counter_cpu_describe(meters->cpu, meters->period_s, text);
    }
}

double yk_counter_sampler_edge_error_s(const struct yk_counter_sampler *meters)
{
    const bool any = meters->gpu && yk_counter_gpu_can_end_any_time(meters->gpu);
    return !meters->gpu ? 0 : any ? dcgm_ends_s : gpm_ends_s;
}

double yk_counter_sampler_period_s(const struct yk_counter_sampler *meters)
{
    return meters->period_s;
}

double yk_counter_sampler_computed_s(const struct yk_counter_sampler *meters)
{
    return meters->computed_s;
}
