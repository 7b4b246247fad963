/*
 * Fixture run: a run report made by hand, whose every number can be told from its options.
 *
 * Step i of n has the loss 4 − 2i/n, the norm 1, the rate i/1000, 10 ms and 6400 tokens/s. After
 * every fourth of the run it is evaluated, at 0.25 above the loss of that step. The predicted step
 * of a rank loads for 1 ms, goes forward through its layers, 2 ms each, then backward, 4 ms each,
 * and updates in 1 ms; measured, all ops take 1.5 times as long, and one more follows, "release".
 * Where it is asked for, every step says that rank r computed for 5 + r ms, and at the half of the
 * run shares become 1, 2 … Each device holds 1 MiB × (number of the kind + 1), of 64 MiB; 40 MiB
 * were measured.
 */
#ifndef YK_TESTS_FIXTURE_RUN_H
#define YK_TESTS_FIXTURE_RUN_H

#include "base/arena.h"
#include "report/run/report.h"

struct fixture_run_options {
    int32_t steps;
    int32_t ranks;
    int32_t layers;
    bool ranks_over_steps;
    bool images; /* what is 6400 tokens/s otherwise counts images; evaluation i of 4 has an accuracy
                    of i/4 */
    const char *name; /* begins every name of a device, layer and setting; NULL: none */
};

struct fixture_run {
    struct yk_arena *arena;
    struct yk_trace *predicted;
    struct yk_trace *measured;
    struct yk_run_report_step *steps;
    struct yk_run_report_memory *memory;
    struct yk_run_report report;
};

struct fixture_run fixture_run_make(const struct fixture_run_options *options);
void fixture_run_free(struct fixture_run *fixture);

#endif
