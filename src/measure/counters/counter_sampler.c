#include "measure/counters/counter_sampler.h"

#include "base/clock.h"
#include "measure/counters/cpu_counters.h"
#include "measure/counters/gpu_counters.h"

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
    struct yk_gpu_counters *gpu; /* one of the two */
    struct yk_cpu_counters *cpu;
    double period_s;
    double length_s;                     /* wanted of the reading under way */
    struct yk_counter_reading *readings; /* (YK_COUNTER_SAMPLER_MAX_READINGS) */
    int32_t count;
    bool begun;     /* a reading is under way */
    double begin_s; /* of it, of a CPU */
    int64_t number; /* how many lengths there were */
    bool started;
    pthread_t thread;
    pthread_mutex_t mutex; /* of `stopping` */
    pthread_cond_t wake;
    bool stopping;
};

/* Waiting is by the clock of base/clock.h. */
static void create_wake(struct yk_counter_sampler *sampler)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&sampler->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_init(&sampler->mutex, NULL);
}

static yk_status open_source(struct yk_counter_sampler *sampler,
                             const struct yk_counter_sampler_options *options)
{
    /* Pages that no reading reaches cost nothing. */
    sampler->readings = malloc(sizeof sampler->readings[0] * YK_COUNTER_SAMPLER_MAX_READINGS);
    YK_TRY_ALLOCATED(sampler->readings);
    if (options->gpu) {
        YK_TRY(yk_gpu_counters_open(options->nvml, options->number, &sampler->gpu));
        sampler->period_s = yk_gpu_counters_default_period_s(sampler->gpu);
    } else {
        YK_TRY(yk_cpu_counters_open(&sampler->cpu));
        sampler->period_s = cpu_period_s;
    }
    if (options->period_s > 0) {
        sampler->period_s = options->period_s;
    }
    return YK_OK;
}

yk_status yk_counter_sampler_open(const struct yk_counter_sampler_options *options,
                                  struct yk_counter_sampler **out)
{
    struct yk_counter_sampler *sampler = calloc(1, sizeof *sampler);
    YK_TRY_ALLOCATED(sampler);
    create_wake(sampler);
    YK_TRY_OR_CLEAN_UP(open_source(sampler, options), yk_counter_sampler_close(sampler));
    *out = sampler;
    return YK_OK;
}

