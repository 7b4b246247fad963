/*
 * Rehearsal: steps of a model on this rank's device with one number of samples, run by the same
 * executor as in training.
 *
 * A layer that is timed alone finds its weights and its input in the caches; in a step they have
 * been elsewhere since. So what is timed is a step. It has two micro-batches: the first bears what
 * is done once a step, clearing gradients, and the second is what a pass takes by itself.
 *
 * One thread at a time. What it is made from must outlive it.
 */
#ifndef YK_MEASURE_BENCHMARK_BENCHMARK_H
#define YK_MEASURE_BENCHMARK_BENCHMARK_H

#include "base/status.h"
#include "measure/benchmark/model.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_benchmark; /* opaque */

/* `samples` in each micro-batch. It holds no memory of the device until it is entered. */
yk_status yk_benchmark_create(struct yk_benchmark_model *model, int64_t samples,
                              struct yk_benchmark **out) YK_MUST_USE;
void yk_benchmark_destroy(struct yk_benchmark *benchmark);

/* Takes the device's memory for steps, and gives it back when all that have begun are done. */
yk_status yk_benchmark_allocate(struct yk_benchmark *benchmark) YK_MUST_USE;
void yk_benchmark_free(struct yk_benchmark *benchmark);

const struct yk_program *yk_benchmark_program(const struct yk_benchmark *benchmark);

/* The device's memory that it holds while it is entered, with the practice's. */
double yk_benchmark_bytes(const struct yk_benchmark *benchmark);

/* What happened in one step; the arrays (ops of the program's rank) are the rehearsal's own. */
struct yk_benchmark_step {
    double *op_s;    /* what each op took, with the pause before it on its lane */
    double *begin_s; /* on the clock of base/clock.h */
    double *end_s;
    bool whole; /* all ops were done: not so in the first step of all */
};

/* Puts a step on the device's lanes; at most yk_benchmark_depth() may have begun and not ended, so
 * that the device need not wait for the host. */
yk_status yk_benchmark_begin(struct yk_benchmark *benchmark) YK_MUST_USE;
int32_t yk_benchmark_depth(const struct yk_benchmark *benchmark);
/* Waits for the oldest. */
yk_status yk_benchmark_end(struct yk_benchmark *benchmark,
                           const struct yk_benchmark_step **out) YK_MUST_USE;

#endif
