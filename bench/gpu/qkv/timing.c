#include "gpu/qkv/timing.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

enum {
    REPEATS = 20, /* of a form, one right after the other */
    LONG_BYTES = 256 << 20,
};

struct samples {
    double device_us[ROUNDS];
    double host_us[ROUNDS];
    double alone_us[ROUNDS];
};

static double now_us(void)
{
    return yk_clock_now_s() * 1e6;
}

static void enqueue_slow(struct bench *bench, double min_us)
{
    double enqueue_us = 0;
    while (enqueue_us < min_us) {
        bench->backend->clear(bench->lanes[0], bench->long_room, LONG_BYTES);
        enqueue_us += bench->clear_us;
    }
}

/* `ahead_us` is how long the GPU is kept busy before the first turn begins. */
static struct sample measure_sample(struct bench *bench, const struct product *product,
                                    const struct form *form, double ahead_us)
{
    cudaStream_t stream = bench->lanes[0]->stream;
    struct sample sample;
    float elapsed_ms = 0;
    bench_finish(bench);
    double begin_us = now_us();
    form_enqueue(bench, product, form);
    must(cudaStreamSynchronize(stream), form->name);
    sample.alone_us = now_us() - begin_us;
    if (!form->waits) {
        enqueue_slow(bench, ahead_us);
    }
    must(cudaEventRecord(bench->begin, stream), form->name);
    begin_us = now_us();
    for (int i = 0; i < REPEATS; i++) {
        form_enqueue(bench, product, form);
    }
    sample.host_us = (now_us() - begin_us) / REPEATS;
    must(cudaEventRecord(bench->end, stream), form->name);
    must(cudaEventSynchronize(bench->end), form->name);
    must(cudaEventElapsedTime(&elapsed_ms, bench->begin, bench->end), form->name);
    sample.device_us = (double)elapsed_ms * 1000 / REPEATS;
    bench_finish(bench);
    return sample;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

void measure(struct bench *bench, const struct product *product, const struct form *forms,
             int count, struct sample *out)
{
    static struct samples samples[MOST_FORMS];
    double ahead_us[MOST_FORMS];
    for (int i = 0; i < count; i++) { /* what the host needs is not known before */
        ahead_us[i] = 2 * REPEATS * measure_sample(bench, product, &forms[i], 0).host_us + 200;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++) {
            const struct sample one = measure_sample(bench, product, &forms[i], ahead_us[i]);
            samples[i].device_us[round] = one.device_us;
            samples[i].host_us[round] = one.host_us;
            samples[i].alone_us[round] = one.alone_us;
        }
    }
    for (int i = 0; i < count; i++) {
        out[i].device_us = median(samples[i].device_us);
        out[i].host_us = median(samples[i].host_us);
        out[i].alone_us = median(samples[i].alone_us);
    }
}

void measure_memory(struct bench *bench)
{
    static const char doing[] = "measuring memory";
    const struct yk_backend *backend = bench->backend;
    cudaStream_t stream = bench->lanes[0]->stream;
    float clear_ms = INFINITY;
    float copy_ms = INFINITY;
    must_status(backend->allocate(bench->device, LONG_BYTES, &bench->long_room));
    for (int i = 0; i < 2 * ROUNDS; i++) {
        float *best_ms = i % 2 ? &copy_ms : &clear_ms;
        float elapsed_ms = 0;
        must(cudaEventRecord(bench->begin, stream), doing);
        for (int turn = 0; turn < REPEATS; turn++) {
            if (i % 2) {
                backend->copy(bench->lanes[0], bench->long_room,
                              (char *)bench->long_room + LONG_BYTES / 2, LONG_BYTES / 2);
            } else {
                backend->clear(bench->lanes[0], bench->long_room, LONG_BYTES);
            }
        }
        must(cudaEventRecord(bench->end, stream), doing);
        must(cudaEventSynchronize(bench->end), doing);
        must(cudaEventElapsedTime(&elapsed_ms, bench->begin, bench->end), doing);
        *best_ms = fminf(*best_ms, elapsed_ms / REPEATS);
    }
    bench_finish(bench);
    bench->clear_us = (double)clear_ms * 1000;
    bench->bandwidth_bytes_per_s = LONG_BYTES / ((double)copy_ms / 1000);
}