void yk_counter_sampler_close(struct yk_counter_sampler *sampler)
{
    if (!sampler) {
        return;
    }
    yk_counter_sampler_stop(sampler);
    yk_gpu_counters_close(sampler->gpu);
    yk_cpu_counters_close(sampler->cpu);
    (void)pthread_cond_destroy(&sampler->wake);
    (void)pthread_mutex_destroy(&sampler->mutex);
    free(sampler->readings);
    free(sampler);
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
static void thin(struct yk_counter_sampler *sampler)
{
    struct yk_counter_reading *readings = sampler->readings;
    int32_t kept = 0;
    for (int32_t i = 0; i < sampler->count; kept++) {
        if (i + 1 < sampler->count && readings[i].end_s >= readings[i + 1].begin_s) {
            readings[kept] = join(&readings[i], &readings[i + 1]);
            i += 2;
        } else {
            readings[kept] = readings[i++];
        }
    }
    /* Only readings that all stand alone are left as they are: then the latest make room. */
    sampler->count =
        kept < YK_COUNTER_SAMPLER_MAX_READINGS ? kept : YK_COUNTER_SAMPLER_MAX_READINGS / 2;
    sampler->period_s *= 2;
}

/* Between 3/4 and 5/4 of a period, spread evenly over time: multiples of the golden ratio. */
static double next_length_s(struct yk_counter_sampler *sampler)
{
    const double golden = 0.6180339887498949;
    const double number = golden * (double)sampler->number++;
    return sampler->period_s * (0.75 + 0.5 * (number - floor(number)));
}

static void read_cpu(struct yk_counter_sampler *sampler, double now_s,
                     struct yk_counter_reading *out)
{
    *out = (struct yk_counter_reading){.begin_s = sampler->begin_s, .end_s = now_s};
    for (int i = 0; i < YK_COUNTER_COUNT; i++) {
        out->values[i] = NAN;
    }
    yk_cpu_counters_read(sampler->cpu, sampler->begun ? now_s - sampler->begin_s : 0, out->values);
    sampler->begin_s = now_s;
}

void yk_counter_sampler_poll(struct yk_counter_sampler *sampler, double now_s)
{
    struct yk_counter_reading reading;
    bool ends = true;
    if (!sampler->gpu) {
        read_cpu(sampler, now_s, &reading);
    } else if (sampler->begun) {
        ends = yk_gpu_counters_poll(sampler->gpu, now_s, sampler->length_s, &reading);
    } else {
        yk_gpu_counters_start(sampler->gpu, now_s);
    }
    if (sampler->begun && ends && reading.end_s > reading.begin_s) {
        sampler->readings[sampler->count++] = reading;
    }
    if (sampler->count == YK_COUNTER_SAMPLER_MAX_READINGS) {
        thin(sampler);
    }
    if (ends) {
        sampler->length_s = next_length_s(sampler);
    }
    sampler->begun = true;
}

double yk_counter_sampler_next_poll_s(struct yk_counter_sampler *sampler)
{
    return sampler->gpu ? yk_gpu_counters_next_poll_s(sampler->gpu, sampler->length_s)
                        : sampler->begin_s + sampler->length_s;
}

/* True when it is time to end. */
static bool wait_until(struct yk_counter_sampler *sampler, double until_s)
{
    const struct timespec until = {
        .tv_sec = (time_t)until_s,
        .tv_nsec = (long)(1e9 * (until_s - floor(until_s))),
    };
    (void)pthread_mutex_lock(&sampler->mutex);
    int error = 0;
    while (!sampler->stopping && error == 0) {
        error = pthread_cond_timedwait(&sampler->wake, &sampler->mutex, &until);
    }
    const bool stopping = sampler->stopping;
    (void)pthread_mutex_unlock(&sampler->mutex);
    return stopping;
}

/* Where any moment may end a reading, this one does. */
static void poll_last(struct yk_counter_sampler *sampler, double now_s)
{
    const bool any = !sampler->gpu || yk_gpu_counters_can_end_reading_any_time(sampler->gpu);
    if (any && yk_counter_sampler_next_poll_s(sampler) - now_s <= 0.5 * sampler->length_s) {
        yk_counter_sampler_poll(sampler, now_s);
    }
}

static void *watch(void *user)
{
    struct yk_counter_sampler *sampler = user;
    (void)pthread_setname_np(pthread_self(), "yoke-meters");
    do {
        yk_counter_sampler_poll(sampler, yk_clock_now_s());
    } while (!wait_until(sampler, yk_counter_sampler_next_poll_s(sampler)));
    poll_last(sampler, yk_clock_now_s());
    return NULL;
}

yk_status yk_counter_sampler_start(struct yk_counter_sampler *sampler)
{
    sigset_t all;
    sigset_t before;
    if (sampler->started) {
        return YK_OK;
    }
    sampler->stopping = false;
    sampler->begun = false;
    /* Signals are for the threads that know what to do with them. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&sampler->thread, NULL, watch, sampler);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot start the thread that reads counters: %s",
                       strerror(error));
    }
    sampler->started = true;
    return YK_OK;
}

void yk_counter_sampler_stop(struct yk_counter_sampler *sampler)
{
    if (sampler->started) {
        (void)pthread_mutex_lock(&sampler->mutex);
        sampler->stopping = true;
        (void)pthread_cond_signal(&sampler->wake);
        (void)pthread_mutex_unlock(&sampler->mutex);
        (void)pthread_join(sampler->thread, NULL);
        sampler->started = false;
    }
    if (sampler->gpu) {
        yk_gpu_counters_stop(sampler->gpu);
    }
    sampler->begun = false;
}

void yk_counter_sampler_get_readings(const struct yk_counter_sampler *sampler,
                                     const struct yk_counter_reading **out, int32_t *count)
{
    *out = sampler->readings;
    *count = sampler->count;
}

void yk_counter_sampler_describe(const struct yk_counter_sampler *sampler, struct yk_text *text)
{
    if (sampler->gpu) {
        yk_gpu_counters_describe(sampler->gpu, sampler->period_s, text);
    } else {
        yk_cpu_counters_describe(sampler->cpu, sampler->period_s, text);
    }
}

double yk_counter_sampler_max_time_error_s(const struct yk_counter_sampler *sampler)
{
    const bool any = sampler->gpu && yk_gpu_counters_can_end_reading_any_time(sampler->gpu);
    return !sampler->gpu ? 0 : any ? dcgm_ends_s : gpm_ends_s;
}

double yk_counter_sampler_period_s(const struct yk_counter_sampler *sampler)
{
    return sampler->period_s;
}
