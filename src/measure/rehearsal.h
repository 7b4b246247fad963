/*
 * Rehearsal: a whole model on this rank's device, trained by itself on random tokens for the sake
 * of its times.
 *
 * A layer that is timed alone finds its weights and its input in the caches; in a step they have
 * been elsewhere since. So what is timed is a step: the executor runs the program of one rank, with
 * a micro-batch for every number of samples that is asked for, and before them one more of the
 * first size, which bears what is done once a step: clearing gradients.
 *
 * One thread at a time. What it is made from must outlive it.
 */
#ifndef YK_MEASURE_REHEARSAL_H
#define YK_MEASURE_REHEARSAL_H

#include "base/status.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "nn/store.h"
#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_rehearsal_wish {
    const struct yk_model_config *config;
    struct yk_workload workload; /* its batch says nothing */
    const int64_t *batches;      /* rising */
    int32_t batch_count;
    double slowness; /* ops take so many times as long; at least 1 */
};

struct yk_rehearsal; /* opaque */

/* `cluster` has one device, which `engine` drives. */
yk_status yk_rehearsal_create(const struct yk_rehearsal_wish *wish,
                              const struct yk_cluster *cluster, const struct yk_engine *engine,
                              struct yk_rehearsal **out) YK_MUST_USE;
void yk_rehearsal_destroy(struct yk_rehearsal *rehearsal);

const struct yk_program *yk_rehearsal_program(const struct yk_rehearsal *rehearsal);

/* The device's memory that it holds. */
double yk_rehearsal_bytes(const struct yk_rehearsal *rehearsal);

/* What happened in one step; the arrays (ops of the program's rank) are the rehearsal's own. */
struct yk_rehearsal_round {
    double *op_s;    /* what each op took, with the pause before it on its lane */
    double *begin_s; /* on the clock of base/clock.h */
    double *end_s;
    bool whole; /* all ops were done: not so in the first step of all */
};

/* Puts a step on the device's lanes, and waits for it. */
yk_status yk_rehearsal_begin(struct yk_rehearsal *rehearsal) YK_MUST_USE;
yk_status yk_rehearsal_end(struct yk_rehearsal *rehearsal,
                           const struct yk_rehearsal_round **out) YK_MUST_USE;

#endif
