/*
 * Rank run: a plan trained for a few steps by as many ranks as it has, each a thread of this
 * process, on samples that are made up; and what the ranks' stores hold then, put together.
 *
 * Nothing in it fails the test by itself, since it runs on threads: it returns a status.
 */
#ifndef YK_TESTS_RANK_RUN_H
#define YK_TESTS_RANK_RUN_H

#include "model/model.h"
#include "nn/optimizer.h"
#include "program/program.h"

#include <stdint.h>

struct rank_run_request {
    const struct yk_program *program;
    struct yk_optimizer_options optimizer;
    double rate;
    double clip;
    int64_t steps;
    int64_t slice_rows; /* tokens of a slice, for models that are trained on pairs */
    uint64_t seed;      /* of breaks between steps, in which a batch is evaluated */
    bool wide;
    bool apart; /* ranks compute on a device that says that its memory is its own, as GPUs do, and
                   exchange through the host's */
};

/* Bytes of a rank: what its store and its executor allocated, and what program/memory counted,
 * without the context. */
struct rank_run_memory {
    double allocated;
    double counted;
};

struct rank_run_result {
    double *weights; /* (P) of all layers, trained ones; free with free() */
    bool *idle;      /* (P) whose gradient is zero in exact arithmetic: biases of keys */
    int64_t count;
    double losses[64]; /* (steps) */
    double norms[64];
    double evaluated;              /* the sum of losses of a batch, after the last step */
    struct rank_run_memory memory; /* of the rank that allocated most beyond what was counted */
};

yk_status rank_run(const struct rank_run_request *request, struct rank_run_result *out) YK_MUST_USE;

/* Tokens that every micro-batch of a program has room for. */
int64_t rank_run_rows(const struct yk_program *program);

/* The same model and batch on one rank alone, in as many micro-batches where pieces are those of a
 * micro-batch; compiled, with the plan in `arena`. */
yk_status rank_run_alone(const struct yk_program *program, struct yk_arena *arena,
                         struct yk_program **out) YK_MUST_USE;

#endif
