/* Timing: how long forms take, by the GPU's events and by the host's clock. */
#ifndef YK_BENCH_GPU_QKV_TIMING_H
#define YK_BENCH_GPU_QKV_TIMING_H

#include "gpu/qkv/forms.h"

enum {
    ROUNDS = 15, /* in each, every form once */
    MOST_FORMS = 16,
};

/* Microseconds of one turn. */
struct sample {
    double
        device_us;   /* where the GPU is never without work: what is put on it lies there already */
    double host_us;  /* until the host may go on */
    double alone_us; /* from the host's call until it knows that all is done, with nothing before */
};

/* How long a clear of long_room takes, which is made here, and what a copy moves, both ways
 * together. */
void measure_memory(struct bench *bench);

/* All forms, by turns; the medians of each. */
void measure(struct bench *bench, const struct product *product, const struct form *forms,
             int count, struct sample *out);

#endif
